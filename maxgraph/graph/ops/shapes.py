"""Changes of shape: the elements stay, in the same order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError, UnsupportedError, user_location
from ..dim import Dim, DimLike
from ..shape import Shape, ShapeLike
from ..type import DeviceRef, TensorType
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .registry import Refusal, axis_of, op
from .rules import broadcast_dims
from .samples import b1, bf16, f32, i64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["broadcast_to", "flatten", "reshape", "shape_to_tensor", "squeeze", "unsqueeze"]


def reshape(x: TensorValueLike, shape: ShapeLike) -> TensorValue:
    """The same elements under another shape.

    Args:
        x: A tensor.
        shape: The new dims; one may be -1 and is then what is left. The number of elements must provably be the same.

    Returns:
        A tensor of the same dtype.

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
    value = tensor_operand(x, "reshape", "x")
    try:
        dims = _resolved(value.shape, Shape(shape))
    except Refusal as refusal:
        _reshape.refuse(refusal, [value.to_mlir()])
    return _reshape(value, dims)


def _resolved(old: Shape, new: Shape) -> Shape:
    """The new shape with its -1 replaced by what is left of the elements.

    Raises:
        Refusal: There are several, or one cannot be resolved.
    """
    free = [axis for axis, dim in enumerate(new) if dim == -1]
    if not free:
        return new
    if len(free) > 1:
        raise Refusal(f"{new.text} has more than one -1", code="MG017")
    others = Shape([*new[: free[0]], *new[free[0] + 1 :]]).num_elements
    if others == 0:
        raise Refusal(f"-1 in {new.text} is ambiguous beside a 0", code="MG015")
    rest = old.num_elements // others
    if rest * others != old.num_elements:
        raise _other_count(old, new)
    return Shape([*new[: free[0]], rest, *new[free[0] + 1 :]])


def _other_count(old: Shape, new: Shape) -> Refusal:
    is_static = Shape.is_static(old) and Shape.is_static(new)
    return Refusal(
        f"{old.text} has {old.num_elements} elements, which {new.text} does not hold",
        code="MG015",
        help=None if is_static else "the numbers of elements must be equal whatever the sizes of the symbols",
    )


@op(name="reshape")
def _reshape(x: TensorValueLike, shape: ShapeLike) -> TensorValue:  # type: ignore[empty-body]
    """The same elements under another shape, without a -1."""


@_reshape.types
def _(x: TensorType, shape: Shape) -> TensorType:
    if any(size < 0 for size in shape.static_dims):
        raise Refusal(f"{shape.text} has a negative size", code="MG015")
    if shape.num_elements != x.shape.num_elements:
        raise _other_count(x.shape, shape)
    return x.with_shape(shape)


@_reshape.lowers
def _(b: Emitter, x: Handle, shape: Shape) -> Handle:
    return b.reshape(x, shape)


@_reshape.reference
def _(x: Array, shape: tuple[int, ...]) -> Array:
    return x.reshape(shape)


_reshape.samples(
    {"x": f32[2, 6], "shape": [3, 4]},
    {"x": f32["n:4", 3], "shape": ["n", 3, 1]},
    {"x": bf16["n:4", 3], "shape": [Dim("n") * 3]},
    {"x": i64[4], "shape": [2, 2]},
    {"x": f32[1], "shape": []},
    {"x": b1[()], "shape": [1, 1]},
    {"x": f32[0, 3], "shape": [3, 0]},
    {"x": f32["n:0", 3], "shape": [3, "n"]},
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
    value = tensor_operand(x, "flatten", "x")
    if value.rank == 0:
        return _reshape(value, [1])
    try:
        first, last = axis_of(start_dim, value.rank, "start_dim"), axis_of(end_dim, value.rank, "end_dim")
        if first > last:
            raise Refusal(f"`start_dim` {start_dim} comes after `end_dim` {end_dim}", code="MG017")
    except Refusal as refusal:
        _reshape.refuse(refusal, [value.to_mlir()])
    middle = value.shape[first : last + 1].num_elements
    return _reshape(value, [*value.shape[:first], middle, *value.shape[last + 1 :]])


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


def broadcast_to(
    x: TensorValueLike, shape: TensorValue | ShapeLike, out_dims: Iterable[DimLike] | None = None
) -> TensorValue:
    """The tensor repeated along axes of size 1, and along new axes in front.

    Args:
        x: A tensor.
        shape: The new dims; aligned at the last axis, each is that of `x`, or that of `x` is 1.
        out_dims: As `shape`, where that is given as well (MAX needs it beside a tensor).

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3, 1], DeviceRef.CPU())]) as graph:
        ...     y = ops.broadcast_to(graph.inputs[0].tensor, [2, 3, 4])
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 3, 4]

    Raises:
        NotImplementedError: `shape` is a tensor.
        ValueError: A dim is neither that of `x` nor is that of `x` 1.
    """
    value = tensor_operand(x, "broadcast_to", "x")
    if isinstance(shape, TensorValue):
        raise UnsupportedError(
            "broadcast_to: `shape` cannot be a tensor",
            code="MG017",
            where=user_location(columns=True),
            help="give the dims themselves; they may be symbolic",
        )
    dims = Shape(shape)
    if out_dims is not None and dims != Shape(out_dims):
        refusal = Refusal(f"`shape` is {dims.text}, but `out_dims` {Shape(out_dims).text}", code="MG015")
        _broadcast_to.refuse(refusal, [value.to_mlir()])
    return _broadcast_to(value, dims)


@op(name="broadcast_to")
def _broadcast_to(x: TensorValueLike, shape: ShapeLike) -> TensorValue:  # type: ignore[empty-body]
    """The tensor repeated along axes."""


@_broadcast_to.types
def _(x: TensorType, shape: Shape) -> TensorType:
    if len(shape) < x.rank:
        raise Refusal(f"{x.shape.text} has more axes than {shape.text}", code="MG014")
    for axis in range(-x.rank, 0):
        if broadcast_dims(x.shape[axis], shape[axis]) != shape[axis]:
            raise Refusal(f"axis {axis} of `x` is {x.shape[axis]}, which does not become {shape[axis]}", code="MG011")
    return x.with_shape(shape)


@_broadcast_to.lowers
def _(b: Emitter, x: Handle, shape: Shape) -> Handle:
    if x.shape == shape:
        return x
    if Shape.is_static(shape) and shape.num_elements == 0:
        import numpy as np

        # Onnxruntime's optimiser takes an Expand from 1 to 0 elements for one that changes nothing.
        return b.constant(np.zeros(shape.static_dims), x.dtype)
    dtype = DType.float32 if x.dtype is DType.bfloat16 else x.dtype  # the only one without a kernel
    return b.cast(b.node("Expand", b.cast(x, dtype), b.dims(shape), shape=shape), x.dtype)


@_broadcast_to.reference
def _(x: Array, shape: tuple[int | None, ...]) -> Array:
    import numpy as np

    if None in shape:
        raise Refusal("the size of a symbol cannot be told from any input", code="MG034", error=ExecutionError)
    return np.broadcast_to(x, shape)  # type: ignore[arg-type]  # no None is left


_broadcast_to.samples(
    {"x": f32[3, 1], "shape": [2, 3, 4]},
    {"x": f32[1], "shape": [0]},
    {"x": i64[()], "shape": [2]},
    {"x": bf16[2, 1], "shape": [2, 2]},
    {"x": b1[2], "shape": [2]},
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
