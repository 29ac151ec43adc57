"""The largest and the smallest: of two elements, or along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError
from ..shape import Shape
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import ORDERED, WIDE_FLOATS, compute_in, computed
from .registry import Op, Refusal, op
from .rules import broadcast, need_number, reduced
from .samples import bf16, f16, f32, f64, i8, i16, i64, u8, u32, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["any_nan", "max_", "min_", "need_elements", "need_elements_now", "nonempty_axis", "ordered"]


@op(promoted=["lhs", "rhs"])
def maximum(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The larger of two elements; NaN where one is NaN. Users call ``ops.max(x, y)``."""


@op(promoted=["lhs", "rhs"])
def minimum(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The smaller of two elements; NaN where one is NaN. Users call ``ops.min(x, y)``."""


def _pairwise(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of an elementwise maximum or minimum."""

    @declared.types
    def _(lhs: TensorType, rhs: TensorType) -> TensorType:
        need_number(lhs, "lhs")
        return lhs.with_shape(broadcast(lhs=lhs, rhs=rhs))

    @declared.lowers
    def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
        return computed(b, ORDERED, lambda x, y: b.node(onnx_op, x, y), lhs, rhs)

    @declared.reference
    def _(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return getattr(np, numpy_name)(lhs, rhs)  # type: ignore[no-any-return]

    nan = float("nan")
    declared.samples(
        {"lhs": f32[2, 3], "rhs": f32[3]},
        {"lhs": i64[4], "rhs": i64[()].of(0)},
        {"lhs": u8[4].between(0, 9), "rhs": u8[4].between(0, 9)},
        {"lhs": i16[4], "rhs": i16[4]},
        {"lhs": f16[4], "rhs": f16[4]},
        {"lhs": bf16[4], "rhs": bf16[4]},
        {"lhs": u64[2].of([2**63, 1]), "rhs": u64[2].of([1, 2**64 - 1])},
        {"lhs": f32["n:4", 1], "rhs": f32[0]},
        {"lhs": f64[3].of([nan, 1, 2]), "rhs": f64[3].of([1, nan, 3])},
        {"lhs": f32[3].of([nan, 1, 2]), "rhs": f32[()].of(nan)},
    )


_pairwise(maximum, "Max", "maximum")
_pairwise(minimum, "Min", "minimum")


def nonempty_axis(x: TensorType, axis: int) -> TensorType:
    """The type rule of what has no value for an empty axis.

    Raises:
        Refusal: There is no such axis, it is empty, or the operand is bool.
    """
    need_number(x)
    result = reduced(x, axis)
    if x.shape[axis] == 0:
        raise Refusal(f"axis {axis} of `x` is empty", code="MG015")
    return result


def need_elements(b: Emitter, x: Handle, axis: int) -> None:
    """Lets the execution fail where an axis of symbolic size is empty."""
    size = x.shape[axis]
    if static_dim(size) is None:
        scalar = b.reshape(b.dims(Shape([size])), Shape([]))
        b.check(b.node("Greater", scalar, b.constant(0), dtype=DType.bool), f"axis {axis} of size {size} is empty")


def need_elements_now(x: Array, axis: int) -> None:
    """What `need_elements` means.

    Raises:
        Refusal: The axis is empty.
    """
    if x.shape[axis] == 0:
        raise Refusal(f"axis {axis} is empty", code="MG035", error=ExecutionError)


#: ReduceMax, ReduceMin, ArgMax, ArgMin.
_KERNELS = WIDE_FLOATS | {DType.int8, DType.uint8, DType.int32, DType.int64}


def ordered(b: Emitter, x: Handle) -> Handle:
    """The operand in a dtype that has kernels, in the same order.

    The largest uint64 do not fit int64; there, as bits, they are moved by half the range, which keeps the order.
    """
    wide = b.cast(x, compute_in(x.dtype, _KERNELS))
    return b.node("Add", wide, b.constant(-(2**63), DType.int64)) if x.dtype is DType.uint64 else wide


def any_nan(b: Emitter, x: Handle, axis: int) -> tuple[Handle, Handle]:
    """Which elements are NaN, as int32, and whether any along an axis is, as bool."""
    is_nan = b.cast(b.node("IsNaN", x, dtype=DType.bool), DType.int32)
    shape = b.results[0].shape
    found = b.node("ReduceMax", is_nan, b.constant([axis]), keepdims=1, shape=shape, since=18)
    return is_nan, b.cast(found, DType.bool)


def _reduction(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of the extreme along an axis."""
    declared.types(nonempty_axis)

    @declared.lowers
    def _(b: Emitter, x: Handle, axis: int) -> Handle:
        need_elements(b, x, axis)
        comparable = ordered(b, x)
        found = b.node(onnx_op, comparable, b.constant([axis]), keepdims=1, shape=b.results[0].shape, since=18)
        if x.dtype is DType.uint64:
            found = b.node("Add", found, b.constant(-(2**63), DType.int64))
        elif x.dtype.is_float():  # the kernel passes NaN over
            nan = b.constant(float("nan"), found.dtype)
            found = b.node("Where", any_nan(b, comparable, axis)[1], nan, found, dtype=found.dtype)
        return b.cast(found, x.dtype)

    @declared.reference
    def _(x: Array, axis: int) -> Array:
        import numpy as np

        need_elements_now(x, axis)
        return getattr(np, numpy_name)(x, axis, keepdims=True)  # type: ignore[no-any-return]

    declared.samples(
        {"x": f32[3, 4], "axis": -1},
        {"x": f64[3, 4, 2], "axis": 1},
        {"x": f16[3, 4], "axis": 0},
        {"x": bf16[3, 4], "axis": 0},
        {"x": i64[5], "axis": 0},
        {"x": i16[3, 4], "axis": 0},
        {"x": i8[3, 4], "axis": 1},
        {"x": u32[2, 2].of([1, 2**32 - 1, 0, 7]), "axis": 1},
        {"x": u64[2, 2].of([1, 2**64 - 1, 2**63, 7]), "axis": 1},
        {"x": f32["n:4", 3], "axis": 0},
        {"x": f32[0, 3], "axis": 1},
        {"x": f32[2, 3].of([1, float("nan"), 2, 3, 4, 5]), "axis": 1},
    )


@op()
def reduce_max(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The largest element along one axis; NaN where there is one. Users call ``ops.max(x, axis=...)``."""


@op()
def reduce_min(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The smallest element along one axis; NaN where there is one. Users call ``ops.min(x, axis=...)``."""


_reduction(reduce_max, "ReduceMax", "max")
_reduction(reduce_min, "ReduceMin", "min")


def max_(x: TensorValueLike, y: TensorValueLike | None = None, /, axis: int | None = None) -> TensorValue:
    """The larger of two tensors' elements, or the largest element along one axis.

    Args:
        x: A tensor of numbers, or (with `y`) a number.
        y: The other operand; then dims must be equal or 1.
        axis: Without `y`: the axis, which stays with size 1; the last one if not given.

    Returns:
        A tensor of the common dtype. NaN where an element involved is NaN (MAX drops NaN).

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     graph.output(ops.max(x, 0), ops.max(x, axis=0))
        >>> [str(t) for t in graph.output_types]
        ['float32[2, 3]', 'float32[1, 3]']

    Raises:
        IndexError: The axis is out of range.
        ValueError: Both `y` and `axis` are given, the axis is empty, or the operands do not combine.
    """
    return _extreme("max", maximum, reduce_max, x, y, axis)


def min_(x: TensorValueLike, y: TensorValueLike | None = None, /, axis: int | None = None) -> TensorValue:
    """The smaller of two tensors' elements, or the smallest element along one axis. As `max`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.min(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 1]
    """
    return _extreme("min", minimum, reduce_min, x, y, axis)


def _extreme(
    name: str,
    pairwise: Op[..., Any],
    reduction: Op[..., Any],
    x: TensorValueLike,
    y: TensorValueLike | None,
    axis: int | None,
) -> TensorValue:
    if y is not None and axis is not None:
        pairwise.refuse(Refusal(f"{name} of two tensors takes no axis", code="MG017"), [])
    result = pairwise(x, y) if y is not None else reduction(x, -1 if axis is None else axis)
    return TensorValue(result)
