"""Complex numbers as pairs of floats along the last axis."""

from __future__ import annotations

from ...errors import TypeRuleError, user_location
from ..type import static_dim
from ..value import TensorValue, TensorValueLike
from .arithmetic import add, sub
from .arithmetic import mul as multiply
from .coerced import tensor_operand
from .joining import stack
from .shapes import reshape
from .slicing import slice_tensor

__all__ = ["as_interleaved_complex", "mul"]

_PAIR = 2


def as_interleaved_complex(x: TensorValueLike) -> TensorValue:
    """Consecutive elements of the last axis as pairs of a real and an imaginary part.

    Args:
        x: A tensor whose last axis has an even static size ``2k``.

    Returns:
        A view of shape ``[..., k, 2]``.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 6], DeviceRef.CPU())]) as graph:
        ...     y = ops.as_interleaved_complex(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 3, 2]

    Raises:
        ValueError: The last axis has no even static size.
    """
    value = tensor_operand(x, "as_interleaved_complex", "x")
    size = static_dim(value.shape[-1]) if value.rank else None
    if size is None or size % _PAIR:
        raise TypeRuleError(
            f"as_interleaved_complex: the last axis must have an even static size: {value.shape.text}",
            code="MG015",
            where=user_location(columns=True),
        )
    return reshape(value, [*value.shape[:-1], size // _PAIR, _PAIR])


def mul(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:
    """The product of complex numbers, which are pairs along the last axis.

    Args:
        lhs, rhs: Tensors of shape ``[..., 2]``.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 2], DeviceRef.CPU())]) as graph:
        ...     y = ops.complex.mul(graph.inputs[0].tensor, graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 2]

    Raises:
        ValueError: A last axis is not 2, or the shapes do not broadcast.
    """
    parts = []
    for name, given in (("lhs", lhs), ("rhs", rhs)):
        value = tensor_operand(given, "complex.mul", name)
        if not value.rank or value.shape[-1] != _PAIR:
            raise TypeRuleError(
                f"complex.mul: the last axis of `{name}` must be 2: {value.shape.text}",
                code="MG015",
                where=user_location(columns=True),
                help="write ops.as_interleaved_complex(x) first",
            )
        parts.append([slice_tensor(value, [..., at]) for at in range(_PAIR)])
    (a, b), (c, d) = parts
    return stack([sub(multiply(a, c), multiply(b, d)), add(multiply(a, d), multiply(b, c))], axis=-1)
