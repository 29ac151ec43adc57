"""Values between devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import DeviceRef, TensorType
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .registry import op
from .samples import f32

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["transfer_to"]


def transfer_to(x: TensorValueLike, device: DeviceRef | Any) -> TensorValue:
    """The tensor on another device; the tensor itself where it is there already.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2], DeviceRef.CPU())]) as graph:
        ...     y = ops.transfer_to(graph.inputs[0].tensor, DeviceRef.GPU())
        ...     graph.output(y)
        >>> print(y.type)
        float32[2] gpu:0

    Raises:
        TypeError: `device` is no device.
    """
    value = tensor_operand(x, "transfer_to", "x")
    place = DeviceRef.from_device(device)
    if value.device == place:
        return value
    return _transfer_to(value, TensorType(value.dtype, value.shape, place))


@op(name="transfer_to")
def _transfer_to(x: TensorValueLike, type: TensorType) -> TensorValue:  # type: ignore[empty-body]
    """A copy on another device."""


@_transfer_to.types
def _(x: TensorType, type: TensorType) -> TensorType:
    return TensorType(x.dtype, x.shape, type.device)


@_transfer_to.lowers
def _(b: Emitter, x: Handle, type: TensorType) -> Handle:
    return b.node("Identity", x)


@_transfer_to.reference
def _(x: Array, type: TensorType) -> Array:
    return x.copy()


def _gpu(*dims: int) -> TensorType:
    return TensorType(DType.float32, dims, DeviceRef.GPU())


_transfer_to.samples({"x": f32[2, 3], "type": _gpu(2, 3)}, {"x": f32[()], "type": _gpu()})
