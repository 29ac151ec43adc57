"""Values between devices, and to a person's eyes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import DeviceRef, TensorType
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .registry import op
from .samples import f32, i64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["print_", "transfer_to"]


def transfer_to(x: TensorValueLike, device: DeviceRef | Any) -> TensorValue:  # noqa: ANN401 - a driver device
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
def _transfer_to(x: TensorValueLike, type: TensorType) -> TensorValue:  # type: ignore[empty-body]  # noqa: A002
    """A copy on another device."""


@_transfer_to.types
def _(x: TensorType, type: TensorType) -> TensorType:  # noqa: A002 - the op's attribute
    return TensorType(x.dtype, x.shape, type.device)


@_transfer_to.lowers
def _(b: Emitter, x: Handle, type: TensorType) -> Handle:  # noqa: A002, ARG001 - onnxruntime places the copy itself
    return b.node("Identity", x)


@_transfer_to.reference
def _(x: Array, type: TensorType) -> Array:  # noqa: A002, ARG001 - numpy has one device
    return x.copy()


def _gpu(*dims: int) -> TensorType:
    return TensorType(DType.float32, dims, DeviceRef.GPU())


_transfer_to.samples({"x": f32[2, 3], "type": _gpu(2, 3)}, {"x": f32[()], "type": _gpu()})


def print_(value: TensorValueLike, label: str = "debug_tensor") -> None:
    """Shows a tensor on standard output each time the graph has run; several in program order.

    Args:
        value: A tensor.
        label: What is written before it.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2], DeviceRef.CPU())]) as graph:
        ...     ops.print(graph.inputs[0].tensor, "x")
        ...     graph.output()
    """
    _print(tensor_operand(value, "print", "value"), label)


@op(name="print")
def _print(x: TensorValueLike, label: str) -> None:
    """Shows a tensor."""


@_print.types
def _(x: TensorType, label: str) -> None:
    """Any tensor can be shown."""


@_print.lowers
def _(b: Emitter, x: Handle, label: str) -> None:
    b.print(label, x)


@_print.reference
def _(x: Array, label: str) -> None:
    print(printed(label, x))  # noqa: T201 - this is what the op is for


def printed(label: str, x: Array) -> str:
    """What is shown of a tensor."""
    return f"{label}: {x.dtype.name}{list(x.shape)} {x.tolist() if x.ndim == 0 else x}"


_print.samples({"x": f32[2, 2], "label": "a"}, {"x": i64[()], "label": "b"})
