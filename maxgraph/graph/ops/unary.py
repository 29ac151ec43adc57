"""Elementwise functions of one operand."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import ARITHMETIC, FLOATS, computed
from .registry import Op, Refusal, op
from .rules import need_float
from .samples import b1, f16, f32, f64, i8, i32, i64, u8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = [
    "abs_",
    "ceil",
    "cos",
    "erf",
    "exp",
    "floor",
    "gelu",
    "is_inf",
    "is_nan",
    "log",
    "log1p",
    "logical_not",
    "negate",
    "relu",
    "round_",
    "rsqrt",
    "sigmoid",
    "silu",
    "sin",
    "sqrt",
    "tanh",
    "trunc",
]


def _float_unary(
    declared: Op[..., Any],
    lowering: Callable[[Emitter, Handle], Handle],
    meaning: Callable[[Array], Array],
    low: float,
    high: float,
    *,
    kernels: Collection[DType] = FLOATS,
    special: bool = True,
) -> None:
    """Completes the declaration of a function on floats: same dtype, same shape, IEEE at the special values."""

    @declared.types
    def _(x: TensorType) -> TensorType:
        need_float(x)
        return x

    @declared.lowers
    def _(b: Emitter, x: Handle) -> Handle:
        return computed(b, kernels, lambda y: lowering(b, y), x)

    @declared.reference
    def _(x: Array) -> Array:
        import numpy as np

        with np.errstate(all="ignore"):
            return np.asarray(meaning(x)).astype(x.dtype)

    declared.samples(
        {"x": f32[2, 3].between(low, high)},
        {"x": f64[5].between(low, high)},
        {"x": f16[4].between(low, high)},
        {"x": f32["n:3", 2].between(low, high)},
        {"x": f32[()].between(low, high)},
        {"x": f32[0, 2]},
    )
    if special:
        declared.samples({"x": f32[5].of([float("nan"), float("inf"), -float("inf"), 0.0, -0.0])})


def _numpy() -> Any:  # noqa: ANN401 - the numpy module, imported only when a meaning runs
    import numpy as np

    return np


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


_float_unary(exp, lambda b, x: b.node("Exp", x), lambda x: _numpy().exp(x), -4, 4)


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


_float_unary(log, lambda b, x: b.node("Log", x), lambda x: _numpy().log(x), 0.1, 4)


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


_float_unary(sqrt, lambda b, x: b.node("Sqrt", x), lambda x: _numpy().sqrt(x), 0, 4)


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


_float_unary(rsqrt, lambda b, x: b.node("Reciprocal", b.node("Sqrt", x)), lambda x: 1 / _numpy().sqrt(x), 0.1, 4)


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


_float_unary(sin, lambda b, x: b.node("Sin", x), lambda x: _numpy().sin(x), -4, 4)


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


_float_unary(cos, lambda b, x: b.node("Cos", x), lambda x: _numpy().cos(x), -4, 4)


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


_float_unary(tanh, lambda b, x: b.node("Tanh", x), lambda x: _numpy().tanh(x), -4, 4)


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


_float_unary(floor, lambda b, x: b.node("Floor", x), lambda x: _numpy().floor(x), -4, 4)


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


_float_unary(ceil, lambda b, x: b.node("Ceil", x), lambda x: _numpy().ceil(x), -4, 4)


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


_float_unary(round_, lambda b, x: b.node("Round", x), lambda x: _numpy().round(x), -4, 4)


def _lower_trunc(b: Emitter, x: Handle) -> Handle:
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


_float_unary(trunc, _lower_trunc, lambda x: _numpy().trunc(x), -4, 4)


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


_float_unary(erf, lambda b, x: b.node("Erf", x), _erf, -3, 3, kernels={DType.float32}, special=False)


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


_float_unary(sigmoid, lambda b, x: b.node("Sigmoid", x), lambda x: 1 / (1 + _numpy().exp(-x)), -4, 4)


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


_float_unary(silu, lambda b, x: b.node("Mul", x, b.node("Sigmoid", x)), lambda x: x / (1 + _numpy().exp(-x)), -4, 4, special=False)


def _lower_log1p(b: Emitter, x: Handle) -> Handle:
    """``x * log(u) / (u - 1)`` with ``u = 1 + x``, which is exact where u rounds (Kahan); ``x`` itself where u is 1."""
    one = b.constant(1, x.dtype)
    u = b.node("Add", x, one)
    tiny = b.node("Equal", u, one, dtype=DType.bool)
    over = b.node("Where", tiny, one, b.node("Sub", u, one), dtype=x.dtype)
    return b.node("Where", tiny, x, b.node("Div", b.node("Mul", x, b.node("Log", u)), over), dtype=x.dtype)


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


_float_unary(log1p, _lower_log1p, lambda x: _numpy().log1p(x), -0.9, 4, special=False)


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
        return b.node("Gelu", y, approximate=approximate, since=20)

    return computed(b, {DType.float32}, make, x)


@gelu.reference
def _(x: Array, approximate: str) -> Array:
    np = _numpy()
    wide = x.astype(np.float64)
    if approximate == "quick":
        result = wide / (1 + np.exp(-1.702 * wide))
    elif approximate == "tanh":
        result = 0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
    else:
        result = 0.5 * wide * (1 + _erf(wide / np.sqrt(2)))
    return result.astype(x.dtype)  # type: ignore[no-any-return]


gelu.samples(*({"x": f32[3, 4], "approximate": a} for a in ("none", "tanh", "quick")), {"x": f64[3], "approximate": "none"})


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


@relu.lowers
def _(b: Emitter, x: Handle) -> Handle:
    return computed(b, {DType.int8, DType.int32, *FLOATS}, lambda y: b.node("Relu", y), x)


@relu.reference
def _(x: Array) -> Array:
    return _numpy().maximum(x, x.dtype.type(0))  # type: ignore[no-any-return]


def _number(x: TensorType) -> TensorType:
    """The type rule of functions of numbers.

    Raises:
        Refusal: It is bool.
    """
    if x.dtype is DType.bool:
        raise Refusal("`x` is bool, not a number", code="MG016", help="cast it first, e.g. x.cast(DType.int32)")
    return x


relu.types(_number)
relu.samples({"x": f32[2, 3]}, {"x": f64[4]}, {"x": i8[4]}, {"x": i32[3]}, {"x": f32[2].of([float("nan"), -1])})


@op(name="abs")
def abs_(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The absolute value, element by element; the smallest int stays as it is.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.int32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.abs(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        int32[3]

    Raises:
        ValueError: `x` is bool.
    """


@abs_.lowers
def _(b: Emitter, x: Handle) -> Handle:
    return computed(b, ARITHMETIC, lambda y: b.node("Abs", y), x)


@abs_.reference
def _(x: Array) -> Array:
    return builtins.abs(x)


abs_.types(_number)
abs_.samples({"x": f32[2, 3]}, {"x": i32[4]}, {"x": u8[3]}, {"x": i8[4]}, {"x": f64[2].of([float("nan"), -0.0])})


@op()
def negate(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``-x``, element by element; unsigned ints wrap around.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.int32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.negate(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        int32[3]

    Raises:
        ValueError: `x` is bool.
    """


@negate.lowers
def _(b: Emitter, x: Handle) -> Handle:
    if x.dtype.is_unsigned_integral():
        return b.node("Sub", b.constant(0, x.dtype), x)
    return computed(b, ARITHMETIC, lambda y: b.node("Neg", y), x)


@negate.reference
def _(x: Array) -> Array:
    return -x


negate.types(_number)
negate.samples({"x": f32[2, 3]}, {"x": i64[4]}, {"x": u8[3].between(0, 9)}, {"x": i8[3]})


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


@op()
def logical_not(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``not x``, element by element.

    Args:
        x: A bool tensor.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.bool, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.logical_not(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]

    Raises:
        ValueError: `x` is not bool.
    """


@logical_not.types
def _(x: TensorType) -> TensorType:
    from .rules import need_bool

    need_bool(x, "x")
    return x


@logical_not.lowers
def _(b: Emitter, x: Handle) -> Handle:
    return b.node("Not", x)


@logical_not.reference
def _(x: Array) -> Array:
    return ~x


logical_not.samples({"x": b1[2, 3]}, {"x": b1[()]})
