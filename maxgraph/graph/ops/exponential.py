"""Exponentials, logarithms and roots."""

from __future__ import annotations

from ...dtype import DType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS
from .registry import op
from .unary import float_unary

__all__ = ["exp", "log", "log1p", "lower_log1p", "rsqrt", "sqrt"]


@op()
def exp(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``e ** x``, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.exp(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(exp, lambda b, x: b.node("Exp", x), lambda np, x: np.exp(x), -4, 4)


@op()
def log(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The natural logarithm; NaN below zero, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.log(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(log, lambda b, x: b.node("Log", x), lambda np, x: np.log(x), 0.1, 4)


def lower_log1p(b: Emitter, x: Handle) -> Handle:
    """``log(u) * x / d`` with ``u = 1 + x`` and ``d = u - 1``: what is lost in u is made good by ``x / d`` (Kahan).

    Where u rounds to 1 the result is x itself; where d is x (also an infinity) the ratio is 1.
    """
    one = b.constant(1, x.dtype)
    u = b.node("Add", x, one)
    d = b.node("Sub", u, one)
    is_exact = b.node("Equal", d, x, dtype=DType.bool)
    ratio = b.node("Where", is_exact, one, b.node("Div", x, d), dtype=x.dtype)
    is_tiny = b.node("Equal", u, one, dtype=DType.bool)
    return b.node("Where", is_tiny, x, b.node("Mul", b.node("Log", u), ratio), dtype=x.dtype)


@op()
def log1p(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``log(1 + x)``, exact for small ``x`` too, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.log1p(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(log1p, lower_log1p, lambda np, x: np.log1p(x), -0.9, 4, kernels=WIDE_FLOATS)


@op()
def sqrt(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The square root; NaN below zero, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.sqrt(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(sqrt, lambda b, x: b.node("Sqrt", x), lambda np, x: np.sqrt(x), 0, 4)


@op()
def rsqrt(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``1 / sqrt(x)``, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.rsqrt(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(
    rsqrt,
    lambda b, x: b.node("Reciprocal", b.node("Sqrt", x)),
    lambda np, x: 1 / np.sqrt(x),
    0.1,
    4,
    kernels=WIDE_FLOATS,
)
