"""Memory that goes into a graph and comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from ..dtype import DType
from ..errors import DeviceError, InputError, InputTypeError
from .device import CPU, Device

__all__ = ["Buffer"]

Array = np.ndarray[Any, Any]


class Buffer:
    """A block of elements with a dtype and a shape, on the CPU.

    A buffer made from a numpy array shares its memory where that can be: when a graph stores into the buffer, the
    caller's array changes.

    Args:
        dtype: The element type.
        shape: The sizes.
        device: The CPU; memory of a GPU is managed by the session.

    Example:
        >>> import numpy as np
        >>> array = np.zeros(3, np.float32)
        >>> buffer = Buffer.from_numpy(array)
        >>> buffer[1] = 5.0
        >>> array.tolist(), buffer.dtype, buffer.shape
        ([0.0, 5.0, 0.0], float32, (3,))

    Raises:
        ValueError: A device other than the CPU.
    """

    __slots__ = ("__weakref__", "_array")
    _array: Array

    def __init__(self, dtype: DType, shape: Sequence[int], device: Device | None = None) -> None:
        _host(device)
        self._array = np.zeros(tuple(shape), dtype.to_numpy())

    @classmethod
    def _over(cls, array: Array) -> Buffer:
        buffer = cls.__new__(cls)
        buffer._array = array
        return buffer

    @staticmethod
    def from_numpy(arr: Array) -> Buffer:
        """A buffer over an array's memory; over a copy, where the array is read-only or not C-contiguous.

        Raises:
            TypeError: It is no array, or its dtype has no counterpart.
        """
        if not isinstance(arr, np.ndarray):
            raise InputTypeError(f"a numpy array is wanted, not {type(arr).__name__}", code="MG033")
        try:
            DType.from_numpy(arr.dtype)
        except ValueError as error:
            raise InputTypeError(str(error), code="MG032") from None
        shares = arr.flags.c_contiguous and arr.flags.writeable
        return Buffer._over(arr.view(np.ndarray) if shares else np.array(arr, order="C", copy=True))

    @staticmethod
    def from_dlpack(array: Any, *, copy: bool | None = None) -> Buffer:  # noqa: ANN401 - anything with DLPack
        """A buffer over the memory of anything with DLPack.

        Args:
            array: The owner of the memory.
            copy: True: always copy; False: fail where a copy would be needed; None: copy where it is needed.

        Raises:
            TypeError: It has no DLPack, or is not on the CPU.
            ValueError: `copy` is False and a copy is needed.
        """
        if not hasattr(array, "__dlpack__"):
            raise InputTypeError(f"{type(array).__name__} does not speak DLPack", code="MG033")
        try:
            view = np.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise InputTypeError(f"this DLPack memory cannot be used: {error}", code="MG033") from None
        shares = view.flags.c_contiguous and view.flags.writeable
        if copy is False and not shares:
            raise InputError("this DLPack memory cannot be used without a copy", code="MG033")
        return Buffer._over(view if shares and not copy else np.array(view, order="C", copy=True))

    @staticmethod
    def zeros(shape: Sequence[int], dtype: DType, device: Device | None = None) -> Buffer:
        """A buffer of zeros."""
        return Buffer(dtype, shape, device)

    @staticmethod
    def scalar(value: Any, dtype: DType, device: Device | None = None) -> Buffer:  # noqa: ANN401 - a Python number
        """A buffer of rank 0."""
        _host(device)
        return Buffer._over(np.array(value, dtype.to_numpy()))

    @property
    def dtype(self) -> DType:
        """The element type."""
        return DType.from_numpy(self._array.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return self._array.shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self._array.ndim

    @property
    def num_elements(self) -> int:
        """The number of elements."""
        return self._array.size

    @property
    def element_size(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in one block, in order."""
        return bool(self._array.flags.c_contiguous)

    @property
    def is_host(self) -> bool:
        """Whether it lies in the process's own memory."""
        return True

    @property
    def device(self) -> Device:
        """Where it lies."""
        return CPU()

    def to_numpy(self) -> Array:
        """The same memory as an array."""
        return self._array

    def copy(self, device: Device | None = None) -> Buffer:
        """A buffer of its own memory with the same elements."""
        _host(device)
        return Buffer._over(self._array.copy())

    def contiguous(self) -> Buffer:
        """Itself if it is contiguous, else a contiguous copy."""
        return self if self.is_contiguous else self.copy()

    def to(self, device: Device) -> Buffer:
        """Itself: all buffers lie on the CPU."""
        _host(device)
        return self

    def view(self, dtype: DType, shape: Sequence[int] | None = None) -> Buffer:
        """The same bytes as elements of another type.

        Raises:
            ValueError: The numbers of bytes differ.
        """
        try:
            array = self._array.reshape(-1).view(dtype.to_numpy())
            return Buffer._over(array if shape is None else array.reshape(tuple(shape)))
        except ValueError:
            wanted = f"{dtype.name}{list(shape) if shape is not None else ''}"
            raise InputError(f"{self!r} has not the bytes of {wanted}", code="MG031") from None

    def inplace_copy_from(self, src: Buffer) -> None:
        """Copies another buffer's elements into this one.

        Raises:
            ValueError: Dtypes or shapes differ.
        """
        if src._array.dtype != self._array.dtype or src.shape != self.shape:
            raise InputError(f"{src!r} cannot be copied into {self!r}", code="MG031")
        np.copyto(self._array, src._array)

    def item(self) -> Any:  # noqa: ANN401 - a Python number
        """The one element.

        Raises:
            ValueError: There is not exactly one.
        """
        if self._array.size != 1:
            raise InputError(f"{self!r} does not hold exactly one element", code="MG031")
        return self._array.item()

    def __getitem__(self, idx: SupportsIndex | slice | Sequence[SupportsIndex | slice]) -> Buffer:
        return Buffer._over(np.asarray(self._array[self._index(idx)]))

    def __setitem__(
        self, idx: SupportsIndex | slice | Sequence[SupportsIndex | slice], value: float | Buffer
    ) -> None:
        self._array[self._index(idx)] = value._array if isinstance(value, Buffer) else value

    def _index(self, idx: Any) -> tuple[Any, ...]:  # noqa: ANN401 - what the user wrote in brackets
        index = tuple(idx) if isinstance(idx, (tuple, list)) else (idx,)
        if len(index) != self.rank:
            raise InputError(f"a buffer of rank {self.rank} takes {self.rank} indices, not {len(index)}", code="MG035")
        # An integer as a range of one keeps a view of the memory where numpy would make a scalar.
        return (*index, ...)

    def __dlpack__(self, *, stream: int | None = None, **kwargs: Any) -> Any:  # noqa: ANN401 - the protocol's own
        return self._array.__dlpack__(stream=stream, **kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()  # type: ignore[return-value]  # numpy names the enum

    def __repr__(self) -> str:
        return f"Buffer({self._array.dtype.name}{list(self.shape)}, {self.device!r})"


def _host(device: Device | None) -> None:
    if device is not None and not device.is_host:
        raise DeviceError(
            "buffers lie on the CPU; a session on a GPU copies what it needs",
            code="MG040",
            help="leave the device out",
        )
