"""Conversion between element types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import select
from .registry import op
from .samples import b1, bf16, f16, f32, f64, i32, i64

if TYPE_CHECKING:
    import numpy as np

__all__ = ["cast"]


@op()
def cast(x: TensorValueLike, dtype: DType) -> TensorValue:  # type: ignore[empty-body]
    """Elements converted to another type.

    A float that becomes an int loses its fraction; out of the int's range it becomes the nearest int, and NaN becomes
    0, on every machine. An int that does not fit another int keeps its low bits.

    Args:
        x: A tensor of any shape and dtype.
        dtype: The new element type.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> from maxgraph.dtype import DType
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.cast(graph.inputs[0].tensor, DType.int64)
        ...     graph.output(y)
        >>> print(y.type)
        int64[3]
    """


@cast.types
def _(x: TensorType, dtype: DType) -> TensorType:
    return x.cast(dtype)


@cast.lowers
def _(b: Emitter, x: Handle, dtype: DType) -> Handle:
    if not (x.dtype.is_float() and dtype.is_integral()):
        return b.cast(x, dtype)
    # A bare Cast of what the int cannot hold gives whatever the processor's instruction gives.
    x = b.cast(x, _wide(x.dtype))
    numbers = select(b, b.node("IsNaN", x, dtype=DType.bool), b.constant(0, x.dtype), x)
    lowest, highest, beyond = _range(x.dtype, dtype)
    inside = b.node("Clip", numbers, b.constant(lowest, x.dtype), b.constant(highest, x.dtype))
    result = b.cast(inside, dtype)
    if beyond is None:
        return result
    above = b.node("GreaterOrEqual", numbers, b.constant(beyond, x.dtype), dtype=DType.bool)
    return select(b, above, b.constant(_limits(dtype)[1], dtype), result)


def _wide(dtype: DType) -> DType:
    """The float to compute in; it holds every value of the float that is given."""
    return DType.float64 if dtype is DType.float64 else DType.float32


def _limits(dtype: DType) -> tuple[int, int]:
    import numpy as np

    info = np.iinfo(dtype.to_numpy())
    return int(info.min), int(info.max)


def _range(source: DType, target: DType) -> tuple[float, float, float | None]:
    """The least and the greatest float that the int can hold.

    And the float after that, where the int's greatest value lies between the two.
    """
    import numpy as np

    lowest, highest = _limits(target)
    kind = source.to_numpy().type
    if int(kind(highest)) == highest:
        return float(lowest), float(highest), None
    beyond = kind(highest)  # rounded up, to a power of two
    return float(lowest), float(np.nextafter(beyond, kind(0))), float(beyond)


@cast.reference
def _(x: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    import numpy as np

    target = dtype.to_numpy()
    if not (DType.from_numpy(x.dtype).is_float() and dtype.is_integral()):
        return x.astype(target)
    wide = _wide(DType.from_numpy(x.dtype))
    numbers = x.astype(wide.to_numpy())
    numbers = np.where(np.isnan(numbers), 0, numbers)
    lowest, highest, beyond = _range(wide, dtype)
    result = np.clip(numbers, lowest, highest).astype(target)
    return result if beyond is None else np.where(numbers >= beyond, target.type(_limits(dtype)[1]), result)


_EDGES = [float("nan"), float("inf"), -float("inf"), -1.5, 127.9]

cast.samples(
    {"x": f32[2, 3], "dtype": DType.int32},
    {"x": i64[4], "dtype": DType.float32},
    {"x": f64[2, 2], "dtype": DType.float32},
    {"x": i32[5], "dtype": DType.bool},
    {"x": b1[5], "dtype": DType.float32},
    *(
        {
            "x": source[8].of([*_EDGES, *((300.7, -6e4, 6e4) if source is f16 else (3e9, -1e19, 2.0**64))]),
            "dtype": target,
        }
        for source in (f16, bf16, f32, f64)
        for target in DType
        if target.is_integral()
    ),
)
