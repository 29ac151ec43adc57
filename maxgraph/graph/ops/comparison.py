"""Comparisons, logic, and the choice between values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import COMPARED, ORDERED, compute_in, computed
from .registry import Op, op
from .rules import broadcast, need_bool
from .samples import b1, f16, f32, f64, i16, i32, i64, u8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "not_equal",
    "where",
]


def _comparison(declared: Op[..., Any], onnx_op: str, numpy_name: str, *, ordered: bool) -> None:
    """Completes the declaration of a comparison: a bool for each pair, false where one is NaN (IEEE 754)."""

    @declared.types
    def _(lhs: TensorType, rhs: TensorType) -> TensorType:
        return lhs.with_shape(broadcast(lhs=lhs, rhs=rhs)).cast(DType.bool)

    @declared.lowers
    def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
        dtype = lhs.dtype
        if dtype is DType.bool and ordered:
            dtype = DType.int32
        elif dtype not in COMPARED and dtype is not DType.bool:
            dtype = compute_in(dtype, COMPARED)
        since = 16 if onnx_op == "GreaterOrEqual" else 13
        return b.node(onnx_op, b.cast(lhs, dtype), b.cast(rhs, dtype), dtype=DType.bool, since=since)

    @declared.reference
    def _(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return getattr(np, numpy_name)(lhs, rhs)  # type: ignore[no-any-return]

    declared.samples(
        {"lhs": f32[2, 3].between(-2, 2), "rhs": f32[3].between(-2, 2)},
        {"lhs": i32[4].between(0, 3), "rhs": i64[4].between(0, 3)},
        {"lhs": b1[4], "rhs": b1[4]},
        {"lhs": u8[4].between(0, 3), "rhs": i16[()].of(1)},
        {"lhs": f16[3], "rhs": f16[3]},
        {"lhs": f64[4].of([1, float("nan"), 2, float("nan")]), "rhs": f64[4].of([1, 1, 3, float("nan")])},
        {"lhs": f32["n:4"], "rhs": f32[1].of(0)},
    )


@op(promoted=["lhs", "rhs"])
def equal(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs == rhs``, element by element; NaN equals nothing.

    Args:
        lhs: A tensor, or a number that takes the other's dtype.
        rhs: Likewise; dims must be equal or 1.

    Returns:
        A bool tensor of the broadcast shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.int64, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.equal(graph.inputs[0].tensor, 0)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]

    Raises:
        ValueError: The dtypes do not combine, or the shapes do not broadcast.
    """


@op(promoted=["lhs", "rhs"])
def greater(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs > rhs``, element by element; false where one is NaN. See `equal` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.greater(graph.inputs[0].tensor, 0.5)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]
    """


@op(promoted=["lhs", "rhs"])
def greater_equal(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs >= rhs``, element by element; false where one is NaN. See `equal` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.greater_equal(graph.inputs[0].tensor, 0.5)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]
    """


@op(promoted=["lhs", "rhs"])
def not_equal(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs != rhs``, element by element; NaN differs from everything. See `equal` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.int64, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.not_equal(graph.inputs[0].tensor, 0)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]
    """


_comparison(equal, "Equal", "equal", ordered=False)
_comparison(greater, "Greater", "greater", ordered=True)
_comparison(greater_equal, "GreaterOrEqual", "greater_equal", ordered=True)
_comparison(not_equal, "Equal", "not_equal", ordered=False)


@not_equal.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    dtype = lhs.dtype if lhs.dtype in COMPARED or lhs.dtype is DType.bool else compute_in(lhs.dtype, COMPARED)
    return b.node("Not", b.node("Equal", b.cast(lhs, dtype), b.cast(rhs, dtype), dtype=DType.bool))


def _logic(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of a logical connective."""

    @declared.types
    def _(lhs: TensorType, rhs: TensorType) -> TensorType:
        need_bool(lhs, "lhs")
        need_bool(rhs, "rhs")
        return lhs.with_shape(broadcast(lhs=lhs, rhs=rhs))

    @declared.lowers
    def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
        return b.node(onnx_op, lhs, rhs)

    @declared.reference
    def _(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return getattr(np, numpy_name)(lhs, rhs)  # type: ignore[no-any-return]

    declared.samples({"lhs": b1[2, 3], "rhs": b1[3]}, {"lhs": b1[4], "rhs": b1[()]})


@op(promoted=["lhs", "rhs"])
def logical_and(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs and rhs``, element by element; ``&`` of tensors.

    Args:
        lhs: A bool tensor, or a bool.
        rhs: Likewise; dims must be equal or 1.

    Returns:
        A bool tensor of the broadcast shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.logical_and(x > 0, x < 1)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]

    Raises:
        ValueError: An operand is not bool, or the shapes do not broadcast.
    """


@op(promoted=["lhs", "rhs"])
def logical_or(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs or rhs``, element by element; ``|`` of tensors. See `logical_and` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.bool, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.logical_or(graph.inputs[0].tensor, False)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]
    """


@op(promoted=["lhs", "rhs"])
def logical_xor(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """Whether exactly one is true, element by element; ``^`` of tensors. See `logical_and` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.bool, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.logical_xor(graph.inputs[0].tensor, True)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]
    """


_logic(logical_and, "And", "logical_and")
_logic(logical_or, "Or", "logical_or")
_logic(logical_xor, "Xor", "logical_xor")


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


@op(promoted=["x", "y"])
def where(condition: TensorValueLike, x: TensorValueLike, y: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``x`` where the condition holds, else ``y``, element by element.

    Args:
        condition: A bool tensor.
        x: A tensor, or a number that takes the other's dtype.
        y: Likewise; the dims of all three must be equal or 1.

    Returns:
        A tensor of the common dtype of `x` and `y` and the broadcast shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.where(x > 0, x, 0)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: The condition is not bool, the dtypes do not combine, or the shapes do not broadcast.
    """


@where.types
def _(condition: TensorType, x: TensorType, y: TensorType) -> TensorType:
    need_bool(condition, "condition")
    return x.with_shape(broadcast(condition=condition, x=x, y=y))


@where.lowers
def _(b: Emitter, condition: Handle, x: Handle, y: Handle) -> Handle:
    kernels = {DType.uint8, DType.int32, DType.int64, DType.float32, DType.float64}
    return computed(b, kernels, lambda p, q: b.node("Where", condition, p, q, dtype=p.dtype), x, y)


@where.reference
def _(condition: Array, x: Array, y: Array) -> Array:
    import numpy as np

    return np.where(condition, x, y)


where.samples(
    {"condition": b1[2, 3], "x": f32[2, 3], "y": f32[3]},
    {"condition": b1[2, 1], "x": i64[1, 3], "y": i64[()]},
    {"condition": b1[4], "x": b1[4], "y": b1[4]},
    {"condition": b1[4], "x": f16[4], "y": f16[4]},
    {"condition": b1["n:4"], "x": f64["n:4"], "y": f64[1]},
)
