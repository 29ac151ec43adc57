"""Evenly spaced numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError, GraphTypeError, user_location
from ..coerce import is_weak
from ..dim import Dim, DimLike
from ..dtype_promotion import weak_fits
from ..shape import Shape, ShapeLike
from ..type import DeviceRef, TensorType
from ..value import TensorValue, TensorValueLike
from .cast import cast
from .coerced import tensor_operand
from .constant import constant
from .device import transfer_to
from .emitter import Emitter, Handle
from .registry import Refusal, op
from .rules import need_number
from .samples import bf16, f32, f64, i16, i64, u8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["range_"]

_NAMES = ("start", "stop", "step")
#: Bounds of ints may not lie beyond it, so that no difference of two overflows.
_FAR = 2**61
#: There are never more numbers than that: up to here, a float64 tells any two counts apart.
_MANY = 2**53


def range_(
    start: TensorValueLike,
    stop: TensorValueLike,
    step: TensorValueLike = 1,
    out_dim: DimLike | None = None,
    *,
    dtype: DType,
    device: DeviceRef | Any,
) -> TensorValue:
    """``start, start + step, ...`` up to and without `stop`.

    Number `i` is ``start + i * step`` and there are ``ceil((stop - start) / step)`` of them, or none: computed exactly
    for ints, and for floats in double precision (halves: single) and rounded once, so that no error adds up. Their
    number is computed in the floats' own precision (halves: single).

    Args:
        start: The first number; a number, or a tensor of rank 0.
        stop: The end, which is left out.
        step: The distance; not zero.
        out_dim: How many there are; needed where a bound is a tensor.
        dtype: The element type.
        device: Where the result lies.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, ops
        >>> with Graph("g") as graph:
        ...     y = ops.range(0, 10, 3, dtype=DType.int64, device=DeviceRef.CPU())
        ...     graph.output(y)
        >>> print(y.type)
        int64[4]

    Raises:
        TypeError: A bound is a tensor and there is no `out_dim`.
        ValueError: The step is zero or leads away from the end, the dtype is bool, or a bound does not fit the dtype.
            When the graph runs: there are more or fewer numbers than `out_dim`, or a bound is not finite or, of ints,
            beyond 2**61.
    """
    bounds = [v.item() if is_weak(v) and not isinstance(v, (int, float)) else v for v in (start, stop, step)]
    if all(isinstance(v, (int, float)) for v in bounds):
        return _of_numbers(bounds, dtype=dtype, device=device, out_dim=out_dim)
    if out_dim is None:
        out_dim = _length(*bounds)
    tensors = [None if is_weak(v) else tensor_operand(v, "range", n) for v, n in zip(bounds, _NAMES, strict=True)]
    place = next(t.device for t in tensors if t is not None)
    values = [constant(v, dtype, place) if t is None else cast(t, dtype) for v, t in zip(bounds, tensors, strict=True)]
    return transfer_to(_range(values[0], values[1], values[2], Shape([Dim(out_dim)])), device)


def _length(start: object, stop: object, step: object) -> Dim:
    """How many numbers there are between bounds that are ints or dims.

    Raises:
        TypeError: A bound is something else.
    """
    if isinstance(step, int) and step != 0 and all(isinstance(v, (int, Dim)) for v in (start, stop)):
        span = Dim(stop) - Dim(start) if step > 0 else Dim(start) - Dim(stop)  # type: ignore[arg-type]  # checked above
        return (span + (abs(step) - 1)) // abs(step)
    raise GraphTypeError(
        "range: `out_dim` is needed where a bound is a tensor",
        code="MG017",
        where=user_location(columns=True),
        help='give the number of elements, e.g. out_dim=8 or out_dim="n"',
    )


def _of_numbers(
    bounds: Sequence[Any],
    *,
    dtype: DType,
    device: DeviceRef | Any,
    out_dim: DimLike | None,
) -> TensorValue:
    import numpy as np

    start, stop, step = bounds
    for name, number in zip(_NAMES, bounds, strict=True):
        reason = weak_fits(number, dtype) if dtype is not DType.bool else "bool has no range"
        if reason is not None:
            _range.refuse(Refusal(f"`{name}`: {reason}", code="MG016"), [])
    if step == 0:
        _range.refuse(Refusal("the step is zero", code="MG017"), [])
    if (stop - start) * step < 0:
        _range.refuse(Refusal(f"no step of {step} leads from {start} to {stop}", code="MG017"), [])
    length = math.ceil((stop - start) / step) if dtype.is_float() else -((start - stop) // step)
    if out_dim is not None and Dim(out_dim) != length:
        _range.refuse(Refusal(f"there are {length} numbers, but `out_dim` is {out_dim}", code="MG015"), [])
    array = start + np.arange(length) * step
    return constant(array.astype(dtype.to_numpy()), dtype, device)


@op(name="range", promoted=["start", "stop", "step"])
def _range(  # type: ignore[empty-body]
    start: TensorValueLike, stop: TensorValueLike, step: TensorValueLike, shape: ShapeLike
) -> TensorValue:
    """Evenly spaced numbers between computed bounds; `shape` is their number."""


@_range.types
def _(start: TensorType, stop: TensorType, step: TensorType, shape: Shape) -> TensorType:
    need_number(start, "start")
    for name, type_ in (("start", start), ("stop", stop), ("step", step)):
        if type_.rank != 0:
            raise Refusal(f"`{name}` must have rank 0, not {type_.rank}", code="MG014", help="reshape it to []")
    if len(shape) != 1:
        raise Refusal(f"`shape` must be one dim, not {shape.text}", code="MG015")
    return start.with_shape(shape)


@_range.lowers
def _(b: Emitter, start: Handle, stop: Handle, step: Handle, shape: Shape) -> Handle:
    wide = _wide(start.dtype)
    first, last, distance = (b.cast(x, wide) for x in (start, stop, step))
    is_zero = b.node("Equal", distance, b.constant(0, wide), dtype=DType.bool)
    b.check(b.node("Not", is_zero), "the step is zero")
    # No kernel must see a step of zero, even before the check has failed.
    distance = b.node("Where", is_zero, b.constant(1, wide), distance, dtype=wide)
    if wide.is_float():
        count = _float_count(b, *(b.cast(x, _counted_in(start.dtype)) for x in (start, stop, step)))
    else:
        count = _int_count(b, first, last, distance)
    size = b.check_size(count, shape[0], f"there are more or fewer numbers than `out_dim` {shape[0]}")
    steps = b.node("Range", b.constant(0), size, b.constant(1), shape=shape)
    return b.cast(b.node("Add", first, b.node("Mul", b.cast(steps, wide), distance), shape=shape), start.dtype)


def _wide(dtype: DType) -> DType:
    """What the numbers are computed in."""
    if dtype.is_float():
        return DType.float64 if dtype in (DType.float32, DType.float64) else DType.float32
    return DType.int64


def _counted_in(dtype: DType) -> DType:
    """What the number of numbers is computed in: more precision would tell 0.3 / 0.1 of floats from 3."""
    return DType.float64 if dtype is DType.float64 else DType.float32


def _float_count(b: Emitter, first: Handle, last: Handle, distance: Handle) -> Handle:
    """How many numbers there are, as an int64 scalar, where all of them are finite."""
    count = b.node("Ceil", b.node("Div", b.node("Sub", last, first), distance))
    # Not so for NaN either.
    is_number = b.node("LessOrEqual", b.node("Abs", count), b.constant(_MANY, first.dtype), dtype=DType.bool)
    zero = b.check(is_number, "a bound is not finite, or there are too many numbers")
    count = b.node("Where", is_number, count, b.constant(0, first.dtype), dtype=first.dtype)
    whole = b.node("Max", b.cast(count, DType.int64), b.constant(0))
    return b.node("Add", whole, zero)


def _int_count(b: Emitter, first: Handle, last: Handle, distance: Handle) -> Handle:
    """How many numbers there are, as an int64 scalar: the quotient, rounded up, of a division that rounds to zero."""
    bounds = (first, last, distance)
    low = b.node("GreaterOrEqual", b.node("Min", *bounds), b.constant(-_FAR), dtype=DType.bool)
    high = b.node("LessOrEqual", b.node("Max", *bounds), b.constant(_FAR), dtype=DType.bool)
    zero = b.check(b.node("And", low, high), "a bound is too large")
    span = b.node("Sub", b.node("Add", last, zero), first)
    rounding = b.node("Sub", distance, b.node("Sign", distance))
    return b.node("Max", b.node("Div", b.node("Add", span, rounding), distance), b.constant(0))


@_range.reference
def _(start: Array, stop: Array, step: Array, shape: tuple[int | None, ...]) -> Array:
    import numpy as np

    wide = _wide(DType.from_numpy(start.dtype))
    first, last, distance = (v.astype(wide.to_numpy())[()] for v in (start, stop, step))
    if distance == 0:
        raise Refusal("the step is zero", code="MG035", error=ExecutionError)
    if wide.is_float():
        kind = _counted_in(DType.from_numpy(start.dtype)).to_numpy()
        with np.errstate(all="ignore"):
            count = np.ceil((stop.astype(kind) - start.astype(kind)) / step.astype(kind))
        if not abs(count) <= _MANY:
            message = "a bound is not finite, or there are too many numbers"
            raise Refusal(message, code="MG035", error=ExecutionError)
    else:
        if max(map(abs, map(int, (start, stop, step)))) > _FAR:
            raise Refusal("a bound is too large", code="MG035", error=ExecutionError)
        count = -((int(first) - int(last)) // int(distance))
    length = max(0, int(count))
    if shape[0] not in (None, length):
        raise Refusal(f"there are {length} numbers, but `out_dim` is {shape[0]}", code="MG035", error=ExecutionError)
    numbers: Array = first + np.arange(length).astype(wide.to_numpy()) * distance
    return numbers.astype(start.dtype)


_range.samples(
    {"start": i64[()].of(0), "stop": i64[()].of(7), "step": i64[()].of(2), "shape": [4]},
    {"start": i16[()].of(5), "stop": i16[()].of(-3), "step": i16[()].of(-3), "shape": ["k"]},
    {"start": u8[()].of(3), "stop": u8[()].of(255), "step": u8[()].of(100), "shape": ["k"]},
    {"start": bf16[()].of(1), "stop": bf16[()].of(2), "step": bf16[()].of(0.5), "shape": ["k"]},
    {"start": f64[()].of(1), "stop": f64[()].of(0), "step": f64[()].of(1), "shape": ["k"]},
    {"start": f32[()].of(1), "stop": f32[()].of(0), "step": f32[()].of(-0.25), "shape": ["k"]},
    {"start": f32[()].of(0), "stop": f32[()].of(0.3), "step": f32[()].of(0.1), "shape": ["k"]},
    {"start": f32[()].of(0), "stop": f32[()].of(1e4), "step": f32[()].of(0.1), "shape": ["k"]},
    {"start": i64[()].of(-(2**61)), "stop": i64[()].of(2**61), "step": i64[()].of(2**60), "shape": [4]},
    {"start": i64[()].of(5), "stop": i64[()].of(-4), "step": i64[()].of(-2), "shape": ["k"]},
    {"start": i64[()].of(5), "stop": i64[()].of(-4), "step": i64[()].of(2), "shape": ["k"]},
)
