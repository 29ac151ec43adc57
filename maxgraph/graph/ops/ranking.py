"""Elements in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError
from ..shape import Shape, ShapeLike
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .registry import Refusal, axis_of, op
from .rules import need_number
from .samples import bf16, f16, f32, f64, i8, i64, u16, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["argsort", "bottom_k", "top_k"]


def top_k(input: TensorValueLike, k: int, axis: int = -1) -> tuple[TensorValue, TensorValue]:
    """The largest elements along an axis, the largest first, and where they are.

    Of equal elements the first one goes first. NaN counts as infinity.

    Args:
        input: A tensor of numbers.
        k: How many.
        axis: The axis.

    Returns:
        The elements, and their positions as int64.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 8], DeviceRef.CPU())]) as graph:
        ...     values, indices = ops.top_k(graph.inputs[0].tensor, 3)
        ...     graph.output(values, indices)
        >>> print(values.type, indices.type)
        float32[n, 3] int64[n, 3]

    Raises:
        IndexError: The axis is out of range.
        ValueError: `input` is bool, or `k` is negative or more than there are.
    """
    values, indices = _top_k(tensor_operand(input, "top_k", "input"), [k], axis, largest=True)
    return values, indices


def bottom_k(input: TensorValueLike, k: int, axis: int = -1) -> tuple[TensorValue, TensorValue]:
    """The smallest elements along an axis, the smallest first, and where they are. As `top_k`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [8], DeviceRef.CPU())]) as graph:
        ...     values, indices = ops.bottom_k(graph.inputs[0].tensor, 3)
        ...     graph.output(values, indices)
        >>> print(values.type, indices.type)
        float32[3] int64[3]
    """
    values, indices = _top_k(tensor_operand(input, "bottom_k", "input"), [k], axis, largest=False)
    return values, indices


def argsort(x: TensorValueLike, ascending: bool = True) -> TensorValue:
    """The positions of a vector's elements in order; equal ones in the order in which they stand.

    Args:
        x: A vector of numbers.
        ascending: The smallest first; else the largest.

    Returns:
        int64, of its shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n"], DeviceRef.CPU())]) as graph:
        ...     y = ops.argsort(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        int64[n]

    Raises:
        ValueError: `x` is bool or no vector.
    """
    value = tensor_operand(x, "argsort", "x")
    if value.rank != 1:
        _top_k.refuse(Refusal(f"argsort takes a vector, not rank {value.rank}", code="MG014"), [value.to_mlir()])
    return _top_k(value, [value.shape[0]], 0, largest=not ascending)[1]


@op(name="top_k", many=True)
def _top_k(  # type: ignore[empty-body]
    input: TensorValueLike,
    count: ShapeLike,
    axis: int,
    largest: bool,
) -> list[TensorValue]:
    """The first elements in order along an axis; `count` is one dim."""


@_top_k.types
def _(input: TensorType, count: Shape, axis: int, largest: bool) -> list[TensorType]:
    need_number(input, "input")
    at = axis_of(axis, input.rank)
    if len(count) != 1:
        raise Refusal(f"`count` must be one dim, not {count.text}", code="MG015")
    number, size = static_dim(count[0]), static_dim(input.shape[at])
    if number is not None and (number < 0 or (size is not None and number > size)):
        raise Refusal(f"`k` is {number}, but axis {axis} has {input.shape[at]} elements", code="MG017")
    result = input.with_shape([*input.shape[:at], count[0], *input.shape[at + 1 :]])
    return [result, result.cast(DType.int64)]


#: Of these, every order is that of float32, float64, int32 or int64.
_WIDE = {DType.float16: DType.float32, DType.bfloat16: DType.float32}
_WIDE |= dict.fromkeys((DType.int8, DType.uint8, DType.int16, DType.uint16), DType.int32)
_KERNELS = {DType.float32, DType.float64, DType.int32, DType.int64}


@_top_k.lowers
def _(b: Emitter, input: Handle, count: Shape, axis: int, largest: bool) -> tuple[Handle, Handle]:
    size, shape = input.shape[axis], b.results[0].shape
    if count[0] != size and (static_dim(size) is None or static_dim(count[0]) is None):
        lengths = b.reshape(b.dims(Shape([size])), Shape([])), b.reshape(b.dims(count), Shape([]))
        message = f"axis {axis} of size {size} has fewer than {count[0]} elements"
        b.check(b.node("GreaterOrEqual", *lengths, dtype=DType.bool, since=16), message)
        # A kernel that is asked for more than there is fails by itself, before the check is looked at.
        limit = b.node("Min", b.dims(count), b.dims(Shape([size])))
    else:
        limit = b.dims(count)
    key = _key(b, input)
    kind = key.type
    _, places = b.nodes(
        "TopK", key, limit, types=[kind.with_shape(shape), b.results[1]], axis=axis, largest=int(largest), since=11
    )
    return b.node("GatherElements", input, places, axis=axis, shape=shape, since=13), places


def _key(b: Emitter, x: Handle) -> Handle:
    """What the elements are ordered by."""
    if x.dtype.is_float():
        wide = b.cast(x, _WIDE.get(x.dtype, x.dtype))
        is_nan = b.node("IsNaN", wide, dtype=DType.bool)
        return b.node("Where", is_nan, b.constant(float("inf"), wide.dtype), wide, dtype=wide.dtype)
    if x.dtype is DType.uint64:  # with the first bit turned over, the order is that of int64
        return b.node("Add", b.cast(x, DType.int64), b.constant(-(2**63)))
    return x if x.dtype in _KERNELS else b.cast(x, _WIDE.get(x.dtype, DType.int64))


@_top_k.reference
def _(input: Array, count: tuple[int, ...], axis: int, largest: bool) -> tuple[Array, Array]:
    import numpy as np

    size = input.shape[axis]
    if count[0] > size:
        message = f"axis {axis} of size {size} has fewer than {count[0]} elements"
        raise Refusal(message, code="MG035", error=ExecutionError)
    key = input
    if input.dtype.kind not in "iu":
        key = input.astype(np.float64)
        key = np.where(np.isnan(key), np.inf, key)
    if largest:  # backwards twice, so that of equal elements the first one stays in front
        order = size - 1 - np.flip(np.argsort(np.flip(key, axis), axis, kind="stable"), axis)
    else:
        order = np.argsort(key, axis, kind="stable")
    places = order.take(range(count[0]), axis)
    return np.take_along_axis(input, places, axis), places


_top_k.samples(
    *(
        {"input": x, "count": [2], "axis": axis, "largest": largest}
        for x, axis in ((f32[3, 4], -1), (f64[3, 2], 0), (i64[4].of([3, 1, 3, 1]), 0), (i8[2, 5], 1))
        for largest in (False, True)
    ),
    {"input": u64[3].of([5, 2**63, 2**64 - 1]), "count": [3], "axis": 0, "largest": True},
    {"input": u16[2, 5], "count": [3], "axis": 1, "largest": False},
    {"input": f16[5], "count": [5], "axis": 0, "largest": False},
    {"input": bf16[5], "count": [1], "axis": 0, "largest": True},
    {"input": f32["n:4", 3], "count": ["n"], "axis": 0, "largest": True},
    {"input": f32["n:4", 3], "count": [2], "axis": 0, "largest": True},
    {"input": f32[5], "count": [0], "axis": 0, "largest": True},
    {"input": f32[0, 2], "count": [1], "axis": 1, "largest": True},
    {"input": f32[5].of([float("nan"), 1, float("inf"), -float("inf"), 2]), "count": [5], "axis": 0, "largest": True},
)
