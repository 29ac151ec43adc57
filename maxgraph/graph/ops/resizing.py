"""Images brought to another size.

Where an element of the result lies in the input is a fraction of ints, and is computed as one: no rounding of a scale
moves a nearest neighbour. Axes are resampled one after the other, each from one, two or four neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError, TypeRuleError, UnsupportedError, user_location
from ..dim import Dim, DimLike
from ..shape import Shape, ShapeLike
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS, compute_in, narrowed, widened
from .registry import Refusal, op
from .samples import bf16, f16, f32, f64, u8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["InterpolationMode", "resize", "resize_bicubic", "resize_linear", "resize_nearest"]

_HALF_PIXEL, _ALIGN_CORNERS, _ASYMMETRIC, _HALF_PIXEL_1D = range(4)
_PREFER_FLOOR, _PREFER_CEIL, _FLOOR, _CEIL = range(4)
_MODES = ("nearest", "linear", "cubic")
#: The cubic through the neighbours' slopes (Keys 1981, with MAX's and most libraries' constant).
_A = -0.75


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
    if value.rank != 4:  # noqa: PLR2004 - batch, channels, height and width
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
            x = _along(b, x, axis, old, new, mode, coordinates, rounding)
    return b.cast(Handle(x.name, x.type.with_shape(shape)), own)


def _along(b: Emitter, x: Handle, axis: int, old: Dim, new: Dim, mode: str, coordinates: int, rounding: int) -> Handle:
    """One axis resampled; `_along_now` in ONNX."""

    def number(value: int) -> Handle:
        return b.constant(value)

    def size(dim: Dim) -> Handle:
        return b.reshape(b.dims(Shape([dim])), Shape([]))

    def vector(fraction: Handle) -> Handle:
        return b.node("Reshape", fraction, b.constant([-1, *[1] * (x.rank - axis - 1)]))

    before, after, one = size(old), size(new), number(1)
    zero = b.check(
        b.node("Or", *(b.node("Greater", p, q, dtype=DType.bool) for p, q in ((before, number(0)), (one, after)))),
        f"axis {axis} has no element to resize",
    )
    before = b.node("Add", before, zero)
    place = b.node("Range", number(0), after, one)
    last = b.node("Sub", before, one)
    if coordinates == _ALIGN_CORNERS:
        top, under = b.node("Mul", place, last), b.node("Sub", after, one)
    elif coordinates == _ASYMMETRIC:
        top, under = b.node("Mul", place, before), after
    else:
        doubled = b.node("Add", b.node("Mul", place, number(2)), one)
        top, under = b.node("Sub", b.node("Mul", doubled, before), after), b.node("Mul", after, number(2))
        if coordinates == _HALF_PIXEL_1D:
            top = b.node("Mul", top, b.node("Min", b.node("Sub", after, one), one))
    under = b.node("Max", under, one)

    def taken(at: Handle) -> Handle:
        return b.node("Gather", x, b.node("Max", b.node("Min", at, last), number(0)), axis=axis)

    if mode == "nearest":
        top, twice = b.node("Mul", top, number(2)), b.node("Mul", under, number(2))
        if rounding == _PREFER_FLOOR:
            top = b.node("Add", top, b.node("Sub", under, one))
        elif rounding == _PREFER_CEIL:
            top = b.node("Add", top, under)
        elif rounding == _CEIL:
            top = b.node("Add", top, b.node("Sub", twice, one))
        return taken(b.node("Div", b.node("Max", top, number(0)), twice))
    if mode == "linear":
        top = b.node("Max", b.node("Min", top, b.node("Mul", last, under)), number(0))
    # The dividend is positive, so that the division rounds down.
    first = b.node("Sub", b.node("Div", b.node("Add", top, under), under), one)
    rest = b.node("Sub", top, b.node("Mul", first, under))
    share = b.node("Div", b.cast(rest, x.dtype), b.cast(under, x.dtype))

    def cubic(coefficients: tuple[float, ...], t: Handle) -> Handle:
        found = b.constant(coefficients[0], x.dtype)
        for coefficient in coefficients[1:]:
            found = b.node("Add", b.node("Mul", found, t), b.constant(coefficient, x.dtype))
        return found

    back = b.node("Sub", b.constant(1, x.dtype), share)
    if mode == "linear":
        taps = [(0, back), (1, share)]
    else:
        far = [b.node("Add", t, b.constant(1, x.dtype)) for t in (share, back)]
        taps = [(-1, cubic(_FAR, far[0])), (0, cubic(_NEAR, share)), (1, cubic(_NEAR, back)), (2, cubic(_FAR, far[1]))]
    terms = [b.node("Mul", taken(b.node("Add", first, number(at))), vector(weight)) for at, weight in taps]
    total = terms[0]
    for term in terms[1:]:
        total = b.node("Add", total, term)
    return total


#: Weights of a neighbour at a distance up to 1, and from 1 to 2: polynomials of the distance, highest power first.
_NEAR = (_A + 2, -(_A + 3), 0.0, 1.0)
_FAR = (_A, -5 * _A, 8 * _A, -4 * _A)


@_resize.reference
def _(x: Array, shape: tuple[int, ...], mode: str, coordinates: int, rounding: int) -> Array:
    found = x if mode == "nearest" else widened(x)
    for axis, new in enumerate(shape):
        if found.shape[axis] != new:
            if not found.shape[axis]:
                raise Refusal(f"axis {axis} has no element to resize", code="MG035", error=ExecutionError)
            found = _along_now(found, axis, new, mode, coordinates, rounding)
    return narrowed(found, x)


def _along_now(x: Array, axis: int, new: int, mode: str, coordinates: int, rounding: int) -> Array:
    import numpy as np

    old = x.shape[axis]
    place = np.arange(new)
    if coordinates == _ALIGN_CORNERS:
        top, under = place * (old - 1), max(new - 1, 1)
    elif coordinates == _ASYMMETRIC:
        top, under = place * old, max(new, 1)
    else:
        top, under = (2 * place + 1) * old - new, max(2 * new, 1)
        if coordinates == _HALF_PIXEL_1D and new == 1:
            top = top * 0
    if mode == "nearest":
        extra = {_PREFER_FLOOR: under - 1, _PREFER_CEIL: under, _FLOOR: 0, _CEIL: 2 * under - 1}[rounding]
        return x.take(np.clip((2 * top + extra) // (2 * under), 0, old - 1), axis)
    if mode == "linear":
        top = np.clip(top, 0, (old - 1) * under)
    first = top // under
    share = ((top - first * under).astype(x.dtype) / x.dtype.type(under)).astype(x.dtype)
    if mode == "linear":
        taps = [(0, 1 - share), (1, share)]
    else:
        far = [np.polyval(np.array(_FAR, x.dtype), t) for t in (share + 1, 2 - share)]
        near = [np.polyval(np.array(_NEAR, x.dtype), t) for t in (share, 1 - share)]
        taps = [(-1, far[0]), (0, near[0]), (1, near[1]), (2, far[1])]
    total: Array = np.asarray(
        sum(
            x.take(np.clip(first + at, 0, old - 1), axis) * weight.reshape(-1, *[1] * (x.ndim - axis - 1))
            for at, weight in taps
        )
    )
    return total


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
