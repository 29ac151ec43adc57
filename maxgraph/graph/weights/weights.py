"""What a checkpoint offers, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...dtype import DType
from ..only_in_max import OnlyInMax
from ..shape import Shape, ShapeLike
from ..type import DeviceRef
from ..weight import Weight

if TYPE_CHECKING:
    import numpy as np

__all__ = ["WeightData", "Weights"]

W = TypeVar("W", bound="Weights")


class Weights(Protocol):
    """A place in the tree of a checkpoint's names: ``weights.layers[3].attn.q.weight``.

    Attributes:
        name: The names on the way to this place, joined by dots.
    """

    @property
    def name(self) -> str:
        """See above."""
        ...

    def __getattr__(self: W, attr: str) -> W:
        """The place below."""
        ...

    def __getitem__(self: W, idx: int | str) -> W:
        """The same, for a number or for any text."""
        ...

    def exists(self) -> bool:
        """Whether there is a tensor of exactly this name."""
        ...

    def items(self: W) -> Iterator[tuple[str, W]]:
        """Every tensor below this place, by its whole name."""
        ...

    def data(self) -> WeightData:
        """The tensor."""
        ...

    def allocate(
        self,
        dtype: DType | None = None,
        shape: ShapeLike | None = None,
        quantization_encoding: object = None,
        device: DeviceRef | None = None,
    ) -> Weight:
        """The tensor as a weight of a graph; from then on its elements are among `allocated_weights`."""
        ...

    @property
    def allocated_weights(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """The elements of all weights that were allocated: for ``save(weights=...)`` and ``weights_registry=``."""
        ...


@dataclass(frozen=True, slots=True)
class WeightData:
    """One tensor of a checkpoint.

    Attributes:
        data: Its elements; a read-only array where they are mapped.
        quantization_encoding: Always None: quantised formats are not read.
    """

    data: np.ndarray[Any, Any]
    name: str
    dtype: DType
    shape: Shape
    quantization_encoding: None = None
    to_buffer = OnlyInMax("give `data` to driver.Buffer.from_dlpack")

    @classmethod
    def from_numpy(cls, arr: np.ndarray[Any, Any], name: str) -> WeightData:
        """An array as weight data.

        Example:
            >>> import numpy as np
            >>> WeightData.from_numpy(np.zeros(3, np.float32), "w").dtype
            float32
        """
        return cls(arr, name, DType.from_numpy(arr.dtype), Shape(arr.shape))

    def astype(self, dtype: DType) -> WeightData:
        """The same in another dtype; a copy."""
        return WeightData(self.data.astype(dtype.to_numpy()), self.name, dtype, self.shape)

    def __dlpack__(self, *, stream: None = None, **options: Any) -> Any:
        return self.data.__dlpack__(stream=stream, **options)

    def __dlpack_device__(self) -> Any:
        return self.data.__dlpack_device__()
