"""Named constants whose elements are given when the graph is saved or loaded."""

from __future__ import annotations

from ..dtype import DType
from ..errors import UnsupportedError, user_location
from . import ir
from .only_in_max import SHARDING, OnlyInMax
from .shape import Shape, ShapeLike
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
        quantization_encoding, sharding_strategy: Not supported.
        align: Of no effect: elements are aligned for every element type.
        _placeholder: `ops.call` of the graph that uses it puts its prefix before the name.

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

    __slots__ = ("_placeholder", "_type", "align", "name")
    #: As in MAX of a weight that is neither quantised nor split over devices, and here no weight is.
    quantization_encoding: None = None
    shard_idx: None = None
    sharding_strategy: None = None
    shard = OnlyInMax(SHARDING)

    def __init__(
        self,
        name: str,
        dtype: DType,
        shape: ShapeLike,
        device: DeviceRef | None = None,
        quantization_encoding: object = None,
        align: int | None = None,
        sharding_strategy: object = None,
        *,
        _placeholder: bool = False,
    ) -> None:
        if quantization_encoding is not None or sharding_strategy is not None:
            what = "quantization_encoding" if quantization_encoding is not None else "sharding_strategy"
            raise UnsupportedError(
                f"weight `{name}` cannot have a {what}",
                code="MG017",
                where=user_location(columns=True),
                help="give its elements in a dtype that has ops, on one device",
            )
        self.name = name
        self.align = align
        self._placeholder = _placeholder
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

    @property
    def original_dtype_and_shape(self) -> tuple[DType, Shape]:
        """Its dtype and its shape."""
        return self._type.dtype, self._type.shape

    @property
    def is_placeholder(self) -> bool:
        """Whether a call of the graph puts its prefix before the name."""
        return self._placeholder

    def __repr__(self) -> str:
        return f"Weight({self.name!r}, {self.type})"
