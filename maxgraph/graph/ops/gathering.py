"""Elements picked by index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..shape import Shape
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .indices import check_indices_now, checked_indices, need_index_dtype
from .registry import Refusal, axis_of, op
from .samples import b1, bf16, f32, i32, i64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["gather", "gather_nd"]


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
    need_index_dtype(indices)
    return input.with_shape([*input.shape[:at], *indices.shape, *input.shape[at + 1 :]])


@gather.lowers
def _(b: Emitter, input: Handle, indices: Handle, axis: int) -> Handle:
    size = input.shape[axis]
    checked = checked_indices(b, indices, Shape([size]), f"axis {axis} of size {size}")
    return b.node("Gather", input, checked, axis=axis, shape=b.results[0].shape)


@gather.reference
def _(input: Array, indices: Array, axis: int) -> Array:
    import numpy as np

    check_indices_now(indices, (input.shape[axis],), f"axis {axis} of size {input.shape[axis]}")
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


@op()
def gather_nd(  # type: ignore[empty-body]
    input: TensorValueLike,
    indices: TensorValueLike,
    batch_dims: int = 0,
) -> TensorValue:
    """The parts of a tensor at given places, each a tuple of positions of its first axes.

    Args:
        input: A tensor.
        indices: int32 or int64; each row along the last axis, whose size is static, is one place. Negative positions
            count from the end.
        batch_dims: So many leading axes are the same in both, and are walked together.

    Returns:
        A tensor of the input's dtype: the axes of `indices` but the last, then those that the places leave.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [TensorType(DType.float32, [8, 4, 3], cpu), TensorType(DType.int64, ["n", 2], cpu)]
        >>> with Graph("g", input_types=types) as graph:
        ...     y = ops.gather_nd(*(value.tensor for value in graph.inputs))
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 3]

    Raises:
        ValueError: `indices` are not int32 or int64, name more axes than there are, or differ in a batch axis. When the
            graph runs: an index is out of range.
    """


@gather_nd.types
def _(input: TensorType, indices: TensorType, batch_dims: int) -> TensorType:
    need_index_dtype(indices)
    depth = static_dim(indices.shape[-1]) if indices.rank else None
    if depth is None:
        raise Refusal("the last axis of `indices` must have a static size", code="MG015")
    if not 0 <= batch_dims < indices.rank or depth < 1 or batch_dims + depth > input.rank:
        raise Refusal(
            f"`indices` name {depth} axes after {batch_dims} batch axes of a tensor of rank {input.rank}", code="MG015"
        )
    if input.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise Refusal(f"the first {batch_dims} axes of both operands must be equal", code="MG015")
    return input.with_shape([*indices.shape[:-1], *input.shape[batch_dims + depth :]])


@gather_nd.lowers
def _(b: Emitter, input: Handle, indices: Handle, batch_dims: int) -> Handle:
    depth = static_dim(indices.shape[-1]) or 0
    sizes = input.shape[batch_dims : batch_dims + depth]
    checked = checked_indices(b, indices, sizes, f"axes of sizes {sizes.text}")
    return b.node("GatherND", input, checked, batch_dims=batch_dims, shape=b.results[0].shape, since=13)


@gather_nd.reference
def _(input: Array, indices: Array, batch_dims: int) -> Array:
    import numpy as np

    depth = indices.shape[-1]
    sizes = input.shape[batch_dims : batch_dims + depth]
    check_indices_now(indices, sizes, f"axes of sizes {list(sizes)}")
    batch = np.indices(indices.shape[:-1])[:batch_dims]
    found: Array = input[(*batch, *np.moveaxis(indices, -1, 0))]
    return found


gather_nd.samples(
    {"input": f32[5, 3], "indices": i64[4, 1].between(0, 5), "batch_dims": 0},
    {"input": f32[5, 3], "indices": i32[2, 2, 2].between(-3, 3), "batch_dims": 0},
    {"input": f32[3, 5, 2], "indices": i64[3, 2, 1].between(0, 5), "batch_dims": 1},
    {"input": i64["n:5", 3], "indices": i64["k:4", 2].between(0, 3), "batch_dims": 0},
    {"input": f32[5, 3], "indices": i64[0, 2], "batch_dims": 0},
    {"input": b1[5], "indices": i64[1].of([-1]), "batch_dims": 0},
    {"input": bf16[2, 5], "indices": i64[2, 1].between(0, 2), "batch_dims": 0},
)
