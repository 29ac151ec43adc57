"""Named constants whose elements are given when the graph is saved or loaded."""

from __future__ import annotations

from ..dtype import DType
from . import ir
from .shape import ShapeLike
from .type import DeviceRef, TensorType
from .value import TensorValue

__all__ = ["Weight"]


class Weight(TensorValue):
    """A constant tensor of a graph, by name.

    It is a tensor that may be made outside a graph, and joins a graph where it is first used there (or by
    `Graph.add_weight`). Its elements are given by ``maxgraph.save(graph, path, weights={name: array})`` or
    ``session.load(graph, weights_registry={name: array})``.

    Args:
        name: Unique in the graph.
        dtype: The element type.
        shape: Static dims.
        device: Where it lies; the CPU if it is not given.

    Example:
        >>> from maxgraph.graph import Graph
        >>> w = Weight("proj.w", DType.float32, [8, 4])
        >>> print(w.type)
        float32[8, 4]
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 4], DeviceRef.CPU())]) as graph:
        ...     y = graph.inputs[0].tensor @ w.T
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 8]
    """

    __slots__ = ("_type", "name")

    def __init__(self, name: str, dtype: DType, shape: ShapeLike, device: DeviceRef | None = None) -> None:
        self.name = name
        self._type = TensorType(dtype, shape, device or DeviceRef.CPU())

    @property
    def type(self) -> TensorType:
        """Its type; asking for it needs no graph."""
        return self._type

    def to_mlir(self) -> ir.Value:
        """Its value in the current graph."""
        return self.__tensorvalue__().to_mlir()

    def __tensorvalue__(self) -> TensorValue:
        """Joins the current graph."""
        from .graph import Graph

        return Graph.current.add_weight(self)

    def __repr__(self) -> str:
        return f"Weight({self.name!r}, {self.type})"
