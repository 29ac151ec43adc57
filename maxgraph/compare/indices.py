"""Which inputs of a graph are indices, and what values they may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..graph import ir
from ..graph.dim import Dim
from ..graph.graph import Graph
from ..graph.shape import Shape
from ..graph.type import static_dim

__all__ = ["IndexRange", "index_ranges"]

#: Ops that give some elements of their first operand, and no others.
_PASSING = ("cast", "reshape", "squeeze", "unsqueeze", "broadcast_to", "rebind", "transpose", "permute", "slice")


@dataclass
class IndexRange:
    """The values with which all nodes that an input is an index of are content.

    Attributes:
        bounds: Pairs of the least and the largest value, which may be symbolic.
    """

    bounds: list[tuple[Dim, Dim]] = field(default_factory=list)

    def evaluate(self, sizes: Mapping[str, int]) -> tuple[int, int] | None:
        """The least and the largest value; None where a symbol has no size yet, or no value would do.

        Args:
            sizes: The sizes of the graph's symbols.
        """
        known = [(low, high) for low, high in self.bounds if _known(low, sizes) and _known(high, sizes)]
        if not known:
            return None
        least = max(low.evaluate(sizes) for low, _ in known)
        most = min(high.evaluate(sizes) for _, high in known)
        return (least, most) if least <= most else None


def _known(dim: Dim, sizes: Mapping[str, int]) -> bool:
    return all(symbol.name in sizes for symbol in dim.parameters)


def index_ranges(graph: Graph) -> dict[str, IndexRange]:
    """The inputs that are used as indices, directly or cast, reshaped or sliced; computed indices cannot be told.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType
        >>> cpu = DeviceRef.CPU()
        >>> types = [BufferType(DType.float32, ["rows", 4], cpu), TensorType(DType.int64, [], cpu)]
        >>> with Graph("g", input_types=types, input_names=["cache", "at"]) as graph:
        ...     graph.output(graph.inputs[0].buffer[graph.inputs[1].tensor])
        >>> index_ranges(graph)["at"].evaluate({"rows": 8})
        (0, 7)
    """
    inputs = {info.value: info.name for info in graph.signature}
    ranges: dict[str, IndexRange] = {}
    for node in graph.nodes():
        for value, low, high in _uses(node):
            name = inputs.get(_origin(value))
            if name is not None:
                ranges.setdefault(name, IndexRange()).bounds.append((low, high))
    return ranges


def _origin(value: ir.Value) -> ir.Value:
    """Where the elements of an index come from."""
    while value.node is not None and value.node.op.name in _PASSING:
        value = value.node.operands[0]
    return value


def _uses(node: ir.Node) -> Iterator[tuple[ir.Value, Dim, Dim]]:
    """The operands of a node that are indices, each with its least and its largest value."""
    operands = dict(zip((operand.name for operand in node.op.operands), node.grouped(), strict=True))
    if "dynamic_starts" in operands:
        yield from _window_starts(node, operands["dynamic_starts"])
    elif "indices" in operands and "input" in operands:
        indices = operands["indices"][0]
        for dim in _indexed(node, operands["input"][0].type.shape, indices.type.shape):
            yield indices, Dim(0), dim - 1


def _window_starts(node: ir.Node, starts: tuple[ir.Value, ...]) -> Iterator[tuple[ir.Value, Dim, Dim]]:
    shape, attributes = node.operands[0].type.shape, cast("dict[str, Any]", node.attributes)
    for start, at in zip(starts, attributes["dynamic"], strict=True):
        step = attributes["steps"][at]
        reach = (attributes["extents"][at] - 1) * abs(step)
        yield (start, Dim(0), shape[at] - 1 - reach) if step > 0 else (start, reach, shape[at] - 1)


def _indexed(node: ir.Node, shape: Shape, indices: Shape) -> list[Dim]:
    """The sizes of the axes that the elements of `indices` point into."""
    axis = node.attributes.get("axis")
    if isinstance(axis, int):
        return [shape[axis]]
    first = node.attributes.get("batch_dims", 0)
    depth = static_dim(indices[-1]) if indices else None
    if not isinstance(first, int) or depth is None:
        return []
    return list(shape[first : first + depth])
