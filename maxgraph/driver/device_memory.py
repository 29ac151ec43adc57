"""Memory of an accelerator, allocated by onnxruntime or borrowed from a DLPack tensor."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtype import DType
from ..errors import InputError, InternalError
from .arrays import Array, dtype_of

if TYPE_CHECKING:
    from .device import Device

__all__ = ["DeviceArray", "lies_on_accelerator"]

_logger = logging.getLogger("maxgraph.driver")
_DLPACK_CPU = 1
#: onnxruntime's names of element types, where they are not our own.
_NAMES = {
    "float": "float32",
    "double": "float64",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
}


class DeviceArray:
    """Row-major elements in an accelerator's memory. Its address never changes.

    Elements that numpy does not have itself (bfloat16, float8) lie in a value of bytes.

    Attributes:
        device: The accelerator.
        dtype: The element type, as numpy has it.
        shape: The sizes.
        address: Where the first element lies.
        value: onnxruntime's value, which keeps the memory alive.
    """

    __slots__ = ("__weakref__", "address", "device", "dtype", "shape", "value")

    def __init__(self, value: Any, dtype: np.dtype[Any], shape: Sequence[int], device: Device) -> None:
        self.value = value
        self.dtype = dtype
        self.shape = tuple(int(size) for size in shape)
        self.device = device
        self.address: int = value.data_ptr()

    @staticmethod
    def zeros(shape: Sequence[int], dtype: np.dtype[Any], device: Device) -> DeviceArray:
        """New memory, zeroed."""
        return DeviceArray.of(np.zeros(tuple(shape), dtype), device)

    @staticmethod
    def empty(shape: Sequence[int], dtype: np.dtype[Any], device: Device) -> DeviceArray:
        """New memory, to be written whole before it is read."""
        from onnxruntime.capi.onnxruntime_pybind11_state import OrtValue

        held_as, held_shape = _held(dtype, shape)
        value = OrtValue.ortvalue_from_shape_and_type(held_shape, held_as.type, device.ort_device())
        return DeviceArray(value, dtype, shape, device)

    @staticmethod
    def of(array: Array, device: Device) -> DeviceArray:
        """A copy of an array."""
        dtype_of(array)
        made = DeviceArray.empty(array.shape, array.dtype, device)
        made.copy_from(array)
        return made

    @staticmethod
    def from_dlpack(source: Any, device: Device) -> DeviceArray:
        """The memory of another library's tensor, not copied.

        Raises:
            InputError: It is not C-contiguous, or its elements are none of ours.
        """
        from onnxruntime.capi.onnxruntime_pybind11_state import OrtValue

        try:
            value = OrtValue.from_dlpack(source.__dlpack__())
            name = value.data_type().removeprefix("tensor(").removesuffix(")")
            dtype = DType[_NAMES.get(name, name)].to_numpy()
        except Exception as error:  # noqa: BLE001 - onnxruntime's, the other library's, or KeyError
            _logger.debug("dlpack: %s", error)
            raise InputError(
                f"the memory of this {type(source).__name__} cannot be shared",
                code="MG033",
                help="give a C-contiguous tensor whose elements a graph can have",
            ) from None
        return DeviceArray(value, dtype, value.shape(), device)

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    def to_host(self) -> Array:
        """A copy of the elements."""
        host = np.array(self.value.numpy())
        return host if host.dtype == self.dtype else host.view(self.dtype).reshape(self.shape)

    def copy_from(self, source: Array | DeviceArray) -> None:
        """Overwrites all elements; that is done when it returns.

        Raises:
            InternalError: The two are not of one dtype and size; onnxruntime would not notice.
        """
        if source.dtype != self.dtype or source.size != self.size:
            raise InternalError(f"{source.dtype}{source.shape} is copied into {self.dtype}{self.shape}", code="MG099")
        if not self.size:
            return
        if isinstance(source, DeviceArray):
            self.value.update_inplace(source.value)
            _wait(self.device)
        else:
            held_as, held_shape = _held(self.dtype, self.shape)
            self.value.update_inplace(np.ascontiguousarray(source).view(held_as).reshape(held_shape))

    def copy(self) -> DeviceArray:
        """The same in new memory."""
        made = DeviceArray.empty(self.shape, self.dtype, self.device)
        made.copy_from(self)
        return made


_probes: dict[Device, Any] = {}


def _wait(device: Device) -> None:
    """Returns when all copies on the accelerator are done: one from it to the host waits for those before it."""
    if device not in _probes:
        from onnxruntime.capi.onnxruntime_pybind11_state import OrtValue

        _probes[device] = OrtValue.ortvalue_from_shape_and_type([1], np.uint8, device.ort_device())
    _probes[device].numpy()


def _held(dtype: np.dtype[Any], shape: Sequence[int]) -> tuple[np.dtype[Any], list[int]]:
    """The element type and shape of the value that holds such elements."""
    if dtype.isbuiltin == 1:
        return dtype, list(shape)
    return np.dtype(np.uint8), [int(np.prod(shape, dtype=np.int64)) * dtype.itemsize]


def lies_on_accelerator(source: Any) -> bool:
    """Whether a DLPack object's memory is an accelerator's."""
    where = getattr(source, "__dlpack_device__", None)
    return where is not None and int(where()[0]) != _DLPACK_CPU
