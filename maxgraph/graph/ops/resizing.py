"""Images brought to another size.

Where an element of the result lies in the input is a fraction of ints, and is computed as one: no rounding of a scale
moves a nearest neighbour. Axes are resampled one after the other, each from one, two or four neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

from ...errors import ExecutionError, TypeRuleError, UnsupportedError, user_location
from ..dim import DimLike
from ..shape import Shape, ShapeLike
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS, compute_in, narrowed, widened
from .registry import Refusal, op
from .resampling import along, along_now
from .samples import bf16, f16, f32, f64, u8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["InterpolationMode", "resize", "resize_bicubic", "resize_linear", "resize_nearest"]

_MODES = ("nearest", "linear", "cubic")


class InterpolationMode(Enum):
    """How `resize` fills in.

    Example:
        >>> from maxgraph.graph import ops
        >>> ops.InterpolationMode.BICUBIC.value
        'bicubic'
    """

    NEAREST = "nearest"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


def resize(
    input: TensorValueLike,
    shape: Iterable[DimLike],
    interpolation: InterpolationMode = InterpolationMode.BILINEAR,
) -> TensorValue:
    """An image in another size: `resize_nearest`, `resize_linear` or `resize_bicubic` with their defaults.

    Args:
        input: ``[batch, channels, height, width]``.
        shape: The result's whole shape.
        interpolation: How it is filled in.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 3, 8, 8], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.resize(x, [x.shape[0], 3, 16, 12])
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 3, 16, 12]

    Raises:
        ValueError: The rank is not 4 or the dtype does not fit.
    """
    mode = {"nearest": "nearest", "bilinear": "linear", "bicubic": "cubic"}[InterpolationMode(interpolation).value]
    return _resized("resize", input, shape, mode)


def resize_nearest(
    input: TensorValueLike, size: Iterable[DimLike], coordinate_transform_mode: int = 0, round_mode: int = 0
) -> TensorValue:
    """An image in another size, each element the nearest one.

    Args:
        input: ``[batch, channels, height, width]``, of any dtype.
        size: The result's whole shape.
        coordinate_transform_mode: 0: centres of pixels; 1: the corners' centres stay; 2: ``x * in / out``; 3: as 0, but
            an axis of size 1 shows the first element.
        round_mode: 0: halves go down; 1: halves go up; 2: always down; 3: always up.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.uint8, [1, 3, 8, 8], DeviceRef.CPU())]) as graph:
        ...     y = ops.resize_nearest(graph.inputs[0].tensor, [1, 3, 4, 4])
        ...     graph.output(y)
        >>> print(y.type)
        uint8[1, 3, 4, 4]

    Raises:
        ValueError: The rank is not 4, or a mode is something else.
    """
    return _resized("resize_nearest", input, size, "nearest", coordinate_transform_mode, round_mode)


def resize_linear(
    input: TensorValueLike, size: Iterable[DimLike], coordinate_transform_mode: int = 0, antialias: bool = False
) -> TensorValue:
    """An image in another size, linear between the neighbours along each axis.

    Args:
        input: ``[batch, channels, height, width]``, floating-point.
        size: The result's whole shape.
        coordinate_transform_mode: As for `resize_nearest`.
        antialias: Not supported.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [1, 3, "h", "w"], DeviceRef.CPU())]) as graph:
        ...     y = ops.resize_linear(graph.inputs[0].tensor, [1, 3, 32, 32], coordinate_transform_mode=1)
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 3, 32, 32]

    Raises:
        NotImplementedError: `antialias` is set.
        ValueError: The rank is not 4, the dtype is not floating-point, or the mode is something else.
    """
    if antialias:
        raise UnsupportedError(
            "resize_linear: `antialias` is not supported",
            code="MG042",
            where=user_location(columns=True),
            help="make the image smaller with ops.avg_pool2d first",
        )
    return _resized("resize_linear", input, size, "linear", coordinate_transform_mode)


def resize_bicubic(input: TensorValueLike, size: Iterable[DimLike]) -> TensorValue:
    """An image in another size, cubic between four neighbours along each axis.

    Args:
        input: ``[batch, channels, height, width]``, floating-point.
        size: The result's whole shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [1, 3, 8, 8], DeviceRef.CPU())]) as graph:
        ...     y = ops.resize_bicubic(graph.inputs[0].tensor, [1, 3, 20, 20])
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 3, 20, 20]

    Raises:
        ValueError: The rank is not 4 or the dtype is not floating-point.
    """
    return _resized("resize_bicubic", input, size, "cubic")


def _resized(
    name: str, input: TensorValueLike, shape: Iterable[DimLike], mode: str, coordinates: int = 0, rounding: int = 0
) -> TensorValue:
    value = tensor_operand(input, name, "input")
    if value.rank != 4:
        message = f"{name}: `input` must have rank 4, not {value.rank}: {value.shape.text}"
        raise TypeRuleError(message, code="MG014", where=user_location(columns=True))
    return _resize(value, Shape(shape), mode, coordinates, rounding)


@op(name="resize")
def _resize(  # type: ignore[empty-body]
    x: TensorValueLike, shape: ShapeLike, mode: str, coordinates: int, rounding: int
) -> TensorValue:
    """Each axis resampled to its new size."""


@_resize.types
def _(x: TensorType, shape: Shape, mode: str, coordinates: int, rounding: int) -> TensorType:
    if mode not in _MODES or coordinates not in range(4) or rounding not in range(4):
        message = f"modes are ints from 0 to 3, not coordinates {coordinates} and rounding {rounding} of {mode!r}"
        raise Refusal(message, code="MG017")
    if mode != "nearest" and not x.dtype.is_float():
        message = f"`input` must be floating-point, not {x.dtype.name}"
        raise Refusal(message, code="MG016", help="cast it first, e.g. x.cast(DType.float32)")
    if len(shape) != x.rank:
        raise Refusal(f"the new shape {shape.text} must have rank {x.rank}", code="MG014")
    for old, new in zip(x.shape, shape, strict=True):
        if (static_dim(new) or 0) < 0 or (old == 0 and new != 0):
            raise Refusal(f"an axis of size {old} cannot be resized to {new}", code="MG015")
    return x.with_shape(shape)


@_resize.lowers
def _(b: Emitter, x: Handle, shape: Shape, mode: str, coordinates: int, rounding: int) -> Handle:
    own = x.dtype
    if mode != "nearest":
        x = b.cast(x, compute_in(own, WIDE_FLOATS))
    for axis, (old, new) in enumerate(zip(x.shape, shape, strict=True)):
        if old != new:
            x = along(b, x, axis, old, new, mode, coordinates, rounding)
    return b.cast(Handle(x.name, x.type.with_shape(shape)), own)


@_resize.reference
def _(x: Array, shape: tuple[int, ...], mode: str, coordinates: int, rounding: int) -> Array:
    found = x if mode == "nearest" else widened(x)
    for axis, new in enumerate(shape):
        if found.shape[axis] != new:
            if not found.shape[axis]:
                raise Refusal(f"axis {axis} has no element to resize", code="MG035", error=ExecutionError)
            found = along_now(found, axis, new, mode, coordinates, rounding)
    return narrowed(found, x)


_resize.samples(
    *(
        {"x": x, "shape": [2, 2, *size], "mode": mode, "coordinates": coordinates, "rounding": 0}
        for mode in _MODES
        for coordinates in range(4)
        for x, size in ((f32[2, 2, 5, 4], (3, 9)), (f32[2, 2, 4, 3], (1, 7)))
    ),
    *({"x": u8[7, 3], "shape": [4, 5], "mode": "nearest", "coordinates": 0, "rounding": r} for r in range(4)),
    *(
        {"x": x[1, 3, 4], "shape": [2, 3, 6], "mode": "cubic", "coordinates": 0, "rounding": 0}
        for x in (f64, f16, bf16)
    ),
    {"x": f32["n:2", "h:3"], "shape": ["n", 5], "mode": "linear", "coordinates": 0, "rounding": 0},
    {"x": f32["n:2", 3], "shape": [4, 0], "mode": "linear", "coordinates": 1, "rounding": 0},
    {"x": f32[0, 3], "shape": [0, 5], "mode": "cubic", "coordinates": 0, "rounding": 0},
)
