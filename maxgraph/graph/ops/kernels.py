"""Computing in a dtype that has a kernel, where the operand's own dtype has none.

The sets name the element types for which onnxruntime's CPU provider has kernels (1.32). What is missing is computed in
a type that holds every value, and converted back; ints that wrap around there wrap to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from .emitter import Emitter, Handle

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ARITHMETIC", "FLOATS", "ORDERED", "WIDE_FLOATS", "compute_in", "computed", "narrowed", "select", "widened"]

D = DType
#: Half, single and double precision; float16 kernels are often reached through float32.
FLOATS = frozenset({D.float16, D.float32, D.float64})
#: For several nodes in a row, so that halves are rounded once, at the end.
WIDE_FLOATS = FLOATS - {D.float16}
#: Add, Sub, Mul, Div, Mod, Equal, Greater, GreaterOrEqual, Less.
ARITHMETIC = FLOATS | {D.int8, D.int16, D.int32, D.int64, D.uint8, D.uint16, D.uint32, D.uint64}
#: Max, Min. (There are float16 kernels too; they are no faster.)
ORDERED = WIDE_FLOATS | {D.int8, D.uint8, D.int32, D.uint32, D.int64, D.uint64}
_SELECTED = WIDE_FLOATS | {D.uint8, D.int32, D.int64}


def compute_in(dtype: DType, kernels: Collection[DType]) -> DType:
    """The dtype to compute in: the one given where it has a kernel, else one that holds its values.

    For uint64 that is int64: the bits stay the same, but not the order.
    """
    if dtype in kernels:
        return dtype
    # uint32 does not fit int32, though it has as many bits.
    ints = (D.int64,) if dtype is D.uint32 else (D.int32, D.int64)
    for candidate in (D.float32, D.float64) if dtype.is_float() else ints:
        if candidate in kernels and candidate.size_in_bits >= dtype.size_in_bits:
            return candidate
    raise TypeError(f"no kernel of {sorted(k.name for k in kernels)} holds {dtype.name}")


def computed(b: Emitter, kernels: Collection[DType], make: Callable[..., Handle], *operands: Handle) -> Handle:
    """``make(*operands)``, in a dtype that has kernels, converted back to the operands' own."""
    own = operands[0].dtype
    dtype = compute_in(own, kernels)
    return b.cast(make(*(b.cast(x, dtype) for x in operands)), own)


def select(b: Emitter, condition: Handle, x: Handle, y: Handle) -> Handle:
    """`x` where the condition holds, else `y`, of any dtype."""
    return computed(b, _SELECTED, lambda p, q: b.node("Where", condition, p, q, dtype=p.dtype), x, y)


def widened(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Halves as float32, for a meaning that rounds once, at the end; other arrays as they are."""
    import numpy as np

    is_half = x.dtype.kind not in "biu" and x.dtype.itemsize < np.dtype(np.float32).itemsize
    return x.astype(np.float32) if is_half else x


def narrowed(x: np.ndarray[Any, Any], like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A result in the dtype of the operand that was `widened`."""
    result: np.ndarray[Any, Any] = x.astype(like.dtype)
    return result
