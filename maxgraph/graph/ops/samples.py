"""Sample operands of ops, as specifications: numpy is needed only where a test makes arrays of them.

``f32[2, 3]`` is an input with random elements around zero; ``.between(low, high)`` sets their range, ``.of(values)``
the elements themselves, and ``.buffer`` makes it memory that the op changes. A dim may be a name: then the input is
symbolic there, with the given size (``f32["n:4", 3]``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..shape import Shape
from ..type import BufferType, DeviceRef, TensorType

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Sample", "Spec", "b1", "bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]


@dataclass(frozen=True, slots=True)
class Spec:
    """An operand of a sample."""

    dtype: DType
    dims: tuple[int | str, ...]
    low: float = -4.0
    high: float = 4.0
    values: Any = None
    is_buffer: bool = False

    def between(self, low: float, high: float) -> Spec:
        """Elements in ``[low, high)``."""
        return replace(self, low=low, high=high)

    def of(self, values: object) -> Spec:
        """These elements."""
        return replace(self, values=values)

    @property
    def buffer(self) -> Spec:
        """The same as a buffer."""
        return replace(self, is_buffer=True)

    @property
    def type(self) -> TensorType | BufferType:
        """The type of the graph's input."""
        shape = Shape(d.partition(":")[0] if isinstance(d, str) else d for d in self.dims)
        kind = BufferType if self.is_buffer else TensorType
        return kind(self.dtype, shape, DeviceRef.CPU())

    def array(self, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        """The elements."""
        import numpy as np

        shape = tuple(int(d.partition(":")[2]) if isinstance(d, str) else d for d in self.dims)
        dtype = self.dtype.to_numpy()
        if self.values is not None:
            return np.asarray(self.values, dtype=dtype).reshape(shape).copy()
        if self.dtype is DType.bool:
            return rng.integers(0, 2, shape).astype(dtype)
        if self.dtype.is_integral():
            low = max(int(self.low), 0) if self.dtype.is_unsigned_integral() else int(self.low)
            return rng.integers(low, int(self.high), shape).astype(dtype)
        return rng.uniform(self.low, self.high, shape).astype(dtype)


#: A sample: the op's arguments by name; a `Spec` (or a list of them) is an operand, anything else an attribute.
Sample = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Specs:
    dtype: DType

    def __getitem__(self, dims: int | str | Sequence[int | str]) -> Spec:
        return Spec(self.dtype, tuple(dims) if isinstance(dims, (tuple, list)) else (dims,))  # type: ignore[arg-type]


b1 = _Specs(DType.bool)
i8 = _Specs(DType.int8)
i16 = _Specs(DType.int16)
i32 = _Specs(DType.int32)
i64 = _Specs(DType.int64)
u8 = _Specs(DType.uint8)
u16 = _Specs(DType.uint16)
u32 = _Specs(DType.uint32)
u64 = _Specs(DType.uint64)
bf16 = _Specs(DType.bfloat16)
f16 = _Specs(DType.float16)
f32 = _Specs(DType.float32)
f64 = _Specs(DType.float64)
