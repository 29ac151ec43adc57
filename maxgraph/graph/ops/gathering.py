"""Elements picked by index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError
from ..shape import Shape
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .registry import Refusal, axis_of, op
from .samples import b1, bf16, f32, i32, i64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["gather"]


@op()
def gather(input: TensorValueLike, indices: TensorValueLike, axis: int) -> TensorValue:  # type: ignore[empty-body]
    """The parts of a tensor at given positions of one axis.

    Args:
        input: A tensor.
        indices: int32 or int64 positions, of any shape; negative ones count from the end.
        axis: The axis of `input`.

    Returns:
        A tensor of the input's dtype in which the axis is replaced by the axes of `indices`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [TensorType(DType.float32, [10, 4], cpu), TensorType(DType.int64, ["n"], cpu)]
        >>> with Graph("g", input_types=types) as graph:
        ...     table, indices = graph.inputs
        ...     y = ops.gather(table, indices, axis=0)
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 4]

    Raises:
        IndexError: The axis is out of range.
        ValueError: `indices` are not int32 or int64. When the graph runs: an index is out of range.
    """


@gather.types
def _(input: TensorType, indices: TensorType, axis: int) -> TensorType:
    at = axis_of(axis, input.rank)
    if indices.dtype not in (DType.int32, DType.int64):
        raise Refusal(
            f"`indices` must be int32 or int64, not {indices.dtype.name}",
            code="MG016",
            help="cast them: indices.cast(DType.int64)",
        )
    return input.with_shape([*input.shape[:at], *indices.shape, *input.shape[at + 1 :]])


@gather.lowers
def _(b: Emitter, input: Handle, indices: Handle, axis: int) -> Handle:
    size = input.shape[axis]
    wide = b.cast(indices, DType.int64)
    length = b.dims(Shape([size]))
    low = b.node("GreaterOrEqual", wide, b.node("Neg", length), dtype=DType.bool, since=16)
    high = b.node("Less", wide, length, dtype=DType.bool)
    inside = b.cast(b.node("And", low, high), DType.int32)
    flat = b.node("Reshape", inside, b.constant([-1]))
    # An empty list of indices has no smallest one: the 1 that is joined to it stands for "all are inside".
    smallest = b.node("ReduceMin", b.node("Concat", flat, b.constant([1], DType.int32), axis=0), keepdims=0, since=18)
    zero = b.check(b.cast(smallest, DType.bool), f"an index is out of range for axis {axis} of size {size}")
    return b.node("Gather", input, b.node("Add", wide, zero), axis=axis, shape=b.results[0].shape)


@gather.reference
def _(input: Array, indices: Array, axis: int) -> Array:
    import numpy as np

    size = input.shape[axis]
    wrong = indices[(indices < -size) | (indices >= size)]
    if wrong.size:
        raise Refusal(
            f"index {int(wrong.ravel()[0])} is out of range for axis {axis} of size {size}",
            code="MG035",
            error=ExecutionError,
        )
    return np.take(input, indices, axis)


gather.samples(
    {"input": f32[5, 3], "indices": i64[4].between(0, 5), "axis": 0},
    {"input": f32[5, 3], "indices": i32[2, 2].between(-3, 3), "axis": 1},
    {"input": i64[5], "indices": i64[()].of(-1), "axis": 0},
    {"input": f32["n:4", 2], "indices": i64["k:3"].between(0, 4), "axis": 0},
    {"input": f32[5, 3], "indices": i64[0], "axis": 0},
    {"input": f32[0, 3], "indices": i64[0], "axis": 0},
    {"input": b1[5], "indices": i32[2].between(0, 5), "axis": -1},
    {"input": bf16[2, 5], "indices": i64[2].between(0, 5), "axis": -1},
)
