"""Floats without their fraction."""

from __future__ import annotations

from ...dtype import DType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS
from .registry import op
from .unary import float_unary

__all__ = ["ceil", "floor", "round_", "trunc"]


@op()
def floor(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The largest integer that is not above ``x``, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.floor(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(floor, lambda b, x: b.node("Floor", x), lambda np, x: np.floor(x), -4, 4)


@op()
def ceil(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The smallest integer that is not below ``x``, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.ceil(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(ceil, lambda b, x: b.node("Ceil", x), lambda np, x: np.ceil(x), -4, 4)


@op(name="round")
def round_(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The nearest integer; halves go to the even one, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.round(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(round_, lambda b, x: b.node("Round", x), lambda np, x: np.round(x), -4, 4)


def _lower_trunc(b: Emitter, x: Handle) -> Handle:
    # ONNX has no Trunc, and a cast to int64 would lose what is larger.
    below = b.node("Less", x, b.constant(0, x.dtype), dtype=DType.bool)
    return b.node("Where", below, b.node("Ceil", x), b.node("Floor", x), dtype=x.dtype)


@op()
def trunc(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``x`` without its fraction, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.trunc(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(trunc, _lower_trunc, lambda np, x: np.trunc(x), -4, 4, kernels=WIDE_FLOATS)
