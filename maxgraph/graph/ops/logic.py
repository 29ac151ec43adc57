"""Logic on bools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .registry import Op, op
from .rules import broadcast, need_bool
from .samples import b1

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["logical_and", "logical_not", "logical_or", "logical_xor"]


def _logic(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of a logical connective."""

    @declared.types
    def _(lhs: TensorType, rhs: TensorType) -> TensorType:
        need_bool(lhs, "lhs")
        need_bool(rhs, "rhs")
        return lhs.with_shape(broadcast(lhs=lhs, rhs=rhs))

    @declared.lowers
    def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
        return b.node(onnx_op, lhs, rhs)

    @declared.reference
    def _(lhs: Array, rhs: Array) -> Array:
        import numpy as np

        return getattr(np, numpy_name)(lhs, rhs)  # type: ignore[no-any-return]

    declared.samples(
        {"lhs": b1[2, 3], "rhs": b1[3]},
        {"lhs": b1[4], "rhs": b1[()]},
        {"lhs": b1["n:4", 1], "rhs": b1["n:4", 2]},
        {"lhs": b1[0], "rhs": b1[1]},
    )


@op(promoted=["lhs", "rhs"], casts=False)
def logical_and(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs and rhs``, element by element; ``&`` of tensors.

    Args:
        lhs: A bool tensor, or a bool.
        rhs: Likewise; dims must be equal or 1.

    Returns:
        A bool tensor of the broadcast shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.logical_and(x > 0, x < 1)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]

    Raises:
        ValueError: An operand is not bool, or the shapes do not broadcast.
    """


@op(promoted=["lhs", "rhs"], casts=False)
def logical_or(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """``lhs or rhs``, element by element; ``|`` of tensors. See `logical_and` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.bool, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.logical_or(graph.inputs[0].tensor, False)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]
    """


@op(promoted=["lhs", "rhs"], casts=False)
def logical_xor(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """Whether exactly one is true, element by element; ``^`` of tensors. See `logical_and` for operands and errors.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.bool, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.logical_xor(graph.inputs[0].tensor, True)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]
    """


_logic(logical_and, "And", "logical_and")
_logic(logical_or, "Or", "logical_or")
_logic(logical_xor, "Xor", "logical_xor")


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
    need_bool(x, "x")
    return x


@logical_not.lowers
def _(b: Emitter, x: Handle) -> Handle:
    return b.node("Not", x)


@logical_not.reference
def _(x: Array) -> Array:
    return ~x


logical_not.samples({"x": b1[2, 3]}, {"x": b1[()]}, {"x": b1["n:4"]}, {"x": b1[0]})
