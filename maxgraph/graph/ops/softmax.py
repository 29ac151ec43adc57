"""Softmax and its logarithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS, computed, narrowed, widened
from .registry import Op, axis_of, op
from .rules import need_float
from .samples import bf16, f16, f32, f64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["logsoftmax", "softmax"]


@op()
def softmax(value: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """``exp(x - max) / sum(exp(x - max))`` along one axis.

    Args:
        value: A floating-point tensor.
        axis: The axis.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.softmax(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 3]

    Raises:
        IndexError: The axis is out of range.
        ValueError: `value` is not floating-point.
    """


@op()
def logsoftmax(value: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The logarithm of `softmax`, computed without rounding it first. As `softmax`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.logsoftmax(graph.inputs[0].tensor, axis=0)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 3]
    """


def _normalised(declared: Op[..., Any], onnx_op: str, *, log: bool) -> None:
    """Completes the declaration of a softmax."""

    @declared.types
    def _(value: TensorType, axis: int) -> TensorType:
        axis_of(axis, value.rank)
        need_float(value, "value")
        return value

    @declared.lowers
    def _(b: Emitter, value: Handle, axis: int) -> Handle:
        return computed(b, WIDE_FLOATS, lambda x: b.node(onnx_op, x, axis=axis), value)

    @declared.reference
    def _(value: Array, axis: int) -> Array:
        import numpy as np

        if value.shape[axis] == 0:
            return value
        wide = widened(value)
        moved = wide - wide.max(axis, keepdims=True)
        total = np.exp(moved).sum(axis, keepdims=True)
        result = moved - np.log(total) if log else np.exp(moved) / total
        return narrowed(result, value)

    declared.samples(
        {"value": f32[3, 4], "axis": -1},
        {"value": f64[3, 4], "axis": 0},
        {"value": f16[3, 4], "axis": 1},
        {"value": bf16[2, 4], "axis": 1},
        {"value": f32[2, 2, 3], "axis": -2},
        {"value": f32["n:4", 3], "axis": -1},
        {"value": f32[2, 2].between(50, 90), "axis": 1},
        {"value": f32[0, 2], "axis": 1},
        {"value": f32[2, 0], "axis": 1},
        {"value": f32[2, 2].of([-float("inf"), 0, float("nan"), 1]), "axis": 1},
    )


_normalised(softmax, "Softmax", log=False)
_normalised(logsoftmax, "LogSoftmax", log=True)
