"""Dims told to a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError
from ..shape import Shape, ShapeLike
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .registry import Refusal, op
from .samples import bf16, f32, i64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["rebind"]


def rebind(x: TensorValueLike, shape: ShapeLike, message: str = "", layout: object = None) -> TensorValue:
    """The same tensor under dims that the execution checks.

    Args:
        x: A tensor.
        shape: What its dims are: sizes, names that are bound elsewhere, or new names, which this binds.
        message: Put before the error where they are not.
        layout: Of no effect.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", "m"], DeviceRef.CPU())]) as graph:
        ...     y = ops.rebind(graph.inputs[0].tensor, ["rows", 8])
        ...     graph.output(y)
        >>> print(y.type)
        float32[rows, 8]

    Raises:
        ValueError: The rank differs, or two static sizes do. When the graph runs: a size differs.
    """
    del layout
    return _rebind(tensor_operand(x, "rebind", "x"), Shape(shape), message)


@op(name="rebind")
def _rebind(x: TensorValueLike, shape: ShapeLike, message: str) -> TensorValue:  # type: ignore[empty-body]
    """The same elements under dims that are checked."""


@_rebind.types
def _(x: TensorType, shape: Shape, message: str) -> TensorType:
    if len(shape) != x.rank:
        raise Refusal(f"{shape.text} has another rank than {x.shape.text}", code="MG014")
    for axis, (old, new) in enumerate(zip(x.shape, shape, strict=True)):
        both_static = static_dim(old) is not None and static_dim(new) is not None
        if (both_static and old != new) or (static_dim(new) or 0) < 0:
            raise Refusal(f"axis {axis} is {old}, which cannot be {new}", code="MG015")
    return x.with_shape(shape)


@_rebind.lowers
def _(b: Emitter, x: Handle, shape: Shape, message: str) -> Handle:
    if shape == x.shape:
        return x
    sizes = []
    for axis, (old, new) in enumerate(zip(x.shape, shape, strict=True)):
        size = b.node("Shape", x, start=axis, end=axis + 1, dtype=DType.int64, shape=Shape([1]), since=18)
        if old != new:
            text = f"{message}: " if message else ""
            scalar = b.reshape(size, Shape([]))
            checked = b.check_size(scalar, new, f"{text}axis {axis} of size {old} is not {new}")
            size = b.reshape(checked, Shape([1]))
        sizes.append(size)
    target = sizes[0] if len(sizes) == 1 else b.node("Concat", *sizes, axis=0, shape=Shape([len(sizes)]))
    return b.node("Reshape", x, target, shape=shape, allowzero=1)


@_rebind.reference
def _(x: Array, shape: tuple[int | None, ...], message: str) -> Array:
    for axis, (size, wanted) in enumerate(zip(x.shape, shape, strict=True)):
        if wanted is not None and wanted != size:
            text = f"{message}: " if message else ""
            raise Refusal(f"{text}axis {axis} is {size}, not {wanted}", code="MG035", error=ExecutionError)
    return x


_rebind.samples(
    {"x": f32["n:3", 2], "shape": ["m", 2], "message": ""},
    {"x": f32["n:3", "m:2"], "shape": [3, "m"], "message": "rows"},
    {"x": i64["n:3", "m:3"], "shape": ["n", "n"], "message": ""},
    {"x": bf16[3], "shape": [3], "message": ""},
    {"x": f32["n:0"], "shape": ["m"], "message": ""},
    {"x": f32[()], "shape": [], "message": ""},
)
