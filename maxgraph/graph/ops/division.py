"""True division, floor division and its rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..coerce import is_weak
from ..dtype_promotion import promote
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .arithmetic import arithmetic, pairs
from .cast import cast
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .kernels import ARITHMETIC, WIDE_FLOATS, computed, narrowed, select, widened
from .registry import op
from .samples import Sample, bf16, f16, f32, i8, i32, i64, u8, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["div", "floor_div", "mod"]


def div(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:
    """True division, element by element; two integer operands give float64. See `add` for operands and errors.

    A division by zero gives an infinity or NaN.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.int32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.div(graph.inputs[0].tensor, 2)
        ...     graph.output(y)
        >>> print(y.type)
        float64[3]
    """
    values = [v if is_weak(v) else tensor_operand(v, "div", n) for n, v in (("lhs", lhs), ("rhs", rhs))]
    tensors = [v for v in values if isinstance(v, TensorValue)]
    are_ints = len(tensors) == 2 and all(t.dtype.is_integral() for t in tensors)
    if are_ints and promote(tensors[0].dtype, tensors[1].dtype) is None:
        # The result is float64 whatever the ints are, also those that have no common dtype.
        values = [cast(t, DType.float64) for t in tensors]
    return _div(values[0], values[1])


@op(name="div", promoted=["lhs", "rhs"])
def _div(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """True division of operands of one dtype."""


@_div.types
def _(lhs: TensorType, rhs: TensorType) -> TensorType:
    result = arithmetic(lhs, rhs)
    return result.cast(DType.float64) if lhs.dtype.is_integral() else result


@_div.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    if lhs.dtype.is_integral():
        lhs, rhs = b.cast(lhs, DType.float64), b.cast(rhs, DType.float64)
    return computed(b, ARITHMETIC, lambda x, y: b.node("Div", x, y), lhs, rhs)


@_div.reference
def _(lhs: Array, rhs: Array) -> Array:
    import numpy as np

    if lhs.dtype.kind in "iu":
        return lhs.astype(np.float64) / rhs.astype(np.float64)
    return lhs / rhs


_div.samples(*pairs(-4, 4, divisor=True), {"lhs": f32[3].of([1, -1, 0]), "rhs": f32[3].of([0, 0, 0])})


@op(promoted=["lhs", "rhs"])
def floor_div(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``floor(lhs / rhs)``, element by element; ints stay ints. See `add` for operands and errors.

    An integer divided by zero gives 0.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.int32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.floor_div(graph.inputs[0].tensor, 2)
        ...     graph.output(y)
        >>> print(y.type)
        int32[3]
    """


def _safe_divisor(b: Emitter, rhs: Handle) -> tuple[Handle, Handle | None, Handle]:
    """Where an integer divisor is 0, where it is -1 (if it can be), and the divisor with 1 in both places.

    Dividing by zero, or the smallest int by -1, would stop the process inside the kernel.
    """
    is_zero = b.node("Equal", rhs, b.constant(0, rhs.dtype), dtype=DType.bool)
    if rhs.dtype.is_unsigned_integral():
        return is_zero, None, select(b, is_zero, b.constant(1, rhs.dtype), rhs)
    is_minus = b.node("Equal", rhs, b.constant(-1, rhs.dtype), dtype=DType.bool)
    return is_zero, is_minus, select(b, b.node("Or", is_zero, is_minus), b.constant(1, rhs.dtype), rhs)


@floor_div.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    if not lhs.dtype.is_integral():
        return computed(b, WIDE_FLOATS, lambda x, y: b.node("Floor", b.node("Div", x, y)), lhs, rhs)
    is_zero, is_minus, divisor = _safe_divisor(b, rhs)
    if is_minus is None:
        quotient = b.node("Div", lhs, divisor)
    else:
        # Div truncates; it is one too high where the rest that it leaves differs from Mod's, which floors.
        truncated = b.node("Div", lhs, divisor)
        rest = b.node("Sub", lhs, b.node("Mul", truncated, divisor))
        as_floored = b.node("Equal", rest, b.node("Mod", lhs, divisor), dtype=DType.bool)
        floored = b.node("Sub", truncated, b.cast(b.node("Not", as_floored), lhs.dtype))
        quotient = select(b, is_minus, b.node("Sub", b.constant(0, lhs.dtype), lhs), floored)
    return select(b, is_zero, b.constant(0, lhs.dtype), quotient)


@floor_div.reference
def _(lhs: Array, rhs: Array) -> Array:
    import numpy as np

    if lhs.dtype.kind in "iu":
        return lhs // rhs
    return narrowed(np.floor(widened(lhs) / widened(rhs)), lhs)


floor_div.types(arithmetic)
_SIGNS: list[Sample] = [
    {"lhs": i32[4].of([7, -7, 7, -7]), "rhs": i32[4].of([2, 2, -2, -2])},
    {"lhs": i64[3].of([5, -5, 0]), "rhs": i64[3].of([0, 0, 0])},
    {"lhs": i8[3].of([-128, 127, -127]), "rhs": i8[3].of([-1, -1, 3])},
    {"lhs": i64[3].of([-(2**63), 2**63 - 1, -(2**63)]), "rhs": i64[()].of(-1)},
    {"lhs": u64[3].of([2**64 - 1, 7, 9]), "rhs": u64[3].of([2**63, 0, 2])},
    {"lhs": u8[3].of([200, 7, 9]), "rhs": u8[3].of([7, 0, 2])},
    {"lhs": f32[4].of([7, -7, 7, -7]), "rhs": f32[4].of([2, 2, -2, -2])},
    {"lhs": f32["n:2", 3].between(-9, 9), "rhs": f32[3].between(1, 4)},
    {"lhs": f16[4].of([7, -7, 0.5, 1]), "rhs": f16[4].of([2, 2, -2, 0.1])},
    {"lhs": bf16[4].of([7, -7, 0.5, 1]), "rhs": bf16[4].of([2, 2, -2, 0.1])},
    {"lhs": f32[0], "rhs": f32[()].of(0)},
]
floor_div.samples(*_SIGNS)


@op(promoted=["lhs", "rhs"])
def mod(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The rest of `floor_div`, with the divisor's sign. See `add` for operands and errors.

    The rest of an integer division by zero is 0.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.int64, [], DeviceRef.CPU())]) as graph:
        ...     y = ops.mod(graph.inputs[0].tensor, 8)
        ...     graph.output(y)
        >>> print(y.type)
        int64[]
    """


@mod.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    if not lhs.dtype.is_integral():

        def rest(x: Handle, y: Handle) -> Handle:
            return b.node("Sub", x, b.node("Mul", b.node("Floor", b.node("Div", x, y)), y))

        return computed(b, WIDE_FLOATS, rest, lhs, rhs)
    return b.node("Mod", lhs, _safe_divisor(b, rhs)[2])  # the rest of a division by 1 is 0


@mod.reference
def _(lhs: Array, rhs: Array) -> Array:
    import numpy as np

    if lhs.dtype.kind in "iu":
        return lhs % rhs
    x, y = widened(lhs), widened(rhs)
    return narrowed(x - np.floor(x / y) * y, lhs)


mod.types(arithmetic)
mod.samples(*_SIGNS)
