"""Element types.

Names, numbers and predicates are those of MAX's ``DType``, so that a program moves by its imports alone.
numpy is imported only by the two conversions, so that inspecting a file never loads it.
"""

from __future__ import annotations

import builtins
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["DType"]

_NATIVE = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
)


class DType(Enum):
    """The type of a tensor's elements.

    Example:
        >>> DType.float32.size_in_bytes, DType.float32.is_float()
        (4, True)
        >>> str(DType.int64), repr(DType.int64)
        ('DType.int64', 'int64')
    """

    bool = 1
    int8 = 135
    int16 = 137
    int32 = 139
    int64 = 141
    uint8 = 134
    uint16 = 136
    uint32 = 138
    uint64 = 140
    float16 = 79
    float32 = 81
    float64 = 82
    bfloat16 = 80
    float4_e2m1fn = 64
    float8_e8m0fnu = 73
    float8_e4m3fn = 75
    float8_e4m3fnuz = 76
    float8_e5m2 = 77
    float8_e5m2fnuz = 78

    def __repr__(self) -> str:
        return self.name

    def __str__(self) -> str:
        return f"DType.{self.name}"

    @property
    def size_in_bits(self) -> int:
        """Bits that one element takes."""
        if self is DType.bool:
            return 8
        digits = self.name.split("_")[0].lstrip("abcdefghijklmnopqrstuvwxyz")
        return int(digits)

    @property
    def size_in_bytes(self) -> int:
        """Bytes that one element takes, rounded up."""
        return (self.size_in_bits + 7) // 8

    @property
    def align(self) -> int:
        """Alignment in bytes."""
        return self.size_in_bytes

    def is_integral(self) -> builtins.bool:
        """Whether this is a signed or unsigned integer; ``bool`` is not."""
        return "int" in self.name

    def is_unsigned_integral(self) -> builtins.bool:
        """Whether this is an unsigned integer."""
        return self.name.startswith("uint")

    def is_signed_integral(self) -> builtins.bool:
        """Whether this is a signed integer."""
        return self.name.startswith("int")

    def is_float(self) -> builtins.bool:
        """Whether this is a floating-point type of any width."""
        return "float" in self.name

    def is_float8(self) -> builtins.bool:
        """Whether this is one of the 8-bit floating-point types."""
        return self.name.startswith("float8")

    def is_half(self) -> builtins.bool:
        """Whether this is ``float16`` or ``bfloat16``."""
        return self in (DType.float16, DType.bfloat16)

    def to_numpy(self) -> np.dtype[Any]:
        """The numpy dtype; ``bfloat16`` and the small floats are those of ``ml_dtypes``."""
        import numpy as np

        if self.name in _NATIVE:
            return np.dtype(self.name)
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, self.name))
        return found

    @classmethod
    def from_numpy(cls, dtype: np.dtype[Any]) -> DType:
        """The element type of a numpy dtype.

        Raises:
            ValueError: The dtype has no counterpart (text, objects, dates, complex, foreign byte order).
        """
        import numpy as np

        dtype = np.dtype(dtype)
        found = cls.__members__.get(dtype.name)
        if found is None or not dtype.isnative:
            raise ValueError(f"numpy dtype {dtype.str!r} has no counterpart among {', '.join(cls.__members__)}")
        return found
