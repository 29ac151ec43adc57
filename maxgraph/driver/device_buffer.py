"""Buffers in an accelerator's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ..dtype import DType
from ..errors import InputError, UnsupportedError
from .arrays import Array, scalar_array
from .buffer import Buffer, usable
from .device import Device
from .device_memory import DeviceArray
from .indexing import BufferIndex, checked_index

__all__ = ["DeviceBuffer"]


class DeviceBuffer(Buffer):
    """A `Buffer` whose elements lie in an accelerator's memory, and stay there.

    Executions on that accelerator read and change them where they are. What looks at elements from here copies them to
    the host, and what sets some of them copies all of them there and back.

    Attributes:
        memory: The elements.
    """

    __slots__ = ("memory",)
    memory: DeviceArray

    def __init__(self, dtype: DType, shape: Sequence[int], device: Device | None = None) -> None:
        device = usable(device)
        self.memory = DeviceArray.zeros(shape, dtype.to_numpy(), device)
        self._device = device

    @staticmethod
    def over(memory: DeviceArray) -> DeviceBuffer:
        """A buffer over exactly this memory."""
        buffer = object.__new__(DeviceBuffer)
        buffer.memory, buffer._device = memory, memory.device
        return buffer

    @property
    def _array(self) -> Array:  # type: ignore[override]  # an attribute there, since that is quicker
        """A copy, which says so: whoever writes to it gets an error instead of losing what is written."""
        host = self.memory.to_host()
        host.flags.writeable = False
        return host

    # What it is: without a look at the elements

    @property
    def dtype(self) -> DType:
        """The element type."""
        return DType.from_numpy(self.memory.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return self.memory.shape

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return self.memory.ndim

    @property
    def num_elements(self) -> int:
        """How many elements there are."""
        return self.memory.size

    @property
    def element_size(self) -> int:
        """Bytes of one element."""
        return self.memory.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Always."""
        return True

    # Its elements

    def to_numpy(self) -> Array:
        """A copy of the elements."""
        return self.memory.to_host()

    def copy(self, device: Device | None = None) -> Buffer:
        """A copy on the same device, or on another."""
        if device is None or device == self._device:
            return DeviceBuffer.over(self.memory.copy())
        return Buffer._on(self.memory.to_host(), usable(device))  # noqa: SLF001 - its base class

    def inplace_copy_from(self, src: Buffer) -> None:
        """See `Buffer.inplace_copy_from`. Between buffers of one accelerator nothing passes the host."""
        self._check_like(src)
        self.memory.copy_from(src.memory if isinstance(src, DeviceBuffer) else src._array)  # noqa: SLF001 - its base class

    def view(self, dtype: DType, shape: Sequence[int] | None = None) -> Buffer:
        """Not supported.

        Raises:
            UnsupportedError: Always.
        """
        del dtype, shape
        raise self._no_parts("other elements")

    def __getitem__(self, idx: BufferIndex) -> Buffer:
        """Not supported.

        Raises:
            UnsupportedError: Always: a part would have to share the memory.
        """
        del idx
        raise self._no_parts("parts")

    def __setitem__(self, idx: BufferIndex, value: object) -> None:
        """Sets the elements of a part to a scalar."""
        host = self.memory.to_host()
        host[checked_index(idx, self.shape)] = scalar_array(value, self.dtype)
        self.memory.copy_from(host)

    # Other libraries

    def __dlpack__(self, **kwargs: Any) -> Any:
        if self.memory.dtype.isbuiltin != 1 or not self.memory.size:
            raise InputError(
                f"a buffer {self._text()} cannot be exported", code="MG033", help="export to_numpy() instead"
            )
        if kwargs.get("copy"):
            return DeviceBuffer.over(self.memory.copy()).__dlpack__()
        # An execution ends when its stream is done, so there is nothing to wait for, whatever stream is named.
        return self.memory.value.to_dlpack()

    def __dlpack_device__(self) -> tuple[int, int]:
        return cast("tuple[int, int]", self.memory.value.__dlpack_device__())

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Array:  # noqa: FBT001 - numpy's
        if copy is False:
            raise InputError("elements on an accelerator have to be copied to the host", code="MG033")
        return self.memory.to_host().astype(dtype or self.memory.dtype, copy=False)

    def _text(self) -> str:
        return f"{self.memory.dtype.name}{list(self.shape)}"

    def _no_parts(self, what: str) -> UnsupportedError:
        return UnsupportedError(
            f"{what} of a buffer on {self._device} cannot be had", code="MG042", help="copy it first: buffer.to(CPU())"
        )
