"""Several tensors as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..coerce import tensor_of
from ..dim import Dim
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .registry import Refusal, axis_of, op
from .samples import b1, bf16, f32, i64
from .shapes import unsqueeze

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["concat", "stack"]


@op()
def concat(original_vals: Iterable[TensorValueLike], axis: int = 0) -> TensorValue:  # type: ignore[empty-body]
    """Tensors joined along an axis.

    Args:
        original_vals: At least one tensor; all of one dtype and rank, and of equal dims but for the axis.
        axis: The axis.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 2], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.concat([x, x], axis=0)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2*n, 2]

    Raises:
        IndexError: The axis is out of range.
        ValueError: There is no tensor, or dtypes, ranks or other dims differ.
    """


@concat.types
def _(original_vals: list[TensorType], axis: int) -> TensorType:
    if not original_vals:
        raise Refusal("there is nothing to join", code="MG017")
    first = original_vals[0]
    at = axis_of(axis, first.rank)
    total = Dim(0)
    for number, type_ in enumerate(original_vals):
        if type_.dtype is not first.dtype:
            raise Refusal(
                f"operand {number} is {type_.dtype.name}, but operand 0 is {first.dtype.name}",
                code="MG010",
                help="dtypes are not promoted here; cast one of them",
            )
        if type_.rank != first.rank:
            raise Refusal(f"operand {number} has rank {type_.rank}, but operand 0 has {first.rank}", code="MG014")
        for other, (dim, wanted) in enumerate(zip(type_.shape, first.shape, strict=True)):
            if other != at and dim != wanted:
                raise Refusal(
                    f"axis {other} of operand {number} is {dim}, but axis {other} of operand 0 is {wanted}",
                    code="MG015",
                    help=f"all axes but axis {axis} must be equal",
                )
        total = total + type_.shape[at]
    return first.with_shape([*first.shape[:at], total, *first.shape[at + 1 :]])


@concat.lowers
def _(b: Emitter, original_vals: list[Handle], axis: int) -> Handle:
    return b.node("Concat", *original_vals, axis=axis, shape=b.results[0].shape)


@concat.reference
def _(original_vals: list[Array], axis: int) -> Array:
    import numpy as np

    return np.concatenate(original_vals, axis)


concat.samples(
    {"original_vals": [f32[2, 3], f32[1, 3]], "axis": 0},
    {"original_vals": [i64[2, 3], i64[2, 1], i64[2, 0]], "axis": -1},
    {"original_vals": [b1[3]], "axis": 0},
    {"original_vals": [bf16[3], bf16[0]], "axis": 0},
    {"original_vals": [f32["n:4", 2], f32["m:3", 2]], "axis": 0},
)


def stack(values: Iterable[TensorValueLike], axis: int = 0) -> TensorValue:
    """Tensors joined along a new axis.

    Args:
        values: At least one tensor; all of one dtype and shape.
        axis: The new axis, counted in the result.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.stack([x, x, x])
        ...     graph.output(y)
        >>> print(y.type)
        float32[3, 2]

    Raises:
        IndexError: The axis is out of range.
        ValueError: There is no tensor, or dtypes or shapes differ.
    """
    tensors = [tensor_of(v, what=f"stack: `values[{at}]`") for at, v in enumerate(values)]
    return concat([unsqueeze(t, axis) for t in tensors], axis)
