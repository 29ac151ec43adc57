"""Running sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS, computed, widened
from .registry import axis_of, op
from .rules import need_number
from .samples import bf16, f16, f32, i8, i64, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["cumsum"]


@op()
def cumsum(  # type: ignore[empty-body]
    x: TensorValueLike,
    axis: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
) -> TensorValue:
    """Sums of the elements up to each one along an axis; ints wrap around.

    Args:
        x: A tensor of numbers.
        axis: The axis.
        exclusive: Leave the element itself out.
        reverse: Sum from the end.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [4], DeviceRef.CPU())]) as graph:
        ...     y = ops.cumsum(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[4]

    Raises:
        IndexError: The axis is out of range.
        ValueError: `x` is bool.
    """


@cumsum.types
def _(x: TensorType, axis: int, exclusive: bool, reverse: bool) -> TensorType:
    need_number(x)
    axis_of(axis, x.rank)
    return x


@cumsum.lowers
def _(b: Emitter, x: Handle, axis: int, exclusive: bool, reverse: bool) -> Handle:
    def make(y: Handle) -> Handle:
        return b.node("CumSum", y, b.constant(axis), exclusive=int(exclusive), reverse=int(reverse))

    return computed(b, WIDE_FLOATS | {DType.int32, DType.int64}, make, x)


@cumsum.reference
def _(x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    import numpy as np

    turned = widened(np.flip(x, axis) if reverse else x)
    if exclusive:
        first = np.zeros_like(turned.take([0] if x.shape[axis] else [], axis))
        turned = np.concatenate([first, turned.take(range(x.shape[axis] - 1), axis)], axis)
    sums = np.cumsum(turned, axis, dtype=turned.dtype).astype(x.dtype)
    return np.flip(sums, axis) if reverse else sums


cumsum.samples(
    *(
        {"x": x, "axis": axis, "exclusive": exclusive, "reverse": reverse}
        for x, axis in ((f32[3, 4], 0), (f32[2, 3, 2], -2), (i64[5], 0), (f32[2, 0], 1))
        for exclusive in (False, True)
        for reverse in (False, True)
    ),
    *(
        {"x": x, "axis": -1, "exclusive": True, "reverse": False}
        for x in (i8[5].between(-128, 127), u64[3].of([2**63, 2**63, 5]), f16[3], bf16[3], f32["n:4"])
    ),
    {"x": f32[3].of([1, float("inf"), -1]), "axis": 0, "exclusive": True, "reverse": False},
)
