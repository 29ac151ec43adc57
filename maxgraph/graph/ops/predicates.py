"""Which floats are no numbers, or infinite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..value import TensorValue, TensorValueLike
from .registry import op
from .unary import float_unary

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["is_inf", "is_nan"]


@op()
def is_nan(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """Whether each element is NaN; false for ints.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.is_nan(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]

    Raises:
        ValueError: `x` is bool.
    """


@op()
def is_inf(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """Whether each element is an infinity; false for ints.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.is_inf(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]

    Raises:
        ValueError: `x` is bool.
    """


def _predicate(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of a test of floats."""

    @declared.types
    def _(x: TensorType) -> TensorType:
        return _number(x).cast(DType.bool)

    @declared.lowers
    def _(b: Emitter, x: Handle) -> Handle:
        wide = x if x.dtype in (DType.float32, DType.float64) else b.cast(x, DType.float32)
        return b.node(onnx_op, wide, dtype=DType.bool, since=20)

    @declared.reference
    def _(x: Array) -> Array:
        return getattr(_numpy(), numpy_name)(x)  # type: ignore[no-any-return]

    declared.samples({"x": f32[4].of([1, float("nan"), float("inf"), -float("inf")])}, {"x": f64[2, 2]}, {"x": i32[3]})


_predicate(is_nan, "IsNaN", "isnan")
_predicate(is_inf, "IsInf", "isinf")
