"""From the header's tables of types and devices to types."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ..graph.shape import Shape
from ..graph.type import BufferType, DeviceRef, TensorType
from ..v1 import model_pb2, types_pb2
from .checks import FirstUse
from .decode_dims import DimTable
from .errors import fail, need
from .limits import Limits
from .tables import DTYPES

__all__ = ["TypeTable"]


class TypeTable:
    """The types of a model, and what they are made of.

    Each table must be in order of first use, so that equal models have equal bytes. A type is decoded when it is first
    used.
    """

    def __init__(self, model: model_pb2.Model, limits: Limits) -> None:
        self._model = model
        self._limits = limits
        self._dims = DimTable(model, limits)
        for device in model.devices:
            need(device.kind in (1, 2), "MGT02", f"unknown kind of device {device.kind}")
        need(len({(d.kind, d.ordinal) for d in model.devices}) == len(model.devices), "MGT02", "a device appears twice")
        self._devices = FirstUse(len(model.devices), "MGT02", "device")
        encoded = {entry.SerializeToString(deterministic=True) for entry in model.types}
        need(len(encoded) == len(model.types), "MGT08", "a type appears twice")
        self._types = FirstUse(len(model.types), "MGT10", "type")
        self._decoded: list[TensorType | BufferType] = []

    @property
    def used(self) -> set[str]:
        """The features that the types need."""
        return self._dims.used

    def type(self, index: int) -> TensorType | BufferType:
        """The type at an index, of either kind."""
        if self._types.use(index, "MGT09"):
            self._decoded.append(self._decode(self._model.types[index]))
        return self._decoded[index]

    def tensor(self, index: int) -> TensorType:
        """The tensor type at an index."""
        type_ = self.type(index)
        if not isinstance(type_, TensorType):
            fail("MGT09", f"{type_} where a tensor type is needed")
        return type_

    def static(self, type_: TensorType | BufferType, code: str, what: str) -> int:
        """The number of bytes in the file of a type with static dims."""
        if not type_.is_static:
            fail(code, f"{what} needs static dims, not {type_.shape.text}")
        # A dim of 0 does not hide a huge one beside it: numpy refuses such shapes.
        if prod(int(dim) or 1 for dim in type_.shape) > self._limits.elements:
            fail(code, f"{what} has too many elements: {type_.shape.text}")
        return type_.num_bytes

    def shape(self, dims: Iterable[types_pb2.Dim], count: int) -> Shape:
        """A list of so many dims as a shape."""
        need(count <= self._limits.rank, "MGT05", f"rank {count} is over {self._limits.rank}")
        shape = Shape(self._dims.dim(dim) for dim in dims)
        cost = prod(len(dim.polynomial.terms) or 1 for dim in shape)
        need(cost <= self._limits.shape_terms, "MGT07", "a shape with too many terms")
        return shape

    def finish(self) -> None:
        """Raises where an entry of a table was never used."""
        self._types.finish("MGT11")
        self._dims.finish()
        self._devices.finish("MGT02")

    def _decode(self, entry: types_pb2.Type) -> TensorType | BufferType:
        kind = entry.WhichOneof("kind")
        if kind is None:
            fail("MGT03", "a type is neither a tensor nor a buffer")
        body = entry.tensor if kind == "tensor" else entry.buffer
        dtype = DTYPES.get(body.dtype)
        if dtype is None:
            fail("MGT04", f"unknown element type {body.dtype}")
        self._devices.use(body.device, "MGT06")
        device = self._model.devices[body.device]
        place = DeviceRef("gpu" if device.kind == types_pb2.Device.KIND_GPU else "cpu", device.ordinal)
        shape = self.shape(body.shape, len(body.shape))
        negative = any(dim.polynomial.value is not None and dim.polynomial.value < 0 for dim in shape)
        need(not negative, "MGT07", f"a type with a negative dim: {shape.text}")
        return (TensorType if kind == "tensor" else BufferType)(dtype, shape, place)
