"""Computing in a dtype that has a kernel, where the operand's own dtype has none.

The sets name the element types for which onnxruntime's CPU provider has kernels (1.32); what is missing is computed
in a type that holds every value, and converted back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ...dtype import DType
from .emitter import Emitter, Handle

__all__ = ["ARITHMETIC", "COMPARED", "FLOATS", "FLOATS_AND_WIDE_INTS", "ORDERED", "compute_in", "computed"]

D = DType
#: Half, single and double precision; float16 kernels are often reached through float32.
FLOATS = frozenset({D.float16, D.float32, D.float64})
#: Add, Sub, Mul, Div, Mod.
ARITHMETIC = FLOATS | {D.int8, D.int16, D.int32, D.int64, D.uint8, D.uint16, D.uint32, D.uint64}
#: Greater, GreaterOrEqual, Less.
COMPARED = ARITHMETIC
#: Max, Min.
ORDERED = FLOATS | {D.int8, D.uint8, D.int32, D.uint32, D.int64, D.uint64}
#: Reductions, Pow, CumSum, TopK.
FLOATS_AND_WIDE_INTS = FLOATS | {D.int32, D.int64}


def compute_in(dtype: DType, kernels: Collection[DType]) -> DType:
    """The dtype to compute in: the one given where it has a kernel, else one that holds its values."""
    if dtype in kernels:
        return dtype
    if dtype.is_float():
        return D.float32 if D.float32 in kernels else D.float64
    for wider in (D.int32, D.int64):
        if wider in kernels and (dtype.size_in_bits < wider.size_in_bits or wider is D.int64):
            return wider
    return D.float32


def computed(b: Emitter, kernels: Collection[DType], make: Callable[..., Handle], *operands: Handle) -> Handle:
    """``make(*operands)``, in a dtype that has kernels, converted back to the operands' own."""
    own = operands[0].dtype
    dtype = compute_in(own, kernels)
    return b.cast(make(*(b.cast(x, dtype) for x in operands)), own)
