"""The largest and the smallest: of two elements, or along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..value import TensorValue, TensorValueLike
from .registry import op
from .unary import float_unary

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["max_", "min_"]


@op(promoted=["lhs", "rhs"])
def maximum(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The larger of two elements; NaN where one is NaN. Users call ``ops.max(x, y)``."""


@op(promoted=["lhs", "rhs"])
def minimum(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The smaller of two elements; NaN where one is NaN. Users call ``ops.min(x, y)``."""


def _extreme(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of an elementwise maximum or minimum."""

    @declared.types
    def _(lhs: TensorType, rhs: TensorType) -> TensorType:
        return lhs.with_shape(broadcast(lhs=lhs, rhs=rhs))

    @declared.lowers
    def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
        return computed(b, ORDERED - {DType.float16}, lambda x, y: b.node(onnx_op, x, y), lhs, rhs)

    @declared.reference
    def _(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return getattr(np, numpy_name)(lhs, rhs)  # type: ignore[no-any-return]

    declared.samples(
        {"lhs": f32[2, 3], "rhs": f32[3]},
        {"lhs": i64[4], "rhs": i64[()].of(0)},
        {"lhs": u8[4].between(0, 9), "rhs": u8[4].between(0, 9)},
        {"lhs": i16[4], "rhs": i16[4]},
        {"lhs": f64[3].of([float("nan"), 1, 2]), "rhs": f64[3].of([1, float("nan"), 3])},
    )


_extreme(maximum, "Max", "maximum")
_extreme(minimum, "Min", "minimum")


@op()
def reduce_max(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The largest element along one axis; NaN where there is one. Users call ``ops.max(x, axis=...)``."""


@op()
def reduce_min(x: TensorValueLike, axis: int = -1) -> TensorValue:  # type: ignore[empty-body]
    """The smallest element along one axis; NaN where there is one. Users call ``ops.min(x, axis=...)``."""


def max_(x: TensorValueLike, y: TensorValueLike | None = None, /, axis: int | None = None) -> TensorValue:
    """The larger of two tensors' elements, or the largest element along one axis.

    Args:
        x: A tensor of numbers, or (with `y`) a number.
        y: The other operand; then dims must be equal or 1.
        axis: Without `y`: the axis, which stays with size 1; the last one if not given.

    Returns:
        A tensor of the common dtype. NaN where an element involved is NaN (MAX drops NaN).

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     graph.output(ops.max(x, 0), ops.max(x, axis=0))
        >>> [str(t) for t in graph.output_types]
        ['float32[2, 3]', 'float32[1, 3]']

    Raises:
        IndexError: The axis is out of range.
        ValueError: Both `y` and `axis` are given, the axis is empty, or the operands do not combine.
    """
    return _extreme("max", maximum, reduce_max, x, y, axis)


def min_(x: TensorValueLike, y: TensorValueLike | None = None, /, axis: int | None = None) -> TensorValue:
    """The smaller of two tensors' elements, or the smallest element along one axis. As `max`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.min(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 1]
    """
    return _extreme("min", minimum, reduce_min, x, y, axis)


def _extreme(
    name: str,
    pairwise: Op[..., Any],
    reduction: Op[..., Any],
    x: TensorValueLike,
    y: TensorValueLike | None,
    axis: int | None,
) -> TensorValue:
    if y is not None and axis is not None:
        pairwise.refuse(Refusal(f"{name} of two tensors takes no axis", code="MG017"), [])
    result = pairwise(x, y) if y is not None else reduction(x, -1 if axis is None else axis)
    return TensorValue(result)
