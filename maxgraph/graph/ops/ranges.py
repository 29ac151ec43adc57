"""Evenly spaced numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import GraphTypeError, user_location
from ..dim import Dim, DimLike
from ..shape import Shape, ShapeLike
from ..type import DeviceRef, TensorType
from ..value import TensorValue, TensorValueLike
from .constant import constant
from .emitter import Emitter, Handle
from .registry import Refusal, op
from .samples import f32, i64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["range_"]


def range_(
    start: TensorValueLike,
    stop: TensorValueLike,
    step: TensorValueLike = 1,
    out_dim: DimLike | None = None,
    *,
    dtype: DType,
    device: DeviceRef | Any,  # noqa: ANN401 - a driver device
) -> TensorValue:
    """``start, start + step, ...`` up to and without `stop`.

    Args:
        start: The first number; a number, or a tensor of rank 0.
        stop: The end, which is left out.
        step: The distance; not zero.
        out_dim: How many there are; needed where a bound is a tensor or a dim.
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
    bounds = {"start": start, "stop": stop, "step": step}
    numbers = [v for v in bounds.values() if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if dtype is DType.bool:
        _range.refuse(Refusal("bool has no range", code="MG016"), [])
    if len(numbers) == len(bounds):
        return _of_numbers(*numbers, dtype=dtype, device=device, out_dim=out_dim)
    if out_dim is None:
        raise GraphTypeError(
            "range: `out_dim` is needed where a bound is a tensor",
            code="MG017",
            where=user_location(columns=True),
            help='give the number of elements, e.g. out_dim=8 or out_dim="n"',
        )
    place = DeviceRef.from_device(device)
    values = [
        constant(v, dtype, place) if isinstance(v, (int, float)) else TensorValue(v).cast(dtype)
        for v in bounds.values()
    ]
    return _range(*values, Shape([Dim(out_dim)]))


def _of_numbers(
    start: float, stop: float, step: float, *, dtype: DType, device: DeviceRef | Any, out_dim: DimLike | None  # noqa: ANN401
) -> TensorValue:
    import numpy as np

    if step == 0:
        _range.refuse(Refusal("the step is zero", code="MG017"), [])
    array = np.arange(start, stop, step)
    if out_dim is not None and Dim(out_dim) != len(array):
        _range.refuse(Refusal(f"there are {len(array)} numbers, but `out_dim` is {out_dim}", code="MG015"), [])
    if not array.size and start != stop:
        _range.refuse(Refusal(f"no step of {step} leads from {start} to {stop}", code="MG017"), [])
    return constant(array.astype(dtype.to_numpy()), dtype, device)


@op(name="range", promoted=["start", "stop", "step"])
def _range(  # type: ignore[empty-body]
    start: TensorValueLike, stop: TensorValueLike, step: TensorValueLike, shape: ShapeLike
) -> TensorValue:
    """Evenly spaced numbers between computed bounds; `shape` is their number."""


@_range.types
def _(start: TensorType, stop: TensorType, step: TensorType, shape: Shape) -> TensorType:
    for name, type_ in (("start", start), ("stop", stop), ("step", step)):
        if type_.rank != 0:
            raise Refusal(f"`{name}` must have rank 0, not {type_.rank}", code="MG014", help="reshape it to []")
    if len(shape) != 1:
        raise Refusal(f"`shape` must be one dim, not {shape.text}", code="MG015")
    return start.with_shape(shape)


@_range.lowers
def _(b: Emitter, start: Handle, stop: Handle, step: Handle, shape: Shape) -> Handle:
    dtype = start.dtype
    kernels = (DType.int16, DType.int32, DType.int64, DType.float32, DType.float64)
    wide = dtype if dtype in kernels else DType.float32 if dtype.is_float() else DType.int64
    zero = b.constant(0, wide)
    bounds = [b.cast(x, wide) for x in (start, stop, step)]
    is_zero = b.node("Equal", bounds[2], zero, dtype=DType.bool)
    b.check(b.node("Not", is_zero), "the step is zero")
    # The kernel must not see a step of zero, even before the check has failed.
    safe = b.node("Where", is_zero, b.constant(1, wide), bounds[2], dtype=wide)
    numbers = b.node("Range", bounds[0], bounds[1], safe, shape=shape, dtype=wide)
    b.check_size(numbers, shape[0], f"there are more or fewer numbers than `out_dim` {shape[0]}")
    return b.cast(numbers, dtype)


@_range.reference
def _(start: Array, stop: Array, step: Array, shape: tuple[int | None, ...]) -> Array:
    import numpy as np

    from ...errors import ExecutionError

    if step == 0:
        raise Refusal("the step is zero", code="MG035", error=ExecutionError)
    result = np.arange(start, stop, step, dtype=start.dtype)
    if shape[0] is not None and len(result) != shape[0]:
        raise Refusal(
            f"there are {len(result)} numbers, but `out_dim` is {shape[0]}", code="MG035", error=ExecutionError
        )
    return result


_range.samples(
    {"start": i64[()].of(0), "stop": i64[()].of(7), "step": i64[()].of(2), "shape": [4]},
    {"start": f32[()].of(1), "stop": f32[()].of(0), "step": f32[()].of(-0.25), "shape": ["k"]},
)
