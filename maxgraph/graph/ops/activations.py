"""Functions that neural networks put between their layers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .erf import erf_meaning, lower_erf
from .kernels import ORDERED, WIDE_FLOATS, computed, narrowed
from .registry import Refusal, op
from .rules import need_float, need_number
from .samples import bf16, f16, f32, f64, i8, i32, i64, u8, u32
from .unary import float_unary

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["gelu", "relu", "sigmoid", "silu"]


@op()
def sigmoid(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``1 / (1 + exp(-x))``, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.sigmoid(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(sigmoid, lambda b, x: b.node("Sigmoid", x), lambda np, x: 1 / (1 + np.exp(-x)), -4, 4)


@op()
def silu(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``x * sigmoid(x)``, element by element.

    Args:
        x: A floating-point tensor.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.silu(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point.
    """


float_unary(
    silu,
    lambda b, x: b.node("Mul", x, b.node("Sigmoid", x)),
    lambda np, x: x / (1 + np.exp(-x)),
    -4,
    4,
    kernels=WIDE_FLOATS,
)


@op()
def gelu(x: TensorValueLike, approximate: str = "none") -> TensorValue:  # type: ignore[empty-body]
    """The Gaussian error linear unit, element by element.

    Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016): ``x * 0.5 * (1 + erf(x / sqrt(2)))``.

    Args:
        x: A floating-point tensor.
        approximate: "none"; "tanh": ``0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``; or "quick":
            ``x * sigmoid(1.702 * x)``.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.gelu(graph.inputs[0].tensor, "tanh")
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is not floating-point, or `approximate` is something else.
    """


@gelu.types
def _(x: TensorType, approximate: str) -> TensorType:
    need_float(x)
    if approximate not in ("none", "tanh", "quick"):
        raise Refusal(f"`approximate` is {approximate!r}", code="MG017", help='use "none", "tanh" or "quick"')
    return x


@gelu.lowers
def _(b: Emitter, x: Handle, approximate: str) -> Handle:
    def make(y: Handle) -> Handle:
        if approximate == "quick":
            return b.node("Mul", y, b.node("Sigmoid", b.node("Mul", y, b.constant(1.702, y.dtype))))
        if y.dtype is DType.float32:
            return b.node("Gelu", y, approximate=approximate, since=20)
        one, half = b.constant(1, y.dtype), b.constant(0.5, y.dtype)
        if approximate == "tanh":
            cube = b.node("Mul", b.node("Mul", y, y), b.node("Mul", y, b.constant(0.044715, y.dtype)))
            share = b.node("Tanh", b.node("Mul", b.node("Add", y, cube), b.constant((2 / math.pi) ** 0.5, y.dtype)))
        else:
            share = lower_erf(b, b.node("Mul", y, b.constant(0.5**0.5, y.dtype)))
        return b.node("Mul", b.node("Mul", y, half), b.node("Add", one, share))

    return computed(b, WIDE_FLOATS, make, x)


@gelu.reference
def _(x: Array, approximate: str) -> Array:
    import numpy as np

    wide = x.astype(np.float64)
    if approximate == "quick":
        result = wide / (1 + np.exp(-1.702 * wide))
    elif approximate == "tanh":
        result = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    else:
        result = 0.5 * wide * (1 + erf_meaning(np, wide / np.sqrt(2)))
    return narrowed(result, x)


gelu.samples(
    *({"x": f32[3, 4], "approximate": a} for a in ("none", "tanh", "quick")),
    *({"x": f64["n:3"], "approximate": a} for a in ("none", "tanh", "quick")),
    {"x": f16[()], "approximate": "none"},
    {"x": bf16[4], "approximate": "tanh"},
)


@op()
def relu(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``max(x, 0)``, element by element; NaN stays.

    Args:
        x: A tensor of any dtype but bool.

    Returns:
        A tensor of its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.relu(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: `x` is bool.
    """


@relu.types
def _(x: TensorType) -> TensorType:
    need_number(x)
    return x


@relu.lowers
def _(b: Emitter, x: Handle) -> Handle:
    if x.dtype.is_unsigned_integral():
        return x
    if x.dtype.is_integral():
        return computed(b, ORDERED, lambda y: b.node("Max", y, b.constant(0, y.dtype)), x)
    return computed(b, WIDE_FLOATS, lambda y: b.node("Relu", y), x)


@relu.reference
def _(x: Array) -> Array:
    import numpy as np

    return narrowed(np.maximum(x, x.dtype.type(0)), x)


relu.samples(
    {"x": f32[2, 3]},
    {"x": f64["n:4"]},
    {"x": f16[4]},
    {"x": i8[4]},
    {"x": i32[0, 3]},
    {"x": i64[2].of([-(2**62) - 1, 2**62 + 1])},
    {"x": u8[3]},
    {"x": u32[2].of([0, 2**32 - 1])},
    {"x": f32[2].of([float("nan"), -1])},
)
