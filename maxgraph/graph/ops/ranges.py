"""Evenly spaced numbers."""

from __future__ import annotations

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
from .kernels import WIDE_FLOATS, compute_in, narrowed, widened
from .registry import Refusal, op
from .rules import need_number
from .samples import bf16, f32, f64, i16, i64, u8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["range_"]

_NAMES = ("start", "stop", "step")
#: Range's and Where's.
_KERNELS = WIDE_FLOATS | {DType.int32, DType.int64}


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
            When the graph runs: there are more or fewer numbers than `out_dim`.
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
    array = np.arange(start, stop, step)
    if out_dim is not None and Dim(out_dim) != len(array):
        _range.refuse(Refusal(f"there are {len(array)} numbers, but `out_dim` is {out_dim}", code="MG015"), [])
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
    wide = compute_in(start.dtype, _KERNELS)
    first, last, distance = (b.cast(x, wide) for x in (start, stop, step))
    is_zero = b.node("Equal", distance, b.constant(0, wide), dtype=DType.bool)
    b.check(b.node("Not", is_zero), "the step is zero")
    # The kernel must not see a step of zero, even before the check has failed.
    safe = b.node("Where", is_zero, b.constant(1, wide), distance, dtype=wide)
    numbers = b.node("Range", first, last, safe, shape=shape)
    b.check_size(numbers, shape[0], f"there are more or fewer numbers than `out_dim` {shape[0]}")
    return b.cast(numbers, start.dtype)


@_range.reference
def _(start: Array, stop: Array, step: Array, shape: tuple[int | None, ...]) -> Array:
    import math

    import numpy as np

    is_integral = start.dtype.kind in "iu"
    numbers: list[Any] = [int(v) if is_integral else widened(v)[()] for v in (start, stop, step)]
    first, last, distance = numbers
    if distance == 0:
        raise Refusal("the step is zero", code="MG035", error=ExecutionError)
    count = (last - first) / distance
    length = max(0, math.ceil(count)) if math.isfinite(count) else None
    if length is None or shape[0] not in (None, length):
        raise Refusal(f"there are {length} numbers, but `out_dim` is {shape[0]}", code="MG035", error=ExecutionError)
    return narrowed(np.arange(first, last, distance), start)


_range.samples(
    {"start": i64[()].of(0), "stop": i64[()].of(7), "step": i64[()].of(2), "shape": [4]},
    {"start": i16[()].of(5), "stop": i16[()].of(-3), "step": i16[()].of(-3), "shape": ["k"]},
    {"start": u8[()].of(3), "stop": u8[()].of(255), "step": u8[()].of(100), "shape": ["k"]},
    {"start": bf16[()].of(1), "stop": bf16[()].of(2), "step": bf16[()].of(0.5), "shape": ["k"]},
    {"start": f64[()].of(1), "stop": f64[()].of(0), "step": f64[()].of(1), "shape": ["k"]},
    {"start": f32[()].of(1), "stop": f32[()].of(0), "step": f32[()].of(-0.25), "shape": ["k"]},
)
