"""Checks of a plan from outside: on what onnxruntime really did, knowing nothing of how the plan was proved."""

from .order import Conflict, conflicts_of
from .trace import Violation, check_trace, trace

__all__ = ["Conflict", "Violation", "check_trace", "conflicts_of", "trace"]
