"""Running sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..value import TensorValue, TensorValueLike
from .registry import op
from .unary import float_unary

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["cumsum"]


@op()
def cumsum(  # type: ignore[empty-body]
    x: TensorValueLike,
    axis: int = -1,
    exclusive: bool = False,  # noqa: FBT001, FBT002 - MAX's signature
    reverse: bool = False,  # noqa: FBT001, FBT002 - MAX's signature
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
def _(x: TensorType, axis: int, exclusive: bool, reverse: bool) -> TensorType:  # noqa: ARG001, FBT001 - as the op
    _numbers(x, axis)
    return x


@cumsum.lowers
def _(b: Emitter, x: Handle, axis: int, exclusive: bool, reverse: bool) -> Handle:  # noqa: FBT001 - as the op
    def make(y: Handle) -> Handle:
        return b.node("CumSum", y, b.constant(axis), exclusive=int(exclusive), reverse=int(reverse))

    return computed(b, FLOATS_AND_WIDE_INTS - {DType.float16}, make, x)


@cumsum.reference
def _(x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:  # noqa: FBT001 - as the op
    np = _numpy()
    turned = np.flip(x, axis) if reverse else x
    sums = np.cumsum(turned, axis, dtype=x.dtype)
    if exclusive:
        sums = sums - turned
    return np.flip(sums, axis).copy() if reverse else sums  # type: ignore[no-any-return]


cumsum.samples(
    *(
        {"x": f32[3, 4].between(-2, 2), "axis": axis, "exclusive": e, "reverse": r}
        for axis, e, r in ((0, False, False), (1, True, False), (-1, False, True), (1, True, True))
    ),
    {"x": i64[5], "axis": 0, "exclusive": False, "reverse": False},
    {"x": i8[5], "axis": 0, "exclusive": False, "reverse": False},
)
