"""Axes in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .registry import Refusal, axis_of, op
from .samples import b1, bf16, f16, f32

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["permute", "transpose"]


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
    value = tensor_operand(x, "transpose", "x")
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
    order = [axis % x.rank for axis in dims]
    moved = [axis for axis in order if static_dim(x.shape[axis]) != 1]
    if moved == sorted(moved):  # no element changes its place: a view
        return b.reshape(x, b.results[0].shape)
    turned = b.node("Transpose", x, perm=order, shape=b.results[0].shape)
    if order == [1, 0]:
        b.note_transposed(turned, x)
    return turned


@permute.reference
def _(x: Array, dims: tuple[int, ...]) -> Array:
    return x.transpose(dims)


permute.samples(
    {"x": f32[2, 3, 4], "dims": [2, 0, 1]},
    {"x": f16["n:4", 3], "dims": [-1, 0]},
    {"x": bf16[2, 3], "dims": [1, 0]},
    {"x": b1[3], "dims": [0]},
    {"x": f32[()], "dims": []},
    {"x": f32[1, 3, 1, 2], "dims": [1, 2, 0, 3]},
    {"x": f32["n:4", 1, 2], "dims": [1, 0, 2]},
    {"x": f32[0, 3], "dims": [1, 0]},
)
