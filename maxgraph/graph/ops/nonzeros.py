"""Where elements are not zero, and what is done there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError
from ..dim import Dim, DimLike
from ..shape import Shape, ShapeLike
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .registry import Refusal, op
from .samples import b1, bf16, f32, f64, i16, i64
from .scattering import scatter_nd
from .shapes import broadcast_to, reshape
from .slicing import slice_tensor

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["masked_scatter", "nonzero"]


def nonzero(x: TensorValueLike, out_dim: DimLike) -> TensorValue:
    """The places of the elements that are not zero, in row-major order; NaN is not zero.

    Args:
        x: A tensor of rank 1 or more.
        out_dim: How many there are: a name that the execution binds, or a size that is checked.

    Returns:
        int64[out_dim, rank].

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [4, 5], DeviceRef.CPU())]) as graph:
        ...     y = ops.nonzero(graph.inputs[0].tensor, "found")
        ...     graph.output(y)
        >>> print(y.type)
        int64[found, 2]

    Raises:
        ValueError: `x` has rank 0. When the graph runs: there are more or fewer than `out_dim`.
    """
    return _nonzero(tensor_operand(x, "nonzero", "x"), Shape([Dim(out_dim)]))


@op(name="nonzero")
def _nonzero(x: TensorValueLike, count: ShapeLike) -> TensorValue:  # type: ignore[empty-body]
    """Places; `count` is their number."""


@_nonzero.types
def _(x: TensorType, count: Shape) -> TensorType:
    if not x.rank:
        raise Refusal("`x` must have rank 1 or more", code="MG014")
    if len(count) != 1:
        raise Refusal(f"`count` must be one dim, not {count.text}", code="MG015")
    return TensorType(DType.int64, [count[0], x.rank], x.device)


@_nonzero.lowers
def _(b: Emitter, x: Handle, count: Shape) -> Handle:
    mask = b.cast(x, DType.bool)
    ones = b.node("Reshape", b.cast(mask, DType.int64), b.constant([-1]))
    total = b.node("ReduceSum", ones, keepdims=0, shape=Shape([]), since=13)
    size = b.check_size(total, count[0], f"there are more or fewer elements than `out_dim` {count[0]}")
    found = b.node("NonZero", mask, dtype=DType.int64)
    # All of them; but so none is there before their number was checked.
    end = b.reshape(size, Shape([1]))
    checked = b.node("Slice", found, b.constant([0]), end, b.constant([1]))
    return b.node("Transpose", checked, perm=[1, 0], shape=b.results[0].shape)


@_nonzero.reference
def _(x: Array, count: tuple[int | None, ...]) -> Array:
    import numpy as np

    found = np.argwhere(x)
    if count[0] not in (None, len(found)):
        message = f"{len(found)} elements are not zero, but `out_dim` is {count[0]}"
        raise Refusal(message, code="MG035", error=ExecutionError)
    return found


_nonzero.samples(
    {"x": f32[3].of([1, 0, float("nan")]), "count": ["k"]},
    {"x": i64[2, 3].of([[0, 1, 0], [2, 0, 3]]), "count": [3]},
    {"x": b1[2, 2, 2], "count": ["k"]},
    {"x": f64[4].of([0.0, -0.0, 1e-300, 5]), "count": [2]},
    {"x": i16[3].of([0, 0, 0]), "count": ["k"]},
    {"x": bf16[3].of([0, 1, 2]), "count": ["k"]},
    {"x": f32["n:3", 2], "count": ["k"]},
    {"x": f32[0, 2], "count": ["k"]},
)


def masked_scatter(
    input: TensorValueLike,
    mask: TensorValueLike,
    updates: TensorValueLike,
    out_dim: DimLike,
) -> TensorValue:
    """A copy of a tensor in which the elements under a mask are replaced, in row-major order.

    Args:
        input: A tensor.
        mask: A bool tensor that broadcasts to it.
        updates: At least as many elements as the mask has, of any shape; the first ones are used.
        out_dim: How many the mask has: a name that the execution binds, or a size that is checked.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [TensorType(dtype, [4], cpu) for dtype in (DType.float32, DType.bool, DType.float32)]
        >>> with Graph("g", input_types=types) as graph:
        ...     x, mask, updates = (value.tensor for value in graph.inputs)
        ...     y = ops.masked_scatter(x, mask, updates, "chosen")
        ...     graph.output(y)
        >>> print(y.type)
        float32[4]

    Raises:
        ValueError: Dtypes or shapes do not fit. When the graph runs: the mask has more or fewer than `out_dim`, or more
            than there are updates.
    """
    value = tensor_operand(input, "masked_scatter", "input")
    wide = broadcast_to(tensor_operand(mask, "masked_scatter", "mask"), value.shape)
    places = nonzero(wide, out_dim)
    flat = reshape(tensor_operand(updates, "masked_scatter", "updates"), [-1])
    return scatter_nd(value, slice_tensor(flat, [slice(0, places.shape[0])]), places)
