"""Sums, products and means along one axis, which stays with size 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..shape import Shape
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS, computed, narrowed, widened
from .registry import op
from .rules import need_number, reduced
from .samples import Sample, bf16, f16, f32, f64, i8, i16, i32, i64, u8, u32, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["mean", "prod", "sum_"]

#: MatMul's; the unsigned kernels fail on an empty axis.
_INTS = {DType.int32, DType.int64}


def _numbers(x: TensorType, axis: int) -> TensorType:
    need_number(x)
    return reduced(x, axis)


def _around(x: Handle, axis: int) -> tuple[Shape, Shape, Shape]:
    """The operand's shape as three axes, ``[before, size, after]``; each as a shape of its own."""
    at = axis % x.rank
    parts = (x.shape[:at], x.shape[at : at + 1], x.shape[at + 1 :])
    before, size, after = (Shape([part.num_elements]) for part in parts)
    return before, size, after


def _filled(b: Emitter, value: int, dtype: DType, *shape: Shape) -> Handle:
    dims = Shape([dim for part in shape for dim in part])
    return b.node("Expand", b.constant(value, dtype), b.dims(dims), shape=dims)


def _int_sum(b: Emitter, x: Handle, axis: int) -> Handle:
    """A product with ones: it wraps around, while ReduceSum adds ints up in double precision, which does not."""

    def make(y: Handle) -> Handle:
        before, size, after = _around(y, axis)
        if axis % y.rank == y.rank - 1:
            rows = b.reshape(y, Shape([*before, *size]))
            return b.node("MatMul", rows, _filled(b, 1, y.dtype, size, Shape([1])), shape=Shape([*before, 1]))
        columns = b.reshape(y, Shape([*before, *size, *after]))
        return b.node("MatMul", _filled(b, 1, y.dtype, Shape([1]), size), columns, shape=Shape([*before, 1, *after]))

    return b.reshape(computed(b, _INTS, make, x), b.results[0].shape)


def _int_product(b: Emitter, x: Handle, axis: int) -> Handle:
    """A scatter that multiplies everything into one element: it wraps around, which ReduceProd does not."""
    before, size, after = _around(x, axis)
    ones = _filled(b, 1, x.dtype, before, Shape([1]), after)
    zeros = _filled(b, 0, DType.int64, before, size, after)
    factors = b.reshape(x, Shape([*before, *size, *after]))
    result = b.node("ScatterElements", ones, zeros, factors, axis=1, reduction="mul", since=18)
    return b.reshape(result, b.results[0].shape)


def _float_reduction(b: Emitter, onnx_op: str, x: Handle, axis: int) -> Handle:
    def make(y: Handle) -> Handle:
        return b.node(onnx_op, y, b.constant([axis]), keepdims=1, shape=b.results[0].shape, since=18)

    return computed(b, WIDE_FLOATS, make, x)


def _cases() -> list[Sample]:
    return [
        {"x": f32[3, 4], "axis": -1},
        {"x": f64[3, 4, 2], "axis": 1},
        {"x": f16[3, 4], "axis": 0},
        {"x": bf16[3, 4], "axis": 0},
        {"x": i8[3, 4].between(-128, 127), "axis": 1},
        {"x": i16[2, 3, 2], "axis": 0},
        {"x": i32[2, 2].of([2**31 - 1, 2**31 - 1, -(2**31), -1]), "axis": 0},
        {"x": i64[3].of([2**62 + 1, 2**62 + 1, 3]), "axis": 0},
        {"x": i64[2, "n:3", 2], "axis": 1},
        {"x": u8[2, 3].between(0, 256), "axis": 1},
        {"x": u32[2, 3].between(0, 2**32), "axis": 1},
        {"x": u64[3].of([2**64 - 1, 2**63, 3]), "axis": 0},
        {"x": f32["n:4", 3], "axis": 0},
        {"x": f32[2, 3].of([1, float("nan"), 2, 3, float("inf"), 5]), "axis": 1},
        {"x": f32[2, 0], "axis": 1},
        {"x": i64[2, 0], "axis": 1},
        {"x": u64[2, 0], "axis": 1},
        {"x": i32[0, 2], "axis": 1},
    ]


@op(name="sum")
def sum_(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The sum along one axis, which stays with size 1; ints wrap around.

    Args:
        x: A tensor of numbers.
        axis: The axis.

    Returns:
        A tensor of the same dtype and rank.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.sum(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 1]

    Raises:
        IndexError: The axis is out of range.
        ValueError: `x` is bool.
    """


@sum_.lowers
def _(b: Emitter, x: Handle, axis: int) -> Handle:
    return _float_reduction(b, "ReduceSum", x, axis) if x.dtype.is_float() else _int_sum(b, x, axis)


@sum_.reference
def _(x: Array, axis: int) -> Array:
    wide = widened(x)
    return narrowed(wide.sum(axis, keepdims=True, dtype=wide.dtype), x)


sum_.types(_numbers)
sum_.samples(*_cases())


@op()
def prod(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The product along one axis, which stays with size 1; ints wrap around. See `sum` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.prod(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 1]
    """


@prod.lowers
def _(b: Emitter, x: Handle, axis: int) -> Handle:
    return _float_reduction(b, "ReduceProd", x, axis) if x.dtype.is_float() else _int_product(b, x, axis)


@prod.reference
def _(x: Array, axis: int) -> Array:
    wide = widened(x)
    return narrowed(wide.prod(axis, keepdims=True, dtype=wide.dtype), x)


prod.types(_numbers)
prod.samples(*_cases())


@op()
def mean(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The mean along one axis, which stays with size 1; of ints, the sum divided and rounded toward zero.

    See `sum` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.mean(graph.inputs[0].tensor, axis=0)
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 3]
    """


@mean.lowers
def _(b: Emitter, x: Handle, axis: int) -> Handle:
    size = x.shape[axis]
    if not x.dtype.is_float():
        total = _int_sum(b, x, axis)
        wide = DType.uint64 if x.dtype is DType.uint64 else DType.int64
        # The mean over an empty axis is 0, and no division by zero, which would stop the process.
        count = b.node("Max", b.dims(Shape([size])), b.constant([1]))
        return b.cast(b.node("Div", b.cast(total, wide), b.cast(count, wide)), x.dtype)
    if static_dim(size):
        return _float_reduction(b, "ReduceMean", x, axis)

    def make(y: Handle) -> Handle:
        # ReduceMean gives 0 for an empty axis; a division of 0 by 0 gives NaN.
        return b.node("Div", _float_reduction(b, "ReduceSum", y, axis), b.cast(b.dims(Shape([size])), y.dtype))

    return computed(b, WIDE_FLOATS, make, x)


@mean.reference
def _(x: Array, axis: int) -> Array:
    import numpy as np

    wide = widened(x)
    total = wide.sum(axis, keepdims=True, dtype=wide.dtype)
    if x.dtype.kind not in "iu":
        return narrowed(total / wide.dtype.type(x.shape[axis]), x)
    # Rounded toward zero, without a detour over floats.
    count = max(x.shape[axis], 1)
    means = [abs(v) // count * (-1 if v < 0 else 1) for v in total.ravel().tolist()]
    return np.array(means, x.dtype).reshape(total.shape)


mean.types(_numbers)
mean.samples(*_cases())
