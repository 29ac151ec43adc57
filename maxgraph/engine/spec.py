"""What a model tells of its inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtype import DType
from ..graph.type import BufferType, TensorType, static_dim

__all__ = ["TensorSpec"]


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One input or output.

    Attributes:
        name: Its name.
        type: Its type; a `BufferType` for memory that the model changes.

    Example:
        >>> from maxgraph.graph import DeviceRef
        >>> spec = TensorSpec("x", TensorType(DType.float32, ["batch", 8], DeviceRef.CPU()))
        >>> spec.dtype, spec.shape, spec.is_buffer
        (float32, [None, 8], False)
    """

    name: str
    type: TensorType | BufferType

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.type.dtype

    @property
    def shape(self) -> list[int | None]:
        """The sizes; None where one is known only when the model runs."""
        return [static_dim(dim) for dim in self.type.shape]

    @property
    def is_buffer(self) -> bool:
        """Whether it is memory that the model changes."""
        return isinstance(self.type, BufferType)

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"
