"""Memory that executions read and change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, overload

import numpy as np

from ..dtype import DType
from ..errors import InputError, InputTypeError
from .arrays import Array, array_from_dlpack, dtype_of, scalar_array
from .device import CPU, Accelerator, Device
from .device_memory import lies_on_accelerator
from .indexing import BufferIndex, checked_index

__all__ = ["Buffer", "usable"]

_new = object.__new__


class Buffer:
    """Elements of one type in memory, with a shape. A new one is zero.

    On an accelerator it is a `DeviceBuffer`, whose elements lie there.

    Args:
        dtype: The element type.
        shape: The sizes.
        device: The CPU if it is not given.

    Example:
        >>> from maxgraph.dtype import DType
        >>> memory = np.arange(3.0)
        >>> buffer = Buffer.from_numpy(memory)
        >>> memory[0] = 7
        >>> buffer, buffer[0].item()
        (Buffer(float64[3], cpu:0), 7.0)
    """

    # The engine reads `_array` directly: a method call for each argument of each execution would be felt.
    __slots__ = ("__weakref__", "_array", "_device")
    _array: Array
    _device: Device

    def __new__(cls, dtype: DType, shape: Sequence[int], device: Device | None = None) -> Buffer:
        """A buffer of the kind that the device needs."""
        del dtype, shape
        if isinstance(device, Device) and not device.is_host:
            from .device_buffer import DeviceBuffer

            return _new(DeviceBuffer)
        return _new(cls)

    def __init__(self, dtype: DType, shape: Sequence[int], device: Device | None = None) -> None:
        if not isinstance(dtype, DType):
            raise InputTypeError(f"dtype is a DType, not {type(dtype).__name__} {dtype!r}", code="MG032")
        self._array = np.zeros(tuple(shape), dtype.to_numpy())
        self._device = usable(device)

    @staticmethod
    def _over(array: Array, device: Device) -> Buffer:
        """A buffer over exactly this array, which nobody else must give another shape or dtype."""
        buffer = _new(Buffer)
        buffer._array, buffer._device = array, device  # noqa: SLF001 - its own class
        return buffer

    @staticmethod
    def _on(array: Array, device: Device) -> Buffer:
        """A buffer on a device: over this array on the host, with a copy of it elsewhere."""
        if device.is_host:
            return Buffer._over(array, device)
        from .device_buffer import DeviceBuffer
        from .device_memory import DeviceArray

        return DeviceBuffer.over(DeviceArray.of(array, device))

    @staticmethod
    def from_numpy(arr: Array) -> Buffer:
        """A buffer over an array's own memory, so that either shows what is written to the other.

        An array that is read-only, not C-contiguous or of foreign byte order is copied instead.

        Raises:
            TypeError: It is no numpy array.
            ValueError: Its dtype is no element type of graphs.
        """
        if not isinstance(arr, np.ndarray):
            raise InputTypeError(
                f"a numpy array is wanted, not {type(arr).__name__}", code="MG032", help="numpy.asarray(...) makes one"
            )
        if not arr.dtype.isnative:
            arr = arr.astype(arr.dtype.newbyteorder("="))
        dtype_of(arr)
        # A view of its own: whoever gives the caller's array another shape does not change this buffer's.
        return Buffer._over(arr.view(np.ndarray) if arr.flags.carray else _copied(arr), CPU())

    @staticmethod
    def from_dlpack(array: Any, *, copy: bool | None = None) -> Buffer:
        """A buffer over the memory of a DLPack object (a tensor of PyTorch, JAX, CuPy, numpy, or a buffer).

        A tensor on a CUDA device gives a buffer there, over the same memory.

        Args:
            array: The object.
            copy: True: always copy; False: never; None: only where the memory is read-only or not C-contiguous.

        Raises:
            TypeError: It does not speak DLPack.
            ValueError: Its memory cannot be had, or `copy` is False and it has to be copied.
        """
        if lies_on_accelerator(array):
            from .device_buffer import DeviceBuffer
            from .device_memory import DeviceArray

            shared_there = DeviceArray.from_dlpack(array, Accelerator(int(array.__dlpack_device__()[1])))
            return DeviceBuffer.over(shared_there.copy() if copy else shared_there)
        source = array._array if isinstance(array, Buffer) else array  # noqa: SLF001 - its own class
        shared = source if isinstance(source, np.ndarray) else array_from_dlpack(source)
        if copy is False and not shared.flags.carray:
            raise InputError(
                "this memory has to be copied: it is read-only or not C-contiguous",
                code="MG033",
                help="leave `copy` out to allow that",
            )
        return Buffer.from_numpy(_copied(shared) if copy else shared)

    @staticmethod
    def zeros(shape: Sequence[int], dtype: DType, device: Device | None = None) -> Buffer:
        """A buffer of zeros."""
        return Buffer(dtype, shape, device)

    @staticmethod
    def scalar(value: object, dtype: DType, device: Device | None = None) -> Buffer:
        """A buffer of rank 0.

        Raises:
            TypeError, ValueError: The value is no scalar, or does not fit into `dtype`.
        """
        return Buffer._on(scalar_array(value, dtype), usable(device))

    # What it is ----------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The element type."""
        return DType.from_numpy(self._array.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return tuple(self._array.shape)

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return self._array.ndim

    @property
    def num_elements(self) -> int:
        """How many elements there are."""
        return self._array.size

    @property
    def element_size(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """The distance of neighbours along each axis, in elements."""
        return tuple(stride // self._array.itemsize for stride in self._array.strides)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after another, the last axis fastest."""
        return self._array.flags.c_contiguous

    @property
    def is_host(self) -> bool:
        """Whether it is the host's."""
        return self._device.is_host

    @property
    def device(self) -> Device:
        """Where it is used."""
        return self._device

    # Its elements --------------------------------------------------------------------------------------------------

    def to_numpy(self) -> Array:
        """The elements: the memory itself on the CPU, a copy where the device is an accelerator."""
        return self._array.view() if self.is_host else self._array.copy()

    def item(self) -> Any:
        """The only element, as a Python scalar.

        Raises:
            ValueError: There is not exactly one.
        """
        if self._array.size != 1:
            raise InputError(f"item() wants one element, but there are {self._array.size}", code="MG031")
        return self._array.item()

    def copy(self, device: Device | None = None) -> Buffer:
        """A contiguous copy."""
        return Buffer._on(_copied(self._array), self._device if device is None else usable(device))

    def contiguous(self) -> Buffer:
        """This buffer if it is contiguous, else a copy that is."""
        return self if self.is_contiguous else self.copy()

    @overload
    def to(self, device: Device) -> Buffer: ...
    @overload
    def to(self, device: Sequence[Device]) -> list[Buffer]: ...
    def to(self, device: Device | Sequence[Device]) -> Buffer | list[Buffer]:
        """This buffer if it is on the device already, else a copy there; a list for several devices.

        Raises:
            DeviceError: A device cannot be used.
        """
        if isinstance(device, Device):
            return self if device == self._device else self.copy(device)
        return [self.to(one) for one in device]

    def inplace_copy_from(self, src: Buffer) -> None:
        """Overwrites the elements with those of another buffer.

        Raises:
            ValueError: Its dtype or shape differs.
        """
        self._check_like(src)
        self._array[...] = src._array

    def _check_like(self, src: Buffer) -> None:
        if src.dtype != self.dtype or src.shape != self.shape:
            raise InputError(
                "the two buffers differ", code="MG031", details=[("into", self._text()), ("from", src._text())]
            )

    def view(self, dtype: DType, shape: Sequence[int] | None = None) -> Buffer:
        """The same memory as other elements, of as many bytes.

        Args:
            dtype: The element type.
            shape: The sizes; if it is left out, the last axis grows or shrinks.

        Raises:
            ValueError: The sizes do not match, or the buffer is not contiguous.
        """
        if not self.is_contiguous:
            raise InputError("only a contiguous buffer has views", code="MG033", help="call contiguous() first")
        try:
            flat = self._array.reshape(-1) if shape is not None else self._array
            seen = flat.view(dtype.to_numpy())
            return Buffer._over(seen if shape is None else seen.reshape(tuple(shape)), self._device)
        except ValueError:
            wanted = dtype.name if shape is None else f"{dtype.name}{list(shape)}"
            raise InputError(f"a buffer {self._text()} cannot be seen as {wanted}", code="MG031") from None

    def __getitem__(self, idx: BufferIndex) -> Buffer:
        """A part, over the same memory: one int or slice for each axis."""
        # The Ellipsis keeps numpy from making a scalar, which would be a copy.
        return Buffer._over(self._array[(*checked_index(idx, self.shape), ...)], self._device)

    def __setitem__(self, idx: BufferIndex, value: object) -> None:
        """Sets the elements of a part to a scalar; `inplace_copy_from` copies buffers."""
        self._array[checked_index(idx, self.shape)] = scalar_array(value, self.dtype)

    # Other libraries -----------------------------------------------------------------------------------------------

    def __dlpack__(self, **kwargs: Any) -> Any:
        try:
            return self._array.__dlpack__(**kwargs)
        except BufferError as error:
            raise InputError(
                f"a buffer {self._text()} cannot be exported: {str(error).rstrip('.')}",
                code="MG033",
                help="export view(DType.uint8 or DType.uint16) instead",
            ) from None

    def __dlpack_device__(self) -> tuple[int, int]:
        return cast("tuple[int, int]", self._array.__dlpack_device__())

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Array:  # noqa: FBT001 - numpy's
        return np.array(self._array, dtype=dtype, copy=copy)

    def _text(self) -> str:
        return f"{self._array.dtype.name}{list(self.shape)}"

    def __repr__(self) -> str:
        return f"Buffer({self._text()}, {self._device})"


def usable(device: Device | None) -> Device:
    """The device, or the CPU.

    Raises:
        DeviceError: It cannot be used.
        InputTypeError: It is no device.
    """
    if device is None:
        return CPU()
    if not isinstance(device, Device):
        raise InputTypeError(f"a device is wanted, not {type(device).__name__}", code="MG032", help="e.g. CPU()")
    device.check()
    return device


def _copied(array: Array) -> Array:
    return np.array(array, order="C", copy=True, subok=False)
