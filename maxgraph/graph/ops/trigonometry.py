"""Functions of angles, and their hyperbolic kin."""

from __future__ import annotations

from ...dtype import DType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .exponential import lower_log1p
from .kernels import WIDE_FLOATS
from .registry import op
from .samples import f32, f64
from .unary import float_unary

__all__ = ["acos", "atanh", "cos", "sin", "tanh"]


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


def _lower_acos(b: Emitter, x: Handle) -> Handle:
    """The kernel has single precision only; one step makes good what is lost.

    With ``s = sin(y) = sqrt((1 - x)(1 + x))`` and the single-precision angle a,
    ``d = sin(y - a) = s cos(a) - x sin(a)`` is small, so that ``y = a + d + d**3 / 6``, also near 1 and -1, where a is
    off by some 3e-4.
    """
    angle = b.node("Acos", b.cast(x, DType.float32))
    if x.dtype is DType.float32:
        return angle
    angle, one = b.cast(angle, x.dtype), b.constant(1, x.dtype)
    sine = b.node("Sqrt", b.node("Mul", b.node("Sub", one, x), b.node("Add", one, x)))
    left = b.node("Sub", b.node("Mul", sine, b.node("Cos", angle)), b.node("Mul", x, b.node("Sin", angle)))
    cube = b.node("Mul", left, b.node("Mul", left, left))
    return b.node("Add", angle, b.node("Add", left, b.node("Mul", cube, b.constant(1 / 6, x.dtype))))


def _lower_atanh(b: Emitter, x: Handle) -> Handle:
    if x.dtype is DType.float32:
        return b.node("Atanh", x)
    # The kernel has single precision only.
    both = b.node("Sub", lower_log1p(b, x), lower_log1p(b, b.node("Neg", x)))
    return b.node("Mul", both, b.constant(0.5, x.dtype))


@op()
def acos(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The angle in radians from 0 to pi that has this cosine; NaN beyond -1 and 1, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.acos(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(acos, _lower_acos, lambda np, x: np.arccos(x), -1, 1, kernels=WIDE_FLOATS)
acos.samples({"x": f64[7].of([1, -1, 1 - 1e-10, 1e-9 - 1, 1 + 1e-12, 0.999, -1e-20])}, {"x": f32[3].of([1.5, -1.5, 1])})


@op()
def atanh(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The inverse of `tanh`; an infinity at -1 and 1 and NaN beyond, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.atanh(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(atanh, _lower_atanh, lambda np, x: np.arctanh(x), -0.9, 0.9, kernels=WIDE_FLOATS)
atanh.samples({"x": f64[6].of([1, -1, 1e-12, -1e-300, 1 - 1e-9, 1.5])}, {"x": f32[4].of([1, -1, 1.5, 1e-6])})
