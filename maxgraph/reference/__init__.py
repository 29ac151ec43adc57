"""The meaning of a graph, in numpy: plain loads and stores in program order, nothing clever.

Whatever else runs a graph must agree with this.
"""

from .interpreter import Interpreter

__all__ = ["Interpreter"]
