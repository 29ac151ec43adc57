"""Elementwise sums, products and powers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import ARITHMETIC, WIDE_FLOATS, computed, narrowed, widened
from .registry import Refusal, op
from .rules import broadcast
from .samples import Sample, bf16, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["add", "arithmetic", "mul", "pairs", "pow_", "sub"]


def arithmetic(lhs: TensorType, rhs: TensorType) -> TensorType:
    """The type of a result of arithmetic: the common dtype, broadcast.

    Raises:
        Refusal: The operands are bool, or do not broadcast.
    """
    if lhs.dtype is DType.bool:
        raise Refusal("bool has no arithmetic", code="MG016", help="cast it, or use & | ^ ~")
    return lhs.with_shape(broadcast(lhs=lhs, rhs=rhs))


def pairs(low: float, high: float, *, divisor: bool = False) -> list[Sample]:
    """Operands of several dtypes and ranks; a divisor is never between -1 and 1."""
    least = 1.0 if divisor else low
    return [
        {"lhs": f32[2, 3].between(low, high), "rhs": f32[2, 3].between(least, high)},
        {"lhs": f32[2, 3].between(low, high), "rhs": f32[3].between(least, high)},
        {"lhs": f64[2, 1].between(low, high), "rhs": f64[1, 3].between(least, high)},
        {"lhs": f16[3].between(low, high), "rhs": f16[3].between(least, high)},
        {"lhs": bf16[3].between(low, high), "rhs": bf16[3].between(least, high)},
        {"lhs": i32[4].between(low, high), "rhs": i64[4].between(least, high)},
        {"lhs": i16[4].between(low, high), "rhs": i16[()].between(least, high)},
        {"lhs": u16[4].between(low, high), "rhs": u16[4].between(least, high)},
        {"lhs": f32["n:4", 3].between(low, high), "rhs": f32["n:4", 1].between(least, high)},
        {"lhs": f32[0, 3], "rhs": f32[()].between(least, high)},
    ]


@op(promoted=["lhs", "rhs"])
def add(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs + rhs``, element by element; ints wrap around.

    Args:
        lhs: A tensor, or a number that takes the other's dtype.
        rhs: Likewise; dims must be equal or 1.

    Returns:
        A tensor of the common dtype and the broadcast shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.add(graph.inputs[0].tensor, 1)
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 3]

    Raises:
        ValueError: The dtypes do not combine, or the shapes do not broadcast.
    """


@add.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    return computed(b, ARITHMETIC, lambda x, y: b.node("Add", x, y), lhs, rhs)


@add.reference
def _(lhs: Array, rhs: Array) -> Array:
    return lhs + rhs


add.types(arithmetic)
add.samples(*pairs(-4, 4), {"lhs": i8[4].between(-128, 127), "rhs": i8[4].between(-128, 127)})


@op(promoted=["lhs", "rhs"])
def sub(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs - rhs``, element by element; ints wrap around. See `add` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.int32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.sub(10, graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        int32[3]
    """


@sub.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    return computed(b, ARITHMETIC, lambda x, y: b.node("Sub", x, y), lhs, rhs)


@sub.reference
def _(lhs: Array, rhs: Array) -> Array:
    return lhs - rhs


sub.types(arithmetic)
sub.samples(*pairs(-4, 4), {"lhs": u8[4].between(0, 9), "rhs": u8[4].between(0, 9)})


@op(promoted=["lhs", "rhs"])
def mul(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs * rhs``, element by element; ints wrap around. See `add` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2, 1], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.mul(x, x.reshape([1, 2]))
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 2]
    """


@mul.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    return computed(b, ARITHMETIC, lambda x, y: b.node("Mul", x, y), lhs, rhs)


@mul.reference
def _(lhs: Array, rhs: Array) -> Array:
    return lhs * rhs


mul.types(arithmetic)
mul.samples(*pairs(-4, 4), {"lhs": i8[4].between(-128, 127), "rhs": i8[4].between(-128, 127)})


@op(name="pow", promoted=["lhs", "rhs"])
def pow_(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs ** rhs``, element by element. See `add` for operands and errors.

    Ints are exact while the power is below ``2**53`` in magnitude; a negative exponent rounds toward zero, and has no
    defined result where the base is 0.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.pow(graph.inputs[0].tensor, 2)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """


@pow_.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    # The int64 kernel computes in double precision, and wraps when it is converted to a narrower int.
    return computed(b, WIDE_FLOATS | {DType.int64}, lambda x, y: b.node("Pow", x, y), lhs, rhs)


@pow_.reference
def _(lhs: Array, rhs: Array) -> Array:
    import numpy as np

    if lhs.dtype.kind != "i":
        return narrowed(np.power(widened(lhs), widened(rhs)), lhs)
    positive = np.power(lhs, np.maximum(rhs, 0))
    # One over a power is no fraction only of 1 and -1.
    inverse = np.where(lhs == 1, 1, np.where(lhs == -1, 1 - 2 * (rhs % 2), 0))
    return narrowed(np.where(rhs < 0, inverse, positive), lhs)


pow_.types(arithmetic)
pow_.samples(
    {"lhs": f32[2, 3].between(0.1, 3), "rhs": f32[3]},
    {"lhs": f64["n:4"].between(-3, 3), "rhs": f64[()].of(2)},
    {"lhs": f16[4].between(0.1, 3), "rhs": f16[()].of(1.5)},
    {"lhs": bf16[4].between(0.1, 3), "rhs": bf16[()].of(1.5)},
    {"lhs": i32[4], "rhs": i32[()].of(3)},
    {"lhs": i64[4].of([2, 1, -1, -3]), "rhs": i64[4].of([-1, -2, -3, 5])},
    {"lhs": i8[4].of([2, 1, -1, -3]), "rhs": i8[4].of([-1, -2, -3, 4])},
    {"lhs": u8[4].between(0, 5), "rhs": u8[()].of(2)},
    {"lhs": u32[2].of([65535, 3]), "rhs": u32[()].of(2)},
    {"lhs": f32[0, 2], "rhs": f32[2]},
    {"lhs": f32[4].of([0, -1, float("inf"), float("nan")]), "rhs": f32[4].of([0, 0.5, 0, 0])},
)
