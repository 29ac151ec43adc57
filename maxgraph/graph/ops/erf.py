"""The error function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..shape import Shape
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS
from .registry import op
from .unary import float_unary

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["erf", "erf_meaning", "lower_erf"]

#: Beyond this the error function is 1 in double precision.
_LIMIT = 6.0
#: Points of the quadrature; with these its relative error is below 1e-14 up to the limit.
_POINTS = 28


@op()
def erf(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The error function, ``2 / sqrt(pi) * integral(exp(-t**2), 0, x)``, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.erf(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


def lower_erf(b: Emitter, x: Handle) -> Handle:
    """The error function of single or double precision.

    Onnxruntime has no kernel for double precision. There it is ``2 / sqrt(pi) * x * integral(exp(-(x*t)**2), 0, 1)``
    by Gauss and Legendre's quadrature: every term is positive, so small values keep their relative precision.
    """
    if x.dtype is not DType.float64:
        return b.node("Erf", x)
    import numpy as np

    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    column = b.node("Unsqueeze", b.node("Mul", x, x), b.constant([-1]), shape=Shape([*x.shape, 1]))
    terms = b.node("Exp", b.node("Mul", column, b.constant(-(((points + 1) / 2) ** 2), x.dtype)))
    # The weights are those of -1..1, twice those of 0..1.
    inside = b.node("Mul", x, b.node("MatMul", terms, b.constant(weights / np.sqrt(np.pi), x.dtype)))
    # Beyond the limit it must be exactly 1, so that 1 - erf is exactly 0. NaN is on neither side, and stays.
    is_high = b.node("Greater", x, b.constant(_LIMIT, x.dtype), dtype=DType.bool)
    is_low = b.node("Less", x, b.constant(-_LIMIT, x.dtype), dtype=DType.bool)
    above = b.node("Where", is_high, b.constant(1, x.dtype), inside, dtype=x.dtype)
    return b.node("Where", is_low, b.constant(-1, x.dtype), above, dtype=x.dtype)


def erf_meaning(np: Any, x: Array) -> Array:
    """The error function of each element; numpy itself has none."""
    import math

    return np.array([math.erf(v) for v in x.ravel()], np.float64).reshape(x.shape)  # type: ignore[no-any-return]


float_unary(erf, lower_erf, erf_meaning, -3, 3, kernels=WIDE_FLOATS)
