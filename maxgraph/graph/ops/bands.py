"""Matrices of which a band around the diagonal is kept."""

from __future__ import annotations

from ...dtype import DType
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .comparison import greater_equal
from .logic import logical_and, logical_not
from .parameters import Refusal
from .ranges import range_
from .selection import where
from .shapes import unsqueeze

__all__ = ["band_part"]


def band_part(
    x: TensorValueLike,
    num_lower: int | None = None,
    num_upper: int | None = None,
    exclude: bool = False,
) -> TensorValue:
    """The elements of the last two axes that lie in a band around the diagonal; all others are zero.

    Args:
        x: A tensor of rank 2 or more.
        num_lower: How many diagonals below the main one are kept; None: all.
        num_upper: How many above it; None: all.
        exclude: Keep what lies outside of the band instead.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [4, 4], DeviceRef.CPU())]) as graph:
        ...     causal = ops.band_part(graph.inputs[0].tensor, None, 0)
        ...     graph.output(causal)
        >>> print(causal.type)
        float32[4, 4]

    Raises:
        ValueError: `x` has a rank below 2, or a number is negative.
    """
    value = tensor_operand(x, "band_part", "x")
    if value.rank < 2:
        where.refuse(Refusal(f"band_part: `x` must have rank 2 or more, not {value.rank}", code="MG014"), [])
    for name, number in (("num_lower", num_lower), ("num_upper", num_upper)):
        if number is not None and number < 0:
            where.refuse(Refusal(f"band_part: `{name}` is negative: {number}", code="MG017"), [])
    rows, columns = (range_(0, size, 1, size, dtype=DType.int64, device=value.device) for size in value.shape[-2:])
    below = unsqueeze(rows, 1) - unsqueeze(columns, 0)
    conditions = []
    if num_lower is not None:
        conditions.append(greater_equal(num_lower, below))
    if num_upper is not None:
        conditions.append(greater_equal(below, -num_upper))
    inside = greater_equal(below, below)
    for condition in conditions:
        inside = logical_and(inside, condition)
    kept = logical_not(inside) if exclude else inside
    return where(kept, value, False if value.dtype is DType.bool else 0)
