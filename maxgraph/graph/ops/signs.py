"""Magnitude and sign."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import ARITHMETIC, computed
from .registry import op
from .rules import need_number
from .samples import bf16, f32, f64, i8, i32, i64, u8

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["abs_", "negate"]


def _same(x: TensorType) -> TensorType:
    need_number(x)
    return x


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


abs_.types(_same)
abs_.samples(
    {"x": f32[2, 3]},
    {"x": i32["n:4"]},
    {"x": u8[3]},
    {"x": i8[3].of([-128, -1, 5])},
    {"x": bf16[3]},
    {"x": f64[2].of([float("nan"), -0.0])},
)


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


negate.types(_same)
negate.samples(
    {"x": f32[2, 3]},
    {"x": i64["n:4"]},
    {"x": u8[3].between(0, 9)},
    {"x": i8[2].of([-128, 5])},
    {"x": bf16[3]},
    {"x": f64[0]},
)
