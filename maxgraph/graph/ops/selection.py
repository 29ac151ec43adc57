"""The choice between values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import select
from .registry import op
from .rules import broadcast, need_bool
from .samples import b1, bf16, f16, f32, f64, i16, i64, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["where"]


@op(promoted=["x", "y"])
def where(condition: TensorValueLike, x: TensorValueLike, y: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``x`` where the condition holds, else ``y``, element by element.

    Args:
        condition: A bool tensor.
        x: A tensor, or a number that takes the other's dtype.
        y: Likewise; the dims of all three must be equal or 1.

    Returns:
        A tensor of the common dtype of `x` and `y` and the broadcast shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.where(x > 0, x, 0)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: The condition is not bool, the dtypes do not combine, or the shapes do not broadcast.
    """


@where.types
def _(condition: TensorType, x: TensorType, y: TensorType) -> TensorType:
    need_bool(condition, "condition")
    return x.with_shape(broadcast(condition=condition, x=x, y=y))


@where.lowers
def _(b: Emitter, condition: Handle, x: Handle, y: Handle) -> Handle:
    return select(b, condition, x, y)


@where.reference
def _(condition: Array, x: Array, y: Array) -> Array:
    import numpy as np

    return np.where(condition, x, y)


where.samples(
    {"condition": b1[2, 3], "x": f32[2, 3], "y": f32[3]},
    {"condition": b1[2, 1], "x": i64[1, 3], "y": i64[()]},
    {"condition": b1[4], "x": b1[4], "y": b1[4]},
    {"condition": b1[4], "x": f16[4], "y": f16[4]},
    {"condition": b1[4], "x": bf16[4], "y": bf16[()]},
    {"condition": b1[4], "x": i16[4], "y": i16[4]},
    {"condition": b1[()], "x": u64[2].of([2**63, 1]), "y": u64[2].of([0, 2**64 - 1])},
    {"condition": b1["n:4"], "x": f64["n:4"], "y": f64[1]},
)
