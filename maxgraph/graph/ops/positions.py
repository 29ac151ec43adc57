"""Where the largest and the smallest element along an axis is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .extremes import any_nan, need_elements, need_elements_now, nonempty_axis, ordered
from .registry import Op, op
from .samples import bf16, f16, f32, f64, i16, i64, u8, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["argmax", "argmin"]


def _position(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of the position of an extreme: the first one, NaN counting as an extreme."""

    @declared.types
    def _(x: TensorType, axis: int) -> TensorType:
        return nonempty_axis(x, axis).cast(DType.int64)

    @declared.lowers
    def _(b: Emitter, x: Handle, axis: int) -> Handle:
        def find(op_type: str, y: Handle) -> Handle:
            return b.node(op_type, y, axis=axis, keepdims=1, dtype=DType.int64, shape=b.results[0].shape)

        need_elements(b, x, axis)
        comparable = ordered(b, x)
        found = find(onnx_op, comparable)
        if not x.dtype.is_float():
            return found
        # The kernel passes NaN over; numpy's first NaN wins.
        is_nan, is_any = any_nan(b, comparable, axis)
        return b.node("Where", is_any, find("ArgMax", is_nan), found, dtype=DType.int64)

    @declared.reference
    def _(x: Array, axis: int) -> Array:
        import numpy as np

        need_elements_now(x, axis)
        return getattr(np, numpy_name)(x, axis, keepdims=True)  # type: ignore[no-any-return]

    declared.samples(
        {"x": f32[3, 4], "axis": -1},
        {"x": f64[3, 4], "axis": 0},
        {"x": f16[3, 4], "axis": 1},
        {"x": bf16[3, 4], "axis": 1},
        {"x": i64[5].of([1, 3, 3, 0, 0]), "axis": 0},
        {"x": u8[2, 3].between(0, 9), "axis": 1},
        {"x": i16[2, 3], "axis": 1},
        {"x": u64[4].of([5, 2**63, 1, 2**64 - 1]), "axis": 0},
        {"x": f32["n:4", 3], "axis": -1},
        {"x": f32["n:4", 3], "axis": 0},
        {"x": f32[0, 3], "axis": 1},
        {"x": f32[4].of([1, float("nan"), 5, float("nan")]), "axis": 0},
    )


@op()
def argmax(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """Where the largest element along one axis is; the first one, or the first NaN.

    Args:
        x: A tensor of numbers.
        axis: The axis, which stays with size 1.

    Returns:
        An int64 tensor of the same rank.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.argmax(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        int64[2, 1]

    Raises:
        IndexError: The axis is out of range.
        ValueError: `x` is bool, or the axis is empty.
    """


@op()
def argmin(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """Where the smallest element along one axis is. As `argmax`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.argmin(graph.inputs[0].tensor, axis=0)
        ...     graph.output(y)
        >>> print(y.type)
        int64[1, 3]
    """


_position(argmax, "ArgMax", "argmax")
_position(argmin, "ArgMin", "argmin")
