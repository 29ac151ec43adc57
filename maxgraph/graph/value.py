"""What a program holds while it builds a graph: tensors (values) and buffers (memory)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Union, runtime_checkable

from ..dtype import DType
from ..errors import GraphTypeError, TypeRuleError, user_location
from . import ir
from .dim import Dim
from .only_in_max import OPAQUE, OnlyInMax
from .shape import Shape, ShapeLike
from .type import BufferType, DeviceRef, TensorType

if TYPE_CHECKING:
    import numpy as np

    from .graph import Graph

__all__ = [
    "BufferValue",
    "BufferValueLike",
    "HasBufferValue",
    "HasTensorValue",
    "TensorValue",
    "TensorValueLike",
    "Value",
]


@runtime_checkable
class HasTensorValue(Protocol):
    """Anything that can give a tensor value, such as a `Weight`."""

    def __tensorvalue__(self) -> TensorValue:
        """The tensor value."""
        ...


@runtime_checkable
class HasBufferValue(Protocol):
    """Anything that can give a buffer value."""

    def __buffervalue__(self) -> BufferValue:
        """The buffer value."""
        ...


TensorValueLike = Union["TensorValue", HasTensorValue, Dim, Shape, int, float, "np.ndarray[Any, Any]", "np.generic"]
BufferValueLike = Union["BufferValue", HasBufferValue]


class Value:
    """A tensor or a buffer of a graph under construction. Made by graphs and ops, never directly."""

    __slots__ = ("_ir",)
    opaque = OnlyInMax(OPAQUE)
    _ir: ir.Value

    def __init__(self) -> None:
        raise NotImplementedError("a Value is made by a graph or an op; see Graph.inputs")

    @classmethod
    def from_mlir(cls, value: ir.Value) -> Value:
        """The user's view of an IR value: a `BufferValue` or a `TensorValue`, by its type."""
        kind = BufferValue if isinstance(value.type, BufferType) else TensorValue
        return kind.from_mlir(value)

    @property
    def type(self) -> TensorType | BufferType:
        """Its type."""
        return self._ir.type

    @property
    def shape(self) -> Shape:
        """Its dims."""
        return self.type.shape

    @property
    def dtype(self) -> DType:
        """Its element type."""
        return self.type.dtype

    @property
    def device(self) -> DeviceRef:
        """Its logical device."""
        return self.type.device

    @property
    def rank(self) -> int:
        """Its number of dims."""
        return self.type.rank

    def to_mlir(self) -> ir.Value:
        """The IR value underneath."""
        return self._ir

    @property
    def tensor(self) -> TensorValue:
        """Itself as a tensor.

        Raises:
            TypeError: It is a buffer.
        """
        if not isinstance(self, TensorValue):
            raise GraphTypeError(
                f"{describe(self._ir)} is a buffer, not a tensor",
                code="MG003",
                where=user_location(columns=True),
                help="read it with ops.buffer_load(...) or [...]",
            )
        return self

    @property
    def buffer(self) -> BufferValue:
        """Itself as a buffer.

        Raises:
            TypeError: It is a tensor.
        """
        if not isinstance(self, BufferValue):
            raise GraphTypeError(
                f"{describe(self.to_mlir())} is a tensor, not a buffer",
                code="MG004",
                where=user_location(columns=True),
                help="declare it as a BufferType to change it in place",
            )
        return self


def describe(value: ir.Value, variables: Mapping[ir.Value, str] | None = None) -> str:
    """How an error names a value: its type, and its name, the variable that holds it, or the op that made it."""
    if variables is not None and value.name is None and value in variables:
        origin = f" `{variables[value]}`"
    elif value.node is None:
        origin = f" input `{value.name}`" if value.name else ""
    elif value.name:
        origin = f" `{value.name}`"
    else:
        origin = f" from {value.node.op.name}"
    return f"{value.type}{origin}"


def _no_truth(what: str) -> GraphTypeError:
    return GraphTypeError(
        f"a tensor has no {what} while a graph is built",
        code="MG024",
        where=user_location(columns=True),
        help="use ops.where to choose between values, or ops.cond between parts of the program",
    )


class TensorValue(Value):
    """An immutable value: the result of an op, an input, or a constant.

    Args:
        value: Another tensor value, an IR value of tensor type, a `Weight` (anything with ``__tensorvalue__``), a
            `Dim` or a `Shape`.

    Operators are elementwise and promote dtypes without widening (``ops`` says how); Python numbers take the
    tensor's dtype.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = (x * 2 + 1)[0]
        ...     graph.output(y)
        >>> y.shape, y.dtype, y.rank
        ([Dim(3)], float32, 1)

    Raises:
        TypeError: The value is of another kind.
    """

    __slots__ = ()
    # Elementwise, as in numpy: == gives a tensor, so a tensor cannot be a key.
    __hash__ = None  # type: ignore[assignment]
    # numpy must not take over `array + tensor` element by element.
    __array_ufunc__ = None

    def __init__(self, value: TensorValueLike | ir.Value) -> None:
        from .coerce import tensor_of

        self._ir = value if isinstance(value, ir.Value) else tensor_of(value).to_mlir()
        if not isinstance(self._ir.type, TensorType):
            raise GraphTypeError(
                f"a tensor is wanted, not {describe(self._ir)}",
                code="MG003",
                where=user_location(columns=True),
                help="read it with ops.buffer_load(...) or [...]",
            )

    @classmethod
    def from_mlir(cls, value: ir.Value) -> TensorValue:
        """The tensor that an IR value of tensor type stands for."""
        return TensorValue(value)

    def __repr__(self) -> str:
        return f"TensorValue({describe(self._ir)})"

    @property
    def type(self) -> TensorType:
        """Its type."""
        return self._ir.tensor_type

    def print(self, label: str = "debug_tensor") -> None:
        """Prints the tensor each time the graph runs; see `ops.print`."""
        from . import ops

        ops.print(self, label)

    def reshape(self, shape: ShapeLike) -> TensorValue:
        """See `ops.reshape`."""
        from . import ops

        return ops.reshape(self, shape)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> TensorValue:
        """See `ops.flatten`."""
        from . import ops

        return ops.flatten(self, start_dim, end_dim)

    def broadcast_to(self, shape: ShapeLike) -> TensorValue:
        """See `ops.broadcast_to`."""
        from . import ops

        return ops.broadcast_to(self, shape)

    def cast(self, dtype: DType) -> TensorValue:
        """See `ops.cast`."""
        from . import ops

        return ops.cast(self, dtype)

    def permute(self, dims: list[int]) -> TensorValue:
        """See `ops.permute`."""
        from . import ops

        return ops.permute(self, dims)

    def transpose(self, dim_1: int, dim_2: int) -> TensorValue:
        """See `ops.transpose`."""
        from . import ops

        return ops.transpose(self, dim_1, dim_2)

    @property
    def T(self) -> TensorValue:  # noqa: N802 - MAX's name
        """The last two axes exchanged."""
        return self.transpose(-1, -2)

    def argmax(self, axis: int = -1) -> TensorValue:
        """See `ops.argmax`."""
        from . import ops

        return ops.argmax(self, axis)

    def max(self, axis: int = -1) -> TensorValue:
        """See `ops.max`."""
        from . import ops

        return ops.max(self, axis=axis)

    def min(self, axis: int = -1) -> TensorValue:
        """See `ops.min`."""
        from . import ops

        return ops.min(self, axis=axis)

    def mean(self, axis: int = -1) -> TensorValue:
        """See `ops.mean`."""
        from . import ops

        return ops.mean(self, axis)

    def var(self, axis: int = -1) -> TensorValue:
        """The mean of the squared distances from the mean along an axis, which stays with size 1."""
        moved = self - self.mean(axis)
        return (moved * moved).mean(axis)

    def stdev(self, axis: int = -1) -> TensorValue:
        """The square root of `var`."""
        from . import ops

        return ops.sqrt(self.var(axis))

    def rebind(self, shape: ShapeLike, message: str = "") -> TensorValue:
        """See `ops.rebind`."""
        from . import ops

        return ops.rebind(self, shape, message)

    def to(self, device: DeviceRef) -> TensorValue:
        """See `ops.transfer_to`."""
        from . import ops

        return ops.transfer_to(self, device)

    def __getitem__(self, index: Any) -> TensorValue:
        from . import ops

        return ops.slice_tensor(self, index)

    def __bool__(self) -> bool:
        raise _no_truth("truth value")

    def __len__(self) -> int:
        raise _no_truth("length")

    def __iter__(self) -> Any:
        raise _no_truth("iteration")

    def __contains__(self, item: object) -> bool:
        raise _no_truth("membership test")

    def __eq__(self, rhs: object) -> TensorValue:  # type: ignore[override]
        return _binary("equal", self, rhs)

    def __ne__(self, rhs: object) -> TensorValue:  # type: ignore[override]
        return _binary("not_equal", self, rhs)

    def __ge__(self, rhs: object) -> TensorValue:
        return _binary("greater_equal", self, rhs)

    def __gt__(self, rhs: object) -> TensorValue:
        return _binary("greater", self, rhs)

    def __lt__(self, rhs: object) -> TensorValue:
        return _binary("greater", rhs, self)

    def __le__(self, rhs: object) -> TensorValue:
        return _binary("greater_equal", rhs, self)

    def __neg__(self) -> TensorValue:
        from . import ops

        return ops.negate(self)

    def __round__(self) -> TensorValue:
        from . import ops

        return ops.round(self)

    def __add__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("add", self, rhs)

    def __radd__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("add", lhs, self)

    def __sub__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("sub", self, rhs)

    def __rsub__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("sub", lhs, self)

    def __mul__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("mul", self, rhs)

    def __rmul__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("mul", lhs, self)

    def __truediv__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("div", self, rhs)

    def __rtruediv__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("div", lhs, self)

    def __floordiv__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("floor_div", self, rhs)

    def __rfloordiv__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("floor_div", lhs, self)

    def __mod__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("mod", self, rhs)

    def __rmod__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("mod", lhs, self)

    def __divmod__(self, rhs: TensorValueLike) -> tuple[TensorValue, TensorValue]:
        return self // rhs, self % rhs

    def __rdivmod__(self, lhs: TensorValueLike) -> tuple[TensorValue, TensorValue]:
        return _binary("floor_div", lhs, self), _binary("mod", lhs, self)

    def __matmul__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("matmul", self, rhs)

    def __rmatmul__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("matmul", lhs, self)

    def __pow__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("pow", self, rhs)

    def __rpow__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("pow", lhs, self)

    def __and__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("logical_and", self, rhs)

    def __rand__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("logical_and", lhs, self)

    def __or__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("logical_or", self, rhs)

    def __ror__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("logical_or", lhs, self)

    def __xor__(self, rhs: TensorValueLike) -> TensorValue:
        return _binary("logical_xor", self, rhs)

    def __rxor__(self, lhs: TensorValueLike) -> TensorValue:
        return _binary("logical_xor", lhs, self)

    def __invert__(self) -> TensorValue:
        from . import ops

        return ops.logical_not(self)


def _binary(op: str, lhs: object, rhs: object) -> TensorValue:
    from . import ops

    result = getattr(ops, op)(lhs, rhs)
    if not isinstance(result, TensorValue):  # pragma: no cover - every binary op yields one tensor
        raise AssertionError(op)
    return result


class BufferValue(Value):
    """Memory that the graph changes in place and that lives on between executions.

    Args:
        value: Another buffer value, an IR value of buffer type, or anything with ``__buffervalue__``.

    ``b[...]`` and ``b[index]`` load; ``b[...] = t`` and ``b[index] = t`` store. Loads and stores take effect in
    program order; what was loaded never changes afterwards. A buffer has no arithmetic of its own.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph
        >>> with Graph("g", input_types=[BufferType(DType.float32, [4, 2], DeviceRef.CPU())]) as graph:
        ...     cache = graph.inputs[0].buffer
        ...     row = cache[0]
        ...     cache[3] = row * 2
        ...     graph.output(row)
        >>> cache.shape, cache.dtype, cache.rank
        ([Dim(4), Dim(2)], float32, 2)

    Raises:
        TypeError: The value is of another kind.
    """

    __slots__ = ()

    def __init__(self, value: Value | ir.Value | HasBufferValue) -> None:
        from .coerce import buffer_of

        self._ir = value if isinstance(value, ir.Value) else buffer_of(value).to_mlir()
        if not isinstance(self._ir.type, BufferType):
            raise GraphTypeError(
                f"a buffer is wanted, not {describe(self._ir)}",
                code="MG004",
                where=user_location(columns=True),
                help="declare it as a BufferType to change it in place",
            )

    @classmethod
    def from_mlir(cls, value: ir.Value) -> BufferValue:
        """The buffer that an IR value of buffer type stands for."""
        return BufferValue(value)

    def __repr__(self) -> str:
        return f"BufferValue({describe(self._ir)})"

    @property
    def type(self) -> BufferType:
        """Its type."""
        if not isinstance(self._ir.type, BufferType):  # pragma: no cover - the constructor checks it
            raise AssertionError(self._ir)
        return self._ir.type

    def print(self, label: str = "debug_buffer") -> None:
        """Prints the contents at this point of the program each time the graph runs; see `ops.print`."""
        self[...].print(label)

    def __getitem__(self, index: Any) -> TensorValue:
        from . import ops

        if index is Ellipsis:
            return ops.buffer_load(self)
        return ops.slice_tensor(ops.buffer_load(self), index)

    def __setitem__(self, index: Any, val: TensorValue) -> None:
        from . import ops

        if index is Ellipsis:
            ops.buffer_store(self, val)
        else:
            ops.buffer_store_slice(self, val, index)

    def __iter__(self) -> Any:
        raise GraphTypeError(
            "a buffer cannot be iterated while a graph is built",
            code="MG024",
            where=user_location(columns=True),
            help="index it, e.g. b[0]",
        )


def check_same_graph(values: Iterable[ir.Value], graph: Graph, op: str) -> None:
    """Refuses values that belong to another graph than the one under construction, or to a block that is closed."""
    for value in values:
        if value.block is not None and not graph.sees(value):
            raise TypeRuleError(
                f"{op}: {describe(value)} belongs to a branch or a loop that has ended",
                code="MG002",
                where=user_location(columns=True),
                help="return it from the function, so that it is a result of ops.cond or ops.while_loop",
            )
        if value.graph is not graph:
            raise TypeRuleError(
                f"{op}: {describe(value)} belongs to graph `{getattr(value.graph, 'name', '?')}`, not to "
                f"`{getattr(graph, 'name', '?')}`",
                code="MG002",
                where=user_location(columns=True),
                help="pass it as an input of this graph",
            )
