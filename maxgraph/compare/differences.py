"""Two arrays, place by place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .tolerance import Tolerance

__all__ = ["Difference", "Place", "difference"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """One element.

    Attributes:
        index: Where it is.
        actual, expected: Its two values, as Python numbers.
        amount: By how much they differ, absolute or relative.
    """

    index: tuple[int, ...]
    actual: Any
    expected: Any
    amount: float


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two arrays are apart.

    Two NaN count as equal, and so do two infinities of one sign, and 0.0 and -0.0. NaN or an infinity beside anything
    else differs by more than any tolerance.

    Attributes:
        ok: Whether every element is within the tolerance.
        tolerance: The tolerance.
        misfit: What differs besides elements, the dtype or the shape; then nothing else is set.
        failing: How many elements are not within the tolerance.
        most: The largest absolute difference of finite numbers; None if none differs.
        relative: The largest difference in relation to the expected value, where that is not 0.
        special: The first element where only one is NaN, or an infinity is not met by the same.
        least_rtol: The least rtol that would pass with this atol; None if none would.
        least_atol: The least atol that would pass with this rtol; None if none would.
    """

    ok: bool
    tolerance: Tolerance
    misfit: str | None = None
    failing: int = 0
    most: Place | None = None
    relative: Place | None = None
    special: Place | None = None
    least_rtol: float | None = None
    least_atol: float | None = None


def difference(actual: Array, expected: Array, tolerance: Tolerance) -> Difference:
    """Compares two arrays. Nothing is raised: another dtype or shape is a difference, too.

    Example:
        >>> import numpy as np
        >>> found = difference(np.array([1.0, 2.5]), np.array([1.0, 2.0]), Tolerance(atol=0.25))
        >>> found.ok, found.failing, found.most, found.least_atol
        (False, 1, Place(index=(1,), actual=2.5, expected=2.0, amount=0.5), 0.5)
    """
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        kinds = [f"{array.dtype}{list(array.shape)}" for array in (actual, expected)]
        return Difference(False, tolerance, misfit=f"{kinds[0]} against {kinds[1]}")
    with np.errstate(all="ignore"):
        apart, size = _apart(actual, expected)
        bound = tolerance.atol + tolerance.rtol * size
        failing = ~_within(apart, bound)
        special = ~np.isfinite(apart)
        finite = np.where(special, 0.0, apart)
        ratio = np.where(size > 0, finite / size, 0.0)
        ratio = np.where(np.isfinite(ratio), ratio, 0.0)
    count = int(failing.sum())
    least_rtol = least_atol = None
    if not special.any():
        least_rtol = _least_rtol(apart, size, tolerance)
        least_atol = _least_atol(apart, size, tolerance)
    return Difference(
        ok=count == 0,
        tolerance=tolerance,
        failing=count,
        most=_largest(finite, actual, expected),
        relative=_largest(ratio, actual, expected),
        special=_first(special, apart, actual, expected),
        least_rtol=least_rtol,
        least_atol=least_atol,
    )


def _apart(actual: Array, expected: Array) -> tuple[Array, Array]:
    """Each element's absolute difference, infinite where no tolerance bridges it, and the size of the expected value.

    Ints are subtracted as ints: float64 does not tell all of 64 bits apart.
    """
    if actual.dtype.kind in "iu":
        wide = [a.astype(np.int64 if a.dtype.kind == "i" else np.uint64).view(np.uint64) for a in (actual, expected)]
        apart = np.where(actual > expected, wide[0] - wide[1], wide[1] - wide[0]).astype(np.float64)
        return apart, np.abs(expected.astype(np.float64))
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    apart = np.abs(a - b)
    apart = np.where(np.isfinite(a) & np.isfinite(b), apart, np.inf)
    size = np.where(np.isfinite(b), np.abs(b), 0.0)
    return np.where(same, 0.0, apart), size


def _within(apart: Array, bound: Array) -> Array:
    """Whether each element is near enough; an infinite bound does not make an infinity equal."""
    within: Array = (apart <= bound) & np.isfinite(apart) | (apart == 0)
    return within


def _least_rtol(apart: Array, size: Array, tolerance: Tolerance) -> float | None:
    over = apart > tolerance.atol
    if bool((over & (size == 0)).any()):
        return None
    with np.errstate(all="ignore"):
        needed = np.where(over, (apart - tolerance.atol) / size, 0.0)
        return _passing(_max(needed), lambda rtol: bool(np.all(_within(apart, tolerance.atol + rtol * size))))


def _least_atol(apart: Array, size: Array, tolerance: Tolerance) -> float | None:
    with np.errstate(all="ignore"):
        needed = np.maximum(apart - tolerance.rtol * size, 0.0)
        return _passing(_max(needed), lambda atol: bool(np.all(_within(apart, atol + tolerance.rtol * size))))


def _passing(value: float, passes: Callable[[float], bool]) -> float | None:
    """The value, raised by the last bits that rounding has cost, so that it really passes."""
    for _ in range(8):
        if not math.isfinite(value) or passes(value):
            break
        value = math.nextafter(value, math.inf)
    return value if math.isfinite(value) and passes(value) else None


def _max(values: Array) -> float:
    return float(values.max(initial=0.0))


def _largest(amounts: Array, actual: Array, expected: Array) -> Place | None:
    if not amounts.size or not amounts.max() > 0:
        return None
    return _place(np.unravel_index(int(amounts.argmax()), amounts.shape), amounts, actual, expected)


def _first(places: Array, amounts: Array, actual: Array, expected: Array) -> Place | None:
    if not places.any():
        return None
    return _place(np.unravel_index(int(places.argmax()), places.shape), amounts, actual, expected)


def _place(index: Any, amounts: Array, actual: Array, expected: Array) -> Place:
    at = tuple(int(i) for i in index)
    return Place(at, _number(actual[at]), _number(expected[at]), float(amounts[at]))


def _number(value: Any) -> Any:
    """A Python number; the small floats have no `item` that gives one."""
    plain = value.item()
    return plain if isinstance(plain, (bool, int, float)) else float(plain)
