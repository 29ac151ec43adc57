"""What a graph computes, as a hash."""

from __future__ import annotations

from ..graph.graph import Graph
from . import header
from .encode import encode

__all__ = ["program_hash"]


def program_hash(graph: Graph) -> str:
    """The SHA-256 of what a graph computes, in hexadecimal.

    It is the one that a file of the graph has (`MaxgFile.program_hash`). Names of inputs, outputs, buffers and weights
    count; the elements of weights, metadata, source lines and names of other values do not. So a program that was
    trained on keeps its hash.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType
        >>> x_type = TensorType(DType.float32, [2], DeviceRef.CPU())
        >>> double = Graph("double", lambda x: x * 2, input_types=[x_type])
        >>> again = Graph("double", lambda x: 2 * x, input_types=[x_type])
        >>> len(program_hash(double)), program_hash(double) == program_hash(again)
        (64, False)

    Raises:
        ValueError: The graph has no output yet, or is more than a file can hold.
    """
    return header.program_hash(encode(graph, version="", metadata={}, strip_debug=True))
