"""One tensor as several."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import TypeRuleError, user_location
from ..dim import Dim, DimLike
from ..type import static_dim
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .parameters import Refusal, axis_of
from .slicing import slice_tensor

__all__ = ["chunk", "split"]


def split(x: TensorValueLike, split_sizes: Sequence[DimLike], axis: int = 0) -> list[TensorValue]:
    """Consecutive parts along an axis.

    Args:
        x: A tensor.
        split_sizes: The size of each part; together they are the axis.
        axis: The axis.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [5, 2], DeviceRef.CPU())]) as graph:
        ...     y, z = ops.split(graph.inputs[0].tensor, [2, 3])
        ...     graph.output(y, z)
        >>> print(z.type)
        float32[3, 2]

    Raises:
        IndexError: The axis is out of range.
        ValueError: The sizes do not add up to the axis.
    """
    value = tensor_operand(x, "split", "x")
    at = _axis("split", value, axis)
    sizes = [Dim(size) for size in split_sizes]
    total = Dim(0)
    for size in sizes:
        total = total + size
    if total != value.shape[at] or any((static_dim(size) or 0) < 0 for size in sizes):
        text = ", ".join(map(str, sizes))
        raise TypeRuleError(
            f"split: the sizes [{text}] do not add up to axis {axis} of size {value.shape[at]}",
            code="MG015",
            details=[("x", str(value.type))],
            where=user_location(columns=True),
        )
    parts, start = [], Dim(0)
    for size in sizes:
        parts.append(slice_tensor(value, [*[slice(None)] * at, slice(start, start + size)]))
        start = start + size
    return parts


def chunk(x: TensorValueLike, chunks: int, axis: int = 0) -> list[TensorValue]:
    """Equal consecutive parts along an axis.

    Args:
        x: A tensor.
        chunks: How many; they divide the axis.
        axis: The axis.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 6], DeviceRef.CPU())]) as graph:
        ...     parts = ops.chunk(graph.inputs[0].tensor, 3, axis=1)
        ...     graph.output(*parts)
        >>> print(parts[0].type)
        float32[2, 2]

    Raises:
        IndexError: The axis is out of range.
        ValueError: The axis is not static, or `chunks` does not divide it.
    """
    value = tensor_operand(x, "chunk", "x")
    at = _axis("chunk", value, axis)
    size = static_dim(value.shape[at])
    if size is None or chunks < 1 or size % chunks:
        raise TypeRuleError(
            f"chunk: axis {axis} of size {value.shape[at]} does not fall into {chunks} equal parts",
            code="MG015",
            details=[("x", str(value.type))],
            where=user_location(columns=True),
            help="use ops.split with a size for each part",
        )
    return split(value, [size // chunks] * chunks, axis)


def _axis(op: str, value: TensorValue, axis: int) -> int:
    try:
        return axis_of(axis, value.rank)
    except Refusal as refusal:
        raise refusal.error(
            f"{op}: {refusal.message}", code=refusal.code, where=user_location(columns=True), help=refusal.help
        ) from None
