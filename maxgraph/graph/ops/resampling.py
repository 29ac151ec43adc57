"""One axis of a tensor resampled, in ONNX and in numpy: the same steps, so that both round alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..dim import Dim
from ..shape import Shape
from .emitter import Emitter, Handle

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["along", "along_now"]

_HALF_PIXEL, _ALIGN_CORNERS, _ASYMMETRIC, _HALF_PIXEL_1D = range(4)
_PREFER_FLOOR, _PREFER_CEIL, _FLOOR, _CEIL = range(4)
#: The cubic through the neighbours' slopes (Keys 1981, with MAX's and most libraries' constant).
_A = -0.75
#: Weights of a neighbour at a distance up to 1, and from 1 to 2: polynomials of the distance, highest power first.
_NEAR = (_A + 2, -(_A + 3), 0.0, 1.0)
_FAR = (_A, -5 * _A, 8 * _A, -4 * _A)


def along(b: Emitter, x: Handle, axis: int, old: Dim, new: Dim, mode: str, coordinates: int, rounding: int) -> Handle:
    """One axis resampled; `along_now` in ONNX."""

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


def along_now(x: Array, axis: int, new: int, mode: str, coordinates: int, rounding: int) -> Array:
    """One axis resampled to the size `new`."""
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
        found: Array = x.take(np.clip((2 * top + extra) // (2 * under), 0, old - 1), axis)
        return found
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
