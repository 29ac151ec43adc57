"""Products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..shape import Shape
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS, computed, narrowed, widened
from .registry import Refusal, op
from .rules import broadcast
from .samples import bf16, f16, f32, f64, i32, i64, u8, u32, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["matmul", "outer"]

#: The unsigned kernels fail where the inner axis is empty.
_KERNELS = WIDE_FLOATS | {DType.int32, DType.int64}


@op(promoted=["lhs", "rhs"])
def matmul(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The matrix product over the last two axes; axes before them are batches, and broadcast.

    Args:
        lhs: A tensor ``[..., m, k]``, or a vector ``[k]``.
        rhs: A tensor ``[..., k, n]``, or a vector ``[k]``.

    Returns:
        A tensor ``[..., m, n]``; the axis that a vector lacks is left out.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [TensorType(DType.float32, ["batch", 8], cpu), TensorType(DType.float32, [8, 4], cpu)]
        >>> with Graph("g", input_types=types) as graph:
        ...     y = ops.matmul(*graph.inputs)
        ...     graph.output(y)
        >>> print(y.type)
        float32[batch, 4]

    Raises:
        ValueError: An operand has rank 0, the inner dims differ, the batch dims do not broadcast, or the dtypes do
            not combine.
    """


@matmul.types
def _(lhs: TensorType, rhs: TensorType) -> TensorType:
    for name, type_ in (("lhs", lhs), ("rhs", rhs)):
        if type_.rank == 0:
            raise Refusal(f"`{name}` has rank 0", code="MG014", help="use * to scale by a number")
    if lhs.dtype is DType.bool:
        raise Refusal("bool has no product", code="MG016", help="cast it first, e.g. x.cast(DType.float32)")
    inner = -2 if rhs.rank > 1 else -1
    if lhs.shape[-1] != rhs.shape[inner]:
        could = rhs.rank > 1 and lhs.shape[-1] == rhs.shape[-1]
        raise Refusal(
            f"axis -1 of `lhs` is {lhs.shape[-1]} but axis {inner} of `rhs` is {rhs.shape[inner]}",
            code="MG012",
            help="transpose the right operand: ops.transpose(rhs, -1, -2)" if could else "these two must be equal",
        )
    batch = broadcast(lhs=lhs.with_shape(lhs.shape[:-2]), rhs=rhs.with_shape(rhs.shape[:-2]))
    rows = lhs.shape[-2:-1] if lhs.rank > 1 else Shape()
    columns = rhs.shape[-1:] if rhs.rank > 1 else Shape()
    return lhs.with_shape([*batch, *rows, *columns])


@matmul.lowers
def _(b: Emitter, lhs: Handle, rhs: Handle) -> Handle:
    weight = b.transposed_weight(rhs) if rhs.dtype is DType.float32 else None
    if weight is not None and lhs.rank > 1:
        # The transpose is not made: onnxruntime would keep it beside the weight.
        return b.node("FusedMatMul", lhs, weight, domain="com.microsoft", transB=1, shape=b.results[0].shape)
    return computed(b, _KERNELS, lambda x, y: b.node("MatMul", x, y, shape=b.results[0].shape), lhs, rhs)


@matmul.reference
def _(lhs: Array, rhs: Array) -> Array:
    import numpy as np

    return narrowed(np.matmul(widened(lhs), widened(rhs)), lhs)


matmul.samples(
    {"lhs": f32[2, 3], "rhs": f32[3, 4]},
    {"lhs": f64[5, 2, 3], "rhs": f64[3, 4]},
    {"lhs": f32[3], "rhs": f32[3, 4]},
    {"lhs": f32[2, 3], "rhs": f32[3]},
    {"lhs": f32[3], "rhs": f32[3]},
    {"lhs": i32[2, 3], "rhs": i64[3, 2]},
    {"lhs": u8[2, 3].between(0, 4), "rhs": u8[3, 2].between(0, 4)},
    {"lhs": f16[2, 3], "rhs": f16[3, 2]},
    {"lhs": bf16[2, 3], "rhs": bf16[3, 2]},
    {"lhs": f32[2, 0], "rhs": f32[0, 2]},
    {"lhs": u32[2, 0], "rhs": u32[0, 2]},
    {"lhs": u64[1, 2].of([2**63 + 1, 2]), "rhs": u64[2].of([3, 2**63])},
    {"lhs": f32["n:4", 3], "rhs": f32[3, 2]},
    {"lhs": f32["b:2", 4, 3], "rhs": f32["b:2", 3, 2]},
)


def outer(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:
    """The products of each element of one vector with each of another.

    Args:
        lhs: A tensor ``[m]``.
        rhs: A tensor ``[n]``.

    Returns:
        A tensor ``[m, n]``.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.outer(x, x)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3, 3]

    Raises:
        ValueError: An operand's rank is not 1, or the dtypes do not combine.
    """
    from .arithmetic import mul

    column, row = tensor_operand(lhs, "outer", "lhs"), tensor_operand(rhs, "outer", "rhs")
    for name, value in (("lhs", column), ("rhs", row)):
        if value.rank != 1:
            mul.refuse(Refusal(f"outer: `{name}` must have rank 1, not {value.rank}", code="MG014"), [value.to_mlir()])
    return mul(column.reshape([column.shape[0], 1]), row)
