"""Comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import ARITHMETIC, compute_in
from .registry import Op, op
from .rules import broadcast
from .samples import b1, bf16, f16, f32, f64, i16, i32, i64, u8, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["equal", "greater", "greater_equal", "not_equal"]


def _comparison(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of a comparison: a bool for each pair, false where one is NaN (IEEE 754)."""

    @declared.types
    def _(lhs: TensorType, rhs: TensorType) -> TensorType:
        return lhs.with_shape(broadcast(lhs=lhs, rhs=rhs)).cast(DType.bool)

    @declared.lowers
    def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
        dtype = DType.uint8 if lhs.dtype is DType.bool else compute_in(lhs.dtype, ARITHMETIC)
        result = b.node(onnx_op, b.cast(lhs, dtype), b.cast(rhs, dtype), dtype=DType.bool)
        return b.node("Not", result) if declared is not_equal else result

    @declared.reference
    def _(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return getattr(np, numpy_name)(lhs, rhs)  # type: ignore[no-any-return]

    nan = float("nan")
    declared.samples(
        {"lhs": f32[2, 3].between(-2, 2), "rhs": f32[3].between(-2, 2)},
        {"lhs": i32[4].between(0, 3), "rhs": i64[4].between(0, 3)},
        {"lhs": b1[4], "rhs": b1[4]},
        {"lhs": u8[4].between(0, 3), "rhs": i16[()].of(1)},
        {"lhs": u64[2].of([2**63, 1]), "rhs": u64[2].of([1, 2**64 - 1])},
        {"lhs": f16[3], "rhs": f16[3]},
        {"lhs": bf16[3].of([1, 2, nan]), "rhs": bf16[()].of(1)},
        {"lhs": f64[4].of([1, nan, 2, nan]), "rhs": f64[4].of([1, 1, 3, nan])},
        {"lhs": f32["n:4"], "rhs": f32[1].of(0)},
        {"lhs": f32[0], "rhs": f32[()]},
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


_comparison(equal, "Equal", "equal")
_comparison(greater, "Greater", "greater")
_comparison(greater_equal, "GreaterOrEqual", "greater_equal")
_comparison(not_equal, "Equal", "not_equal")
