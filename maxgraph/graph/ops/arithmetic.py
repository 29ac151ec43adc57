"""Elementwise arithmetic on two operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .registry import Refusal, op
from .rules import broadcast
from .samples import f32, f64, i8, i32, i64, u8

if TYPE_CHECKING:
    import numpy as np

__all__ = ["add"]


def _arithmetic(lhs: TensorType, rhs: TensorType) -> TensorType:
    """The type of a result of arithmetic: the common dtype, broadcast.

    Raises:
        Refusal: The operands are bool, or do not broadcast.
    """
    if lhs.dtype.name == "bool":
        raise Refusal("bool has no arithmetic", code="MG016", help="cast it, or use & | ^ ~")
    return lhs.with_shape(broadcast(lhs=lhs, rhs=rhs))


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


add.types(_arithmetic)


@add.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    return b.node("Add", lhs, rhs)


@add.reference
def _(lhs: np.ndarray[Any, Any], rhs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return lhs + rhs


add.samples(
    {"lhs": f32[2, 3], "rhs": f32[2, 3]},
    {"lhs": f32[2, 3], "rhs": f32[3]},
    {"lhs": f64[2, 1], "rhs": f64[1, 3]},
    {"lhs": i32[4], "rhs": i64[4]},
    {"lhs": i8[4].between(-128, 127), "rhs": i8[4].between(-128, 127)},
    {"lhs": u8[4].between(0, 256), "rhs": u8[()].between(0, 256)},
    {"lhs": f32["n:4", 3], "rhs": f32["n:4", 1]},
)
