"""How element types combine, without widening.

The result of two dtypes is the higher category of bool < unsigned < signed < float at the larger width; it must be one
of the two, and must hold every value of the other exactly. Python and numpy operands are weak: they take the other
operand's dtype, and are refused where they do not fit it exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..dtype import DType

if TYPE_CHECKING:
    import numpy as np

__all__ = ["exact_integers", "promote", "weak_fits"]

# Bits of significand, the hidden one included: integers up to 2**bits are exact.
_SIGNIFICAND = {DType.float16: 11, DType.bfloat16: 8, DType.float32: 24, DType.float64: 53}


def _category(dtype: DType) -> int:
    if dtype is DType.bool:
        return 0
    return 1 if dtype.is_unsigned_integral() else 2 if dtype.is_signed_integral() else 3


def _value_bits(dtype: DType) -> int:
    """Bits that a value needs, the sign excluded."""
    if dtype is DType.bool:
        return 1
    return dtype.size_in_bits - dtype.is_signed_integral()


def exact_integers(dtype: DType) -> tuple[int, int]:
    """The range of integers that the dtype holds exactly and without gaps."""
    if dtype is DType.bool:
        return 0, 1
    if dtype.is_unsigned_integral():
        return 0, 2**dtype.size_in_bits - 1
    if dtype.is_signed_integral():
        half = 2 ** (dtype.size_in_bits - 1)
        return -half, half - 1
    limit = 2 ** _SIGNIFICAND.get(dtype, 3)
    return -limit, limit


def promote(lhs: DType, rhs: DType) -> DType | None:
    """The dtype of a result of two operands, or None where they do not combine.

    Example:
        >>> promote(DType.int32, DType.int64), promote(DType.int32, DType.float32)
        (int64, None)
    """
    if lhs is rhs:
        return lhs
    low, high = sorted((lhs, rhs), key=lambda d: (_category(d), d.size_in_bits))
    if low.is_float():
        return high if low.size_in_bits < high.size_in_bits and high in _SIGNIFICAND else None
    if low is DType.bool:
        return high
    if high.is_float():
        return high if _value_bits(low) <= _SIGNIFICAND.get(high, 0) else None
    return high if _value_bits(low) <= _value_bits(high) else None


def weak_fits(value: bool | float | np.generic | np.ndarray[Any, Any], dtype: DType) -> str | None:  # noqa: FBT001
    """Why a Python or numpy operand does not fit a dtype; None where it fits."""
    low, high = exact_integers(dtype)
    if isinstance(value, (bool, int)):
        return None if low <= value <= high else f"{value} is not exact in {dtype.name} ({low} to {high})"
    if isinstance(value, float):
        if dtype.is_float():
            return None
        return f"the float {value} does not fit {dtype.name}"
    if value.dtype.kind in "iu":
        if value.size and not (low <= int(value.min()) and int(value.max()) <= high):
            return f"an array of {value.dtype} has elements that are not exact in {dtype.name} ({low} to {high})"
        return None
    if value.dtype.kind == "b":
        return None
    return None if dtype.is_float() else f"an array of {value.dtype} does not fit {dtype.name}"
