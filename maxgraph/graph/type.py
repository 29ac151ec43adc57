"""The types of values: tensors, buffers, and the devices that they lie on."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from ..dtype import DType
from ..errors import GraphTypeError, TypeRuleError
from .dim import Dim, StaticDim, SymbolicDim
from .only_in_max import MLIR, OnlyInMax
from .shape import Shape, ShapeLike

__all__ = [
    "BufferType",
    "ConvInputLayout",
    "DeviceKind",
    "DeviceRef",
    "FilterLayout",
    "TensorType",
    "TensorTypeBase",
    "Type",
    "static_dim",
]


class DeviceKind(Enum):
    """The kinds of devices that a graph can name."""

    CPU = "cpu"
    GPU = "gpu"

    def __str__(self) -> str:
        return self.value

    @staticmethod
    def from_string(txt: str) -> DeviceKind:
        """``"cpu"`` or ``"gpu"``.

        Raises:
            ValueError: Any other text.
        """
        for kind in DeviceKind:
            if kind.value == txt:
                return kind
        raise TypeRuleError(f"there is no device kind {txt!r}", code="MG017", help="use 'cpu' or 'gpu'")


class DeviceRef:
    """A logical device: a name in the graph that a session maps to real hardware.

    Example:
        >>> DeviceRef.CPU(), str(DeviceRef.GPU(1))
        (DeviceRef(cpu:0), 'gpu:1')
    """

    __slots__ = ("device_type", "id")
    to_mlir = OnlyInMax(MLIR)
    from_mlir = OnlyInMax(MLIR)
    to_device = OnlyInMax("a reference is only a name: make the device itself, driver.CPU() or driver.Accelerator(id)")

    def __init__(self, device_type: DeviceKind | str, id: int = 0) -> None:  # noqa: A002 - MAX's name
        self.device_type = DeviceKind.from_string(device_type) if isinstance(device_type, str) else device_type
        self.id = max(0, int(id))

    @staticmethod
    def CPU(id: int = 0) -> DeviceRef:  # noqa: A002, N802 - MAX's name
        """A CPU."""
        return DeviceRef(DeviceKind.CPU, id)

    @staticmethod
    def GPU(id: int = 0) -> DeviceRef:  # noqa: A002, N802 - MAX's name
        """A GPU."""
        return DeviceRef(DeviceKind.GPU, id)

    @staticmethod
    def from_device(device: Any) -> DeviceRef:
        """The reference to a driver's device (anything with ``label`` and ``id``), or the reference given.

        Raises:
            TypeError: It is no device.
        """
        if isinstance(device, DeviceRef):
            return device
        if hasattr(device, "label") and hasattr(device, "id"):
            return DeviceRef(str(device.label), int(device.id))
        raise GraphTypeError(
            f"a device is wanted, not {type(device).__name__}", code="MG017", help="use DeviceRef.CPU() or .GPU()"
        )

    def is_cpu(self) -> bool:
        """Whether this is a CPU."""
        return self.device_type is DeviceKind.CPU

    def is_gpu(self) -> bool:
        """Whether this is a GPU."""
        return self.device_type is DeviceKind.GPU

    def __str__(self) -> str:
        return f"{self.device_type}:{self.id}"

    def __repr__(self) -> str:
        return f"DeviceRef({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceRef) and (self.device_type, self.id) == (other.device_type, other.id)

    def __hash__(self) -> int:
        return hash((self.device_type, self.id))


class Type:
    """The base of all value types."""

    __slots__ = ()
    to_mlir = OnlyInMax(MLIR)
    from_mlir = OnlyInMax(MLIR)


class TensorTypeBase(Type):
    """What tensors and buffers have in common: element type, shape, device.

    Attributes:
        dtype: The element type.
        shape: The dims.
        device: The logical device.

    Raises:
        TypeError: `dtype` is no DType, or a static dim is negative.
    """

    __slots__ = ("device", "dtype", "shape")

    def __init__(self, dtype: DType, shape: ShapeLike, device: DeviceRef | Any) -> None:
        if not isinstance(dtype, DType):
            raise GraphTypeError(
                f"dtype is a DType, not {type(dtype).__name__} {dtype!r}", code="MG016", help="e.g. DType.float32"
            )
        self.dtype = dtype
        self.shape = Shape(shape)
        for dim in self.shape:
            if isinstance(dim, StaticDim) and int(dim) < 0:
                raise GraphTypeError(f"a dimension cannot be negative: {self.shape.text}", code="MG023")
        self.device = DeviceRef.from_device(device)

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether all dims are static."""
        return Shape.is_static(self.shape)

    def num_elements(self) -> int:
        """The number of elements.

        Raises:
            TypeError: A dim is not static.
        """
        return int(self.shape.num_elements)

    @property
    def num_bytes(self) -> int:
        """Bytes that the elements take; sub-byte types are packed.

        Raises:
            TypeError: A dim is not static.
        """
        return (self.num_elements() * self.dtype.size_in_bits + 7) // 8

    @property
    def parameters(self) -> Iterable[SymbolicDim]:
        """The symbols of the shape."""
        return self.shape.parameters

    def _key(self) -> tuple[object, ...]:
        return (type(self), self.dtype, tuple(self.shape), self.device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorTypeBase) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        device = "" if self.device == DeviceRef.CPU() else f" {self.device}"
        return f"{self.dtype.name}{self.shape.text}{device}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dtype={self.dtype!r}, shape={list(self.shape)!r}, device={self.device})"


class TensorType(TensorTypeBase):
    """The type of an immutable value.

    Example:
        >>> print(TensorType(DType.float32, ["batch", 8], DeviceRef.CPU()))
        float32[batch, 8]
    """

    __slots__ = ()

    def as_buffer(self) -> BufferType:
        """The buffer type with the same dtype, shape and device."""
        return BufferType(self.dtype, self.shape, self.device)

    def cast(self, dtype: DType) -> TensorType:
        """The same with another dtype."""
        return TensorType(dtype, self.shape, self.device)

    def with_shape(self, shape: ShapeLike) -> TensorType:
        """The same with another shape."""
        return TensorType(self.dtype, shape, self.device)


class BufferType(TensorTypeBase):
    """The type of memory that a graph changes in place.

    Example:
        >>> print(BufferType(DType.float32, [4], DeviceRef.CPU()))
        buffer float32[4]
    """

    __slots__ = ()

    def as_tensor(self) -> TensorType:
        """The tensor type of what a load gives."""
        return TensorType(self.dtype, self.shape, self.device)

    def cast(self, dtype: DType) -> BufferType:
        """The same with another dtype."""
        return BufferType(dtype, self.shape, self.device)

    def __str__(self) -> str:
        return f"buffer {super().__str__()}"


class FilterLayout(Enum):
    """The order of a filter's axes: F output channels, C input channels, Q depth, R height, S width."""

    RSCF = "RSCF"
    QRSCF = "QRSCF"
    FCRS = "FCRS"
    FCQRS = "FCQRS"
    CFRS = "CFRS"


class ConvInputLayout(Enum):
    """Whether the channels of a convolution's input come last or second."""

    NHWC = "NHWC"
    NCHW = "NCHW"


def static_dim(dim: Dim) -> int | None:
    """The size of a static dim, else None."""
    return int(dim) if isinstance(dim, StaticDim) else None
