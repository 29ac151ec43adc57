"""Named constants whose elements are given when the graph is saved or loaded."""

from __future__ import annotations

from ..dtype import DType
from .shape import Shape, ShapeLike
from .type import DeviceRef, TensorType
from .value import TensorValue

__all__ = ["Weight"]


class Weight:
    """A constant tensor of a graph, by name.

    It may be made outside a graph, and joins a graph where it is first used there (or by `Graph.add_weight`). Its
    elements are given by ``maxgraph.save(graph, path, weights={name: array})`` or
    ``session.load(graph, weights_registry={name: array})``.

    Args:
        name: Unique in the graph.
        dtype: The element type.
        shape: Static dims.
        device: Where it lies; the CPU if it is not given.

    Example:
        >>> w = Weight("proj.w", DType.float32, [8, 4])
        >>> print(w.type)
        float32[8, 4]
    """

    def __init__(self, name: str, dtype: DType, shape: ShapeLike, device: DeviceRef | None = None) -> None:
        self.name = name
        self.type = TensorType(dtype, shape, device or DeviceRef.CPU())

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.type.dtype

    @property
    def shape(self) -> Shape:
        """The dims."""
        return self.type.shape

    @property
    def device(self) -> DeviceRef:
        """The logical device."""
        return self.type.device

    def __tensorvalue__(self) -> TensorValue:
        """Joins the current graph."""
        from .graph import Graph

        return Graph.current.add_weight(self)

    def __repr__(self) -> str:
        return f"Weight({self.name!r}, {self.type})"
