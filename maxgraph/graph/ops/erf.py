"""The error function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..value import TensorValue, TensorValueLike
from .registry import op
from .unary import float_unary

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["erf"]


def _erf(x: Array) -> Array:
    import math

    np = _numpy()
    return np.array([math.erf(v) for v in x.ravel()], np.float64).reshape(x.shape)  # type: ignore[no-any-return]


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


float_unary(erf, lambda b, x: b.node("Erf", x), _erf, -3, 3, kernels={DType.float32}, special=False)
