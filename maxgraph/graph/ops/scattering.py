"""Elements written to given places of a copy of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..shape import Shape
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .indices import check_indices_now, checked_indices, need_index_dtype
from .kernels import narrowed, widened
from .registry import Refusal, axis_of, op
from .rules import need_number
from .samples import b1, bf16, f16, f32, i32, i64, u8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = [
    "scatter",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_nd_add",
    "scatter_nd_max",
    "scatter_nd_min",
    "scatter_nd_mul",
]

_REDUCTIONS = ("none", "add", "max", "min", "mul")


@op(name="scatter")
def _scatter(  # type: ignore[empty-body]
    input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike, axis: int, reduction: str
) -> TensorValue:
    """Elements written along one axis."""


@op(name="scatter_nd")
def _scatter_nd(  # type: ignore[empty-body]
    input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike, reduction: str
) -> TensorValue:
    """Parts written to places that are tuples of positions."""


def _check(input: TensorType, updates: TensorType, indices: TensorType, reduction: str) -> None:
    need_index_dtype(indices)
    if reduction not in _REDUCTIONS:
        raise Refusal(f"`reduction` is one of {', '.join(_REDUCTIONS)}, not {reduction!r}", code="MG017")
    if reduction != "none":
        need_number(input, "input")
    if updates.dtype is not input.dtype:
        raise Refusal(
            f"`updates` is {updates.dtype.name}, but `input` is {input.dtype.name}",
            code="MG010",
            help="dtypes are not promoted here; cast one of them",
        )


@_scatter.types
def _(input: TensorType, updates: TensorType, indices: TensorType, axis: int, reduction: str) -> TensorType:
    at = axis_of(axis, input.rank)
    _check(input, updates, indices, reduction)
    if updates.shape != indices.shape or indices.rank != input.rank:
        raise Refusal(
            f"`updates` {updates.shape.text} and `indices` {indices.shape.text} must be one shape of rank {input.rank}",
            code="MG015",
        )
    for other, (dim, whole) in enumerate(zip(indices.shape, input.shape, strict=True)):
        size, limit = static_dim(dim), static_dim(whole)
        fits = dim == whole or (size is not None and limit is not None and size <= limit)
        if other != at and not fits:
            raise Refusal(f"axis {other} of `indices` is {dim}, but axis {other} of `input` is {whole}", code="MG015")
    return input


@_scatter.lowers
def _(b: Emitter, input: Handle, updates: Handle, indices: Handle, axis: int, reduction: str) -> Handle:
    size = input.shape[axis]
    checked = checked_indices(b, indices, Shape([size]), f"axis {axis} of size {size}")

    def write(x: Handle, new: Handle, how: str) -> Handle:
        return b.node("ScatterElements", x, checked, new, axis=axis, reduction=how, since=18)

    return _with_nan(b, input, updates, reduction, write)


@_scatter.reference
def _(input: Array, updates: Array, indices: Array, axis: int, reduction: str) -> Array:
    import numpy as np

    check_indices_now(indices, (input.shape[axis],), f"axis {axis} of size {input.shape[axis]}")
    places: list[Array] = list(np.indices(indices.shape))
    places[axis] = indices
    return _written(input, tuple(places), updates, reduction)


@_scatter_nd.types
def _(input: TensorType, updates: TensorType, indices: TensorType, reduction: str) -> TensorType:
    _check(input, updates, indices, reduction)
    depth = static_dim(indices.shape[-1]) if indices.rank else None
    if depth is None or not 1 <= depth <= input.rank:
        raise Refusal(
            f"the last axis of `indices` must be a static 1 to {input.rank}: {indices.shape.text}", code="MG015"
        )
    wanted = Shape([*indices.shape[:-1], *input.shape[depth:]])
    if updates.shape != wanted:
        raise Refusal(f"`updates` must be {wanted.text}, not {updates.shape.text}", code="MG015")
    return input


@_scatter_nd.lowers
def _(b: Emitter, input: Handle, updates: Handle, indices: Handle, reduction: str) -> Handle:
    sizes = input.shape[: static_dim(indices.shape[-1])]
    checked = checked_indices(b, indices, sizes, f"axes of sizes {sizes.text}")

    def write(x: Handle, new: Handle, how: str) -> Handle:
        return b.node("ScatterND", x, checked, new, reduction=how, since=18)

    return _with_nan(b, input, updates, reduction, write)


@_scatter_nd.reference
def _(input: Array, updates: Array, indices: Array, reduction: str) -> Array:
    import numpy as np

    sizes = input.shape[: indices.shape[-1]]
    check_indices_now(indices, sizes, f"axes of sizes {list(sizes)}")
    return _written(input, tuple(np.moveaxis(indices, -1, 0)), updates, reduction)


def _with_nan(
    b: Emitter, x: Handle, updates: Handle, reduction: str, write: Callable[[Handle, Handle, str], Handle]
) -> Handle:
    """The node that writes; the kernels for the larger and the smaller do not keep a NaN, which is then put back."""
    if reduction == "none" or not x.dtype.is_float():
        return write(x, updates, reduction)
    wide = DType.float64 if x.dtype is DType.float64 else DType.float32  # there is no kernel for halves
    x, updates, own = b.cast(x, wide), b.cast(updates, wide), x.dtype
    found = write(x, updates, reduction)
    if reduction not in ("max", "min"):
        return b.cast(found, own)
    marks = [b.cast(b.node("IsNaN", y, dtype=DType.bool), DType.int32) for y in (x, updates)]
    is_nan = b.cast(write(marks[0], marks[1], "max"), DType.bool)
    return b.cast(b.node("Where", is_nan, b.constant(float("nan"), wide), found, dtype=wide), own)


def _written(input: Array, places: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    """The copy. Of several updates to one place, the last one stays, or all of them are combined."""
    import numpy as np

    result = input.copy()
    if reduction == "none":
        result[places] = updates
        return result
    combine = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction]
    wide = widened(result)
    combine.at(wide, places, widened(updates))
    return narrowed(wide, input)


_scatter.samples(
    {"input": f32[3, 4], "updates": f32[2, 4], "indices": i64[2, 4].between(-3, 3), "axis": 0, "reduction": "add"},
    *(
        {
            "input": x[3, 4],
            "updates": x[3, 2],
            "indices": i64[3, 2].of([[0, 1], [3, 2], [1, 0]]),
            "axis": -1,
            "reduction": reduction,
        }
        for x in (f32, i64, f16, bf16, u8)
        for reduction in _REDUCTIONS
    ),
    {"input": b1[4], "updates": b1[2], "indices": i32[2].of([-1, 0]), "axis": 0, "reduction": "none"},
    {"input": f32["n:4"], "updates": f32["k:2"], "indices": i64["k:2"].of([3, 3]), "axis": 0, "reduction": "mul"},
    {"input": f32[4], "updates": f32[0], "indices": i64[0], "axis": 0, "reduction": "none"},
    *(
        {
            "input": f32[4].of([1, float("nan"), 3, 4]),
            "updates": f32[4].of([float("nan"), 7, 8, -9]),
            "indices": i64[4].of([0, 1, 2, 2]),
            "axis": 0,
            "reduction": reduction,
        }
        for reduction in ("max", "min")
    ),
)
_scatter_nd.samples(
    *(
        {"input": x[3, 4], "updates": x[2, 4], "indices": i64[2, 1].of([[2], [-3]]), "reduction": reduction}
        for x in (f32, i64, f16, bf16, u8)
        for reduction in _REDUCTIONS
    ),
    {"input": f32[3, 4], "updates": f32[3], "indices": i32[3, 2].of([[0, 1], [0, 1], [2, -1]]), "reduction": "add"},
    {"input": b1[3, 4], "updates": b1[1], "indices": i32[1, 2].of([[0, 1]]), "reduction": "none"},
    {"input": f32["n:4", 2], "updates": f32["k:2", 2], "indices": i64["k:2", 1].of([[3], [0]]), "reduction": "none"},
    {"input": f32[4], "updates": f32[0], "indices": i64[0, 1], "reduction": "none"},
    {
        "input": f32[3].of([1, float("nan"), 3]),
        "updates": f32[3].of([float("nan"), 7, 8]),
        "indices": i64[3, 1].of([[0], [1], [2]]),
        "reduction": "max",
    },
)


def scatter(input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike, axis: int = -1) -> TensorValue:
    """A copy of a tensor with elements written along one axis: ``result[..., indices[p], ...] = updates[p]``.

    Args:
        input: A tensor.
        updates: The elements, of its dtype.
        indices: int32 or int64, of the shape of `updates`, which has the rank of `input` and along the other axes at
            most its sizes; negative ones count from the end. Where two are the same, which one stays is not defined.
        axis: The axis that they are positions of.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [TensorType(dtype, [2, n], cpu) for dtype, n in zip([DType.float32] * 2 + [DType.int64], (5, 3, 3))]
        >>> with Graph("g", input_types=types) as graph:
        ...     x, updates, indices = (value.tensor for value in graph.inputs)
        ...     y = ops.scatter(x, updates, indices)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 5]

    Raises:
        IndexError: The axis is out of range.
        ValueError: Dtypes or shapes do not fit. When the graph runs: an index is out of range.
    """
    return _scatter(input, updates, indices, axis, "none")


def scatter_add(
    input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike, axis: int = -1
) -> TensorValue:
    """As `scatter`, but what is written is added to what is there; equal places are all added.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(dtype, [3], DeviceRef.CPU()) for dtype in (DType.float32, DType.float32, DType.int64)]
        >>> with Graph("g", input_types=types) as graph:
        ...     x, updates, indices = (value.tensor for value in graph.inputs)
        ...     y = ops.scatter_add(x, updates, indices)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """
    return _scatter(input, updates, indices, axis, "add")


def scatter_max(
    input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike, axis: int = -1
) -> TensorValue:
    """As `scatter`, but the larger of what is there and what is written stays; NaN stays always.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(dtype, [3], DeviceRef.CPU()) for dtype in (DType.float32, DType.float32, DType.int64)]
        >>> with Graph("g", input_types=types) as graph:
        ...     x, updates, indices = (value.tensor for value in graph.inputs)
        ...     y = ops.scatter_max(x, updates, indices)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """
    return _scatter(input, updates, indices, axis, "max")


def scatter_min(
    input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike, axis: int = -1
) -> TensorValue:
    """As `scatter`, but the smaller of what is there and what is written stays; NaN stays always.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(dtype, [3], DeviceRef.CPU()) for dtype in (DType.float32, DType.float32, DType.int64)]
        >>> with Graph("g", input_types=types) as graph:
        ...     x, updates, indices = (value.tensor for value in graph.inputs)
        ...     y = ops.scatter_min(x, updates, indices)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """
    return _scatter(input, updates, indices, axis, "min")


def scatter_mul(
    input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike, axis: int = -1
) -> TensorValue:
    """As `scatter`, but what is there is multiplied by what is written; equal places by all of them.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(dtype, [3], DeviceRef.CPU()) for dtype in (DType.float32, DType.float32, DType.int64)]
        >>> with Graph("g", input_types=types) as graph:
        ...     x, updates, indices = (value.tensor for value in graph.inputs)
        ...     y = ops.scatter_mul(x, updates, indices)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """
    return _scatter(input, updates, indices, axis, "mul")


def scatter_nd(input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike) -> TensorValue:
    """A copy of a tensor with parts written to places that are tuples of positions of its first axes.

    Args:
        input: A tensor.
        updates: The parts, of its dtype: the axes of `indices` but the last, then those that a place leaves.
        indices: int32 or int64; each row along the last axis, whose size is static, is one place. Negative positions
            count from the end. Where two places are the same, which part stays is not defined.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [
        ...     TensorType(DType.float32, [8, 4], cpu),
        ...     TensorType(DType.float32, ["n", 4], cpu),
        ...     TensorType(DType.int64, ["n", 1], cpu),
        ... ]
        >>> with Graph("g", input_types=types) as graph:
        ...     y = ops.scatter_nd(*(value.tensor for value in graph.inputs))
        ...     graph.output(y)
        >>> print(y.type)
        float32[8, 4]

    Raises:
        ValueError: Dtypes or shapes do not fit. When the graph runs: an index is out of range.
    """
    return _scatter_nd(input, updates, indices, "none")


def scatter_nd_add(input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike) -> TensorValue:
    """As `scatter_nd`, but what is written is added to what is there; equal places are all added.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> x_type = TensorType(DType.float32, [3], DeviceRef.CPU())
        >>> places = TensorType(DType.int64, [3, 1], DeviceRef.CPU())
        >>> with Graph("g", input_types=[x_type, x_type, places]) as graph:
        ...     x, updates, indices = (value.tensor for value in graph.inputs)
        ...     y = ops.scatter_nd_add(x, updates, indices)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """
    return _scatter_nd(input, updates, indices, "add")


def scatter_nd_max(input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike) -> TensorValue:
    """As `scatter_nd`, but the larger of what is there and what is written stays; NaN stays always.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> x_type = TensorType(DType.float32, [3], DeviceRef.CPU())
        >>> places = TensorType(DType.int64, [3, 1], DeviceRef.CPU())
        >>> with Graph("g", input_types=[x_type, x_type, places]) as graph:
        ...     x, updates, indices = (value.tensor for value in graph.inputs)
        ...     y = ops.scatter_nd_max(x, updates, indices)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """
    return _scatter_nd(input, updates, indices, "max")


def scatter_nd_min(input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike) -> TensorValue:
    """As `scatter_nd`, but the smaller of what is there and what is written stays; NaN stays always.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> x_type = TensorType(DType.float32, [3], DeviceRef.CPU())
        >>> places = TensorType(DType.int64, [3, 1], DeviceRef.CPU())
        >>> with Graph("g", input_types=[x_type, x_type, places]) as graph:
        ...     x, updates, indices = (value.tensor for value in graph.inputs)
        ...     y = ops.scatter_nd_min(x, updates, indices)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """
    return _scatter_nd(input, updates, indices, "min")


def scatter_nd_mul(input: TensorValueLike, updates: TensorValueLike, indices: TensorValueLike) -> TensorValue:
    """As `scatter_nd`, but what is there is multiplied by what is written; equal places by all of them.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> x_type = TensorType(DType.float32, [3], DeviceRef.CPU())
        >>> places = TensorType(DType.int64, [3, 1], DeviceRef.CPU())
        >>> with Graph("g", input_types=[x_type, x_type, places]) as graph:
        ...     x, updates, indices = (value.tensor for value in graph.inputs)
        ...     y = ops.scatter_nd_mul(x, updates, indices)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """
    return _scatter_nd(input, updates, indices, "mul")
