"""Reductions along one axis, which stays with size 1, and functions of whole axes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .comparison import maximum, minimum
from .emitter import Emitter, Handle
from .kernels import FLOATS_AND_WIDE_INTS, computed
from .registry import Op, Refusal, axis_of, op
from .rules import need_float
from .samples import f16, f32, f64, i8, i32, i64, u8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["argmax", "argmin", "cumsum", "logsoftmax", "max_", "mean", "min_", "prod", "softmax", "sum_"]


def _reduced(x: TensorType, axis: int) -> TensorType:
    at = axis_of(axis, x.rank)
    return x.with_shape([*x.shape[:at], 1, *x.shape[at + 1 :]])


def _numbers(x: TensorType, axis: int) -> TensorType:
    """The type rule of reductions of numbers."""
    if x.dtype is DType.bool:
        raise Refusal("`x` is bool, not a number", code="MG016", help="cast it first, e.g. x.cast(DType.int32)")
    return _reduced(x, axis)


def _not_empty(x: TensorType, axis: int) -> TensorType:
    """The type rule of reductions that have no value for an empty axis."""
    result = _numbers(x, axis)
    if x.shape[axis_of(axis, x.rank)] == 0:
        raise Refusal(f"axis {axis} of `x` is empty", code="MG015")
    return result


def _reduction(
    declared: Op[..., Any],
    onnx_op: str,
    meaning: Callable[[Array, int], Array],
    kernels: Collection[DType] = FLOATS_AND_WIDE_INTS - {DType.float16},
    *,
    extreme: bool = False,
) -> None:
    """Completes the declaration of a reduction that keeps its dtype."""
    declared.types(_not_empty if extreme else _numbers)

    @declared.lowers
    def _(b: Emitter, x: Handle, axis: int) -> Handle:
        def make(y: Handle) -> Handle:
            reduced = b.node(onnx_op, y, b.constant([axis]), keepdims=1, shape=b.results[0].shape, since=18)
            if not (extreme and y.dtype.is_float()):
                return reduced
            # The kernel passes NaN over.
            nan = b.constant(float("nan"), y.dtype)
            return b.node("Where", _any_nan(b, y, axis)[1], nan, reduced, dtype=y.dtype)

        return computed(b, kernels, make, x)

    @declared.reference
    def _(x: Array, axis: int) -> Array:
        import numpy as np

        with np.errstate(all="ignore"):
            return np.asarray(meaning(x, axis)).astype(x.dtype)

    declared.samples(
        {"x": f32[3, 4], "axis": -1},
        {"x": f64[3, 4, 2], "axis": 1},
        {"x": f16[3, 4], "axis": 0},
        {"x": i32[3, 4], "axis": 0},
        {"x": i64[5], "axis": 0},
        {"x": i8[3, 4], "axis": 1},
        {"x": u8[2, 3].between(0, 5), "axis": 1},
        {"x": f32["n:4", 3], "axis": 0},
        {"x": f32[2, 3].of([1, float("nan"), 2, 3, 4, 5]), "axis": 1},
    )
    if not extreme:
        declared.samples({"x": f32[2, 0], "axis": 1})


def _any_nan(b: Emitter, x: Handle, axis: int) -> tuple[Handle, Handle]:
    """Which elements are NaN, as int32, and whether any along an axis is."""
    is_nan = b.cast(b.node("IsNaN", x, dtype=DType.bool, since=20), DType.int32)
    shape = b.results[0].shape
    count = b.node("ReduceMax", is_nan, b.constant([axis]), keepdims=1, shape=shape, since=18)
    return is_nan, b.cast(count, DType.bool)


def _numpy() -> Any:  # noqa: ANN401 - the numpy module, imported only when a meaning runs
    import numpy as np

    return np


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


@op()
def reduce_max(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The largest element along one axis; NaN where there is one. Users call ``ops.max(x, axis=...)``."""


@op()
def reduce_min(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The smallest element along one axis; NaN where there is one. Users call ``ops.min(x, axis=...)``."""


_reduction(sum_, "ReduceSum", lambda x, axis: _numpy().sum(x, axis, keepdims=True, dtype=x.dtype))
_reduction(prod, "ReduceProd", lambda x, axis: _numpy().prod(x, axis, keepdims=True, dtype=x.dtype))
_EXTREMES = frozenset({DType.float32, DType.float64, DType.int8, DType.uint8, DType.int32, DType.int64})
_reduction(reduce_max, "ReduceMax", lambda x, axis: x.max(axis, keepdims=True), _EXTREMES, extreme=True)
_reduction(reduce_min, "ReduceMin", lambda x, axis: x.min(axis, keepdims=True), _EXTREMES, extreme=True)


mean.types(_numbers)


@mean.lowers
def _(b: Emitter, x: Handle, axis: int) -> Handle:
    shape = b.results[0].shape
    if x.dtype.is_float():

        def average(y: Handle) -> Handle:
            if static_dim(y.shape[axis]):
                return b.node("ReduceMean", y, b.constant([axis]), keepdims=1, shape=shape, since=18)
            # The kernel gives 0 for an empty axis; numpy, and a division of 0 by 0, give NaN.
            total = b.node("ReduceSum", y, b.constant([axis]), keepdims=1, shape=shape, since=18)
            return b.node("Div", total, b.cast(b.dims(y.shape[axis % y.rank : axis % y.rank + 1]), y.dtype))

        return computed(b, {DType.float32, DType.float64}, average, x)
    # The sum wraps in the operand's own dtype, as `sum` does; the division truncates.
    total = sum_.lowering(b, x=x, axis=axis)
    at = axis % x.rank
    count = b.cast(b.dims(x.shape[at : at + 1]), DType.int64)
    one = b.node("Max", count, b.constant([1]))  # an empty axis: 0, not a division by zero
    return b.cast(b.node("Div", b.cast(total, DType.int64), one), x.dtype)


@mean.reference
def _(x: Array, axis: int) -> Array:
    import warnings

    np = _numpy()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mean of an empty axis is NaN, and numpy says so twice
        if x.dtype.kind in "iu":
            total = x.sum(axis, keepdims=True, dtype=x.dtype)
            count = max(x.shape[axis], 1)
            return np.trunc(total / count).astype(x.dtype)  # type: ignore[no-any-return]
        wide = np.float32 if x.dtype.itemsize < 4 else x.dtype
        return x.mean(axis, keepdims=True, dtype=wide).astype(x.dtype)


mean.samples(*sum_.cases)


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


def _position(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of the position of an extreme: the first one, NaN counting as an extreme."""

    @declared.types
    def _(x: TensorType, axis: int) -> TensorType:
        return _not_empty(x, axis).cast(DType.int64)

    @declared.lowers
    def _(b: Emitter, x: Handle, axis: int) -> Handle:
        wide = x
        if x.dtype not in (DType.float32, DType.float64, DType.int8, DType.uint8, DType.int32, DType.int64):
            wide = b.cast(x, DType.float32 if x.dtype.is_float() else DType.int64)

        def find(y: Handle) -> Handle:
            return b.node(onnx_op, y, axis=axis, keepdims=1, dtype=DType.int64, shape=b.results[0].shape)

        found = find(wide)
        if not x.dtype.is_float():
            return found
        # The kernel passes NaN over; numpy's first NaN wins.
        is_nan, any_nan = _any_nan(b, wide, axis)
        nan_at = b.node("ArgMax", is_nan, axis=axis, keepdims=1, dtype=DType.int64, shape=b.results[0].shape)
        return b.node("Where", any_nan, nan_at, found, dtype=DType.int64)

    @declared.reference
    def _(x: Array, axis: int) -> Array:
        return getattr(_numpy(), numpy_name)(x, axis, keepdims=True)  # type: ignore[no-any-return]

    declared.samples(
        {"x": f32[3, 4], "axis": -1},
        {"x": f64[3, 4], "axis": 0},
        {"x": f16[3, 4], "axis": 1},
        {"x": i64[5].of([1, 3, 3, 0, 0]), "axis": 0},
        {"x": u8[2, 3].between(0, 9), "axis": 1},
        {"x": f32["n:4", 3], "axis": -1},
        {"x": f32[4].of([1, float("nan"), 5, float("nan")]), "axis": 0},
    )


@op()
def argmax(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """Where the largest element along one axis is; the first one, or the first NaN.

    Args:
        x: A tensor of numbers.
        axis: The axis, which stays with size 1.

    Returns:
        An int64 tensor of the same rank.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.argmax(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        int64[2, 1]

    Raises:
        IndexError: The axis is out of range.
        ValueError: `x` is bool, or the axis is empty.
    """


@op()
def argmin(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """Where the smallest element along one axis is. As `argmax`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.argmin(graph.inputs[0].tensor, axis=0)
        ...     graph.output(y)
        >>> print(y.type)
        int64[1, 3]
    """


_position(argmax, "ArgMax", "argmax")
_position(argmin, "ArgMin", "argmin")


@op()
def softmax(value: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """``exp(x - max) / sum(exp(x - max))`` along one axis.

    Args:
        value: A floating-point tensor.
        axis: The axis.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.softmax(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 3]

    Raises:
        IndexError: The axis is out of range.
        ValueError: `value` is not floating-point.
    """


@op()
def logsoftmax(value: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The logarithm of `softmax`, computed without rounding it first. As `softmax`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.logsoftmax(graph.inputs[0].tensor, axis=0)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 3]
    """


def _normalised(declared: Op[..., Any], onnx_op: str, *, log: bool) -> None:
    """Completes the declaration of a softmax."""

    @declared.types
    def _(value: TensorType, axis: int) -> TensorType:
        axis_of(axis, value.rank)
        need_float(value, "value")
        return value

    @declared.lowers
    def _(b: Emitter, value: Handle, axis: int) -> Handle:
        return computed(b, {DType.float32, DType.float64}, lambda x: b.node(onnx_op, x, axis=axis), value)

    @declared.reference
    def _(value: Array, axis: int) -> Array:
        np = _numpy()
        wide = value.astype(np.float32) if value.dtype.itemsize < 4 else value
        if wide.shape[axis] == 0:
            return value.copy()
        with np.errstate(all="ignore"):
            moved = wide - wide.max(axis, keepdims=True)
            total = np.exp(moved).sum(axis, keepdims=True)
            result = moved - np.log(total) if log else np.exp(moved) / total
        return result.astype(value.dtype)  # type: ignore[no-any-return]

    declared.samples(
        {"value": f32[3, 4], "axis": -1},
        {"value": f64[3, 4], "axis": 0},
        {"value": f16[3, 4], "axis": 1},
        {"value": f32["n:4", 3], "axis": -1},
        {"value": f32[2, 2].between(50, 90), "axis": 1},
        {"value": f32[0, 2], "axis": 1},
    )


_normalised(softmax, "Softmax", log=False)
_normalised(logsoftmax, "LogSoftmax", log=True)


@op()
def cumsum(  # type: ignore[empty-body]
    x: TensorValueLike,
    axis: int = -1,
    exclusive: bool = False,  # noqa: FBT001, FBT002 - MAX's signature
    reverse: bool = False,  # noqa: FBT001, FBT002 - MAX's signature
) -> TensorValue:
    """Sums of the elements up to each one along an axis; ints wrap around.

    Args:
        x: A tensor of numbers.
        axis: The axis.
        exclusive: Leave the element itself out.
        reverse: Sum from the end.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [4], DeviceRef.CPU())]) as graph:
        ...     y = ops.cumsum(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[4]

    Raises:
        IndexError: The axis is out of range.
        ValueError: `x` is bool.
    """


@cumsum.types
def _(x: TensorType, axis: int, exclusive: bool, reverse: bool) -> TensorType:  # noqa: ARG001, FBT001 - as the op
    _numbers(x, axis)
    return x


@cumsum.lowers
def _(b: Emitter, x: Handle, axis: int, exclusive: bool, reverse: bool) -> Handle:  # noqa: FBT001 - as the op
    def make(y: Handle) -> Handle:
        return b.node("CumSum", y, b.constant(axis), exclusive=int(exclusive), reverse=int(reverse))

    return computed(b, FLOATS_AND_WIDE_INTS - {DType.float16}, make, x)


@cumsum.reference
def _(x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:  # noqa: FBT001 - as the op
    np = _numpy()
    turned = np.flip(x, axis) if reverse else x
    sums = np.cumsum(turned, axis, dtype=x.dtype)
    if exclusive:
        sums = sums - turned
    return np.flip(sums, axis).copy() if reverse else sums  # type: ignore[no-any-return]


cumsum.samples(
    *(
        {"x": f32[3, 4].between(-2, 2), "axis": axis, "exclusive": e, "reverse": r}
        for axis, e, r in ((0, False, False), (1, True, False), (-1, False, True), (1, True, True))
    ),
    {"x": i64[5], "axis": 0, "exclusive": False, "reverse": False},
    {"x": i8[5], "axis": 0, "exclusive": False, "reverse": False},
)
