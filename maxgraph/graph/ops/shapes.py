"""Changes of shape: the elements stay, in the same order or with axes exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..shape import Shape, ShapeLike
from ..type import DeviceRef, TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .registry import Refusal, axis_of, op
from .rules import broadcast_dims
from .samples import b1, f16, f32, i64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["broadcast_to", "flatten", "permute", "reshape", "shape_to_tensor", "squeeze", "transpose", "unsqueeze"]


@op()
def reshape(x: TensorValueLike, shape: ShapeLike) -> TensorValue:  # type: ignore[empty-body]
    """The same elements under another shape.

    Args:
        x: A tensor.
        shape: The new dims; one may be -1 and is then what is left. The number of elements must provably be the same.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 4], DeviceRef.CPU())]) as graph:
        ...     y = ops.reshape(graph.inputs[0].tensor, [2, -1])
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 2*n]

    Raises:
        ValueError: The numbers of elements differ, or cannot be told to be equal.
    """


@reshape.types
def _(x: TensorType, shape: Shape) -> TensorType:
    total = x.shape.num_elements
    free = [axis for axis, dim in enumerate(shape) if dim == -1]
    dims = list(shape)
    if len(free) > 1:
        raise Refusal("`shape` has more than one -1", code="MG017")
    if free:
        others = Shape(dim for axis, dim in enumerate(dims) if axis != free[0]).num_elements
        if others == 0:
            raise Refusal(f"-1 in {shape.text} is ambiguous beside a 0", code="MG015")
        dims[free[0]] = total // others
    result = x.with_shape(dims)
    if result.shape.num_elements != total:
        raise Refusal(
            f"{x.shape.text} has {total} elements, but {shape.text} does not",
            code="MG015",
            help="the numbers of elements must be equal whatever the sizes of the symbols",
        )
    return result


@reshape.lowers
def _(b: Emitter, x: Handle, shape: Shape) -> Handle:  # noqa: ARG001 - the result type has the -1 resolved
    return b.reshape(x, b.results[0].shape)


@reshape.reference
def _(x: Array, shape: tuple[int, ...]) -> Array:
    return x.reshape(shape)


reshape.samples(
    {"x": f32[2, 6], "shape": [3, -1]},
    {"x": f32["n:4", 3], "shape": ["n", 3, 1]},
    {"x": i64[4], "shape": [2, 2]},
    {"x": f32[1], "shape": []},
    {"x": f32[0, 3], "shape": [3, 0]},
)


def flatten(x: TensorValueLike, start_dim: int = 0, end_dim: int = -1) -> TensorValue:
    """Several axes as one.

    Args:
        x: A tensor.
        start_dim: The first axis.
        end_dim: The last axis, included.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3, 4], DeviceRef.CPU())]) as graph:
        ...     y = ops.flatten(graph.inputs[0].tensor, 1)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 12]

    Raises:
        IndexError: An axis is out of range.
        ValueError: The last axis comes before the first.
    """
    value = TensorValue(x)
    try:
        if value.rank == 0:
            return reshape(value, [1])
        first, last = axis_of(start_dim, value.rank, "start_dim"), axis_of(end_dim, value.rank, "end_dim")
        if first > last:
            raise Refusal(f"`start_dim` {start_dim} comes after `end_dim` {end_dim}", code="MG017")
    except Refusal as refusal:
        reshape.refuse(refusal, [value.to_mlir()])
    middle = value.shape[first : last + 1].num_elements
    return reshape(value, [*value.shape[:first], middle, *value.shape[last + 1 :]])


@op()
def squeeze(x: TensorValueLike, axis: int) -> TensorValue:  # type: ignore[empty-body]
    """The tensor without an axis of size 1.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 1], DeviceRef.CPU())]) as graph:
        ...     y = ops.squeeze(graph.inputs[0].tensor, -1)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2]

    Raises:
        IndexError: The axis is out of range.
        ValueError: Its size is not 1.
    """


@squeeze.types
def _(x: TensorType, axis: int) -> TensorType:
    at = axis_of(axis, x.rank)
    if x.shape[at] != 1:
        raise Refusal(f"axis {axis} of `x` is {x.shape[at]}, not 1", code="MG015")
    return x.with_shape([*x.shape[:at], *x.shape[at + 1 :]])


@squeeze.lowers
def _(b: Emitter, x: Handle, axis: int) -> Handle:
    return b.node("Squeeze", x, b.constant([axis]), shape=b.results[0].shape)


@squeeze.reference
def _(x: Array, axis: int) -> Array:
    return x.squeeze(axis)


squeeze.samples({"x": f32[2, 1, 3], "axis": 1}, {"x": b1["n:4", 1], "axis": -1})


@op()
def unsqueeze(x: TensorValueLike, axis: int) -> TensorValue:  # type: ignore[empty-body]
    """The tensor with a new axis of size 1, which becomes axis `axis` of the result.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2], DeviceRef.CPU())]) as graph:
        ...     y = ops.unsqueeze(graph.inputs[0].tensor, 0)
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 2]

    Raises:
        IndexError: The axis is out of range for the result's rank.
    """


@unsqueeze.types
def _(x: TensorType, axis: int) -> TensorType:
    at = axis_of(axis, x.rank + 1)
    return x.with_shape([*x.shape[:at], 1, *x.shape[at:]])


@unsqueeze.lowers
def _(b: Emitter, x: Handle, axis: int) -> Handle:
    return b.node("Unsqueeze", x, b.constant([axis]), shape=b.results[0].shape)


@unsqueeze.reference
def _(x: Array, axis: int) -> Array:
    import numpy as np

    return np.expand_dims(x, axis)


unsqueeze.samples({"x": f32[2, 3], "axis": 1}, {"x": i64["n:4"], "axis": -1}, {"x": f32[()], "axis": 0})


def transpose(x: TensorValueLike, axis_1: int, axis_2: int) -> TensorValue:
    """The tensor with two axes exchanged.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.transpose(graph.inputs[0].tensor, 0, 1)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3, 2]

    Raises:
        IndexError: An axis is out of range.
    """
    value = TensorValue(x)
    if value.rank == 0:
        return value
    try:
        first, second = axis_of(axis_1, value.rank, "axis_1"), axis_of(axis_2, value.rank, "axis_2")
    except Refusal as refusal:
        permute.refuse(refusal, [value.to_mlir()])
    order = list(range(value.rank))
    order[first], order[second] = second, first
    return permute(value, order)


@op()
def permute(x: TensorValueLike, dims: list[int]) -> TensorValue:  # type: ignore[empty-body]
    """The tensor with its axes in another order.

    Args:
        x: A tensor.
        dims: For each axis of the result, the axis of `x` that it is; each once.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3, 4], DeviceRef.CPU())]) as graph:
        ...     y = ops.permute(graph.inputs[0].tensor, [2, 0, 1])
        ...     graph.output(y)
        >>> print(y.type)
        float32[4, 2, 3]

    Raises:
        IndexError: An axis is out of range.
        ValueError: An axis is missing or repeated.
    """


@permute.types
def _(x: TensorType, dims: tuple[int, ...]) -> TensorType:
    axes = [axis_of(axis, x.rank, "dims") for axis in dims]
    if sorted(axes) != list(range(x.rank)):
        raise Refusal(f"`dims` {list(dims)} must hold each axis of `x` once (rank {x.rank})", code="MG017")
    return x.with_shape(x.shape[axis] for axis in axes)


@permute.lowers
def _(b: Emitter, x: Handle, dims: tuple[int, ...]) -> Handle:
    return b.node("Transpose", x, perm=[axis % x.rank for axis in dims], shape=b.results[0].shape)


@permute.reference
def _(x: Array, dims: tuple[int, ...]) -> Array:
    return x.transpose(dims)


permute.samples({"x": f32[2, 3, 4], "dims": [2, 0, 1]}, {"x": f16["n:4", 3], "dims": [-1, 0]}, {"x": b1[3], "dims": [0]})


@op()
def broadcast_to(x: TensorValueLike, shape: ShapeLike) -> TensorValue:  # type: ignore[empty-body]
    """The tensor repeated along axes of size 1, and along new axes in front.

    Args:
        x: A tensor.
        shape: The new dims; aligned at the last axis, each is that of `x`, or that of `x` is 1.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3, 1], DeviceRef.CPU())]) as graph:
        ...     y = ops.broadcast_to(graph.inputs[0].tensor, [2, 3, 4])
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 3, 4]

    Raises:
        ValueError: A dim is neither that of `x` nor is that of `x` 1.
    """


@broadcast_to.types
def _(x: TensorType, shape: Shape) -> TensorType:
    if len(shape) < x.rank:
        raise Refusal(f"{x.shape.text} has more axes than {shape.text}", code="MG014")
    for axis in range(-x.rank, 0):
        if broadcast_dims(x.shape[axis], shape[axis]) != shape[axis]:
            raise Refusal(
                f"axis {axis} of `x` is {x.shape[axis]}, which does not become {shape[axis]}", code="MG011"
            )
    return x.with_shape(shape)


@broadcast_to.lowers
def _(b: Emitter, x: Handle, shape: Shape) -> Handle:
    return x if x.shape == shape else b.node("Expand", x, b.dims(shape), shape=shape)


@broadcast_to.reference
def _(x: Array, shape: tuple[int, ...]) -> Array:
    import numpy as np

    return np.broadcast_to(x, shape).copy()


broadcast_to.samples(
    {"x": f32[3, 1], "shape": [2, 3, 4]},
    {"x": f32[1], "shape": [0]},
    {"x": i64[()], "shape": [2]},
    {"x": f32["n:4", 1], "shape": ["n", 3]},
)


def shape_to_tensor(shape: ShapeLike) -> TensorValue:
    """Sizes as an int64 vector on the CPU.

    Args:
        shape: Dims; a symbol must be the size of an axis of some value of the graph.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.shape_to_tensor(graph.inputs[0].tensor.shape)
        ...     graph.output(y)
        >>> print(y.type)
        int64[2]
    """
    return _shape_to_tensor(Shape(shape))


@op(name="shape_to_tensor")
def _shape_to_tensor(shape: ShapeLike) -> TensorValue:  # type: ignore[empty-body]
    """Sizes as an int64 vector."""


@_shape_to_tensor.types
def _(shape: Shape) -> TensorType:
    return TensorType(DType.int64, [len(shape)], DeviceRef.CPU())


@_shape_to_tensor.lowers
def _(b: Emitter, shape: Shape) -> Handle:
    return b.dims(shape)


@_shape_to_tensor.reference
def _(shape: tuple[int, ...]) -> Array:
    import numpy as np

    return np.array(shape, np.int64)


_shape_to_tensor.samples({"shape": [2, 3]}, {"shape": []})
