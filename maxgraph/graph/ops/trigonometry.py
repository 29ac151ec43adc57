"""Functions of angles, and their hyperbolic kin."""

from __future__ import annotations

from ..value import TensorValue, TensorValueLike
from .registry import op
from .unary import float_unary

__all__ = ["cos", "sin", "tanh"]


@op()
def sin(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The sine of an angle in radians, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.sin(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(sin, lambda b, x: b.node("Sin", x), lambda np, x: np.sin(x), -4, 4)


@op()
def cos(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The cosine of an angle in radians, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.cos(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(cos, lambda b, x: b.node("Cos", x), lambda np, x: np.cos(x), -4, 4)


@op()
def tanh(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The hyperbolic tangent, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.tanh(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(tanh, lambda b, x: b.node("Tanh", x), lambda np, x: np.tanh(x), -4, 4)
