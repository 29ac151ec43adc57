"""Elements and tensors repeated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import GraphTypeError, TypeRuleError, user_location
from ..dim import Dim, DimLike
from ..shape import Shape, ShapeLike
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .comparison import greater
from .cumsum import cumsum
from .emitter import Emitter, Handle
from .gathering import gather
from .kernels import computed
from .logic import logical_not
from .parameters import axis_of
from .ranges import range_
from .reduce import sum_
from .registry import Refusal, op
from .samples import b1, bf16, f32, i64
from .shapes import broadcast_to, reshape, unsqueeze

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["repeat_interleave", "tile"]

_KERNELS = frozenset(DType) - {DType.bfloat16}


def tile(x: TensorValueLike, repeats: Iterable[DimLike]) -> TensorValue:
    """A tensor laid beside itself along each axis.

    Args:
        x: A tensor.
        repeats: How often for each axis; ints from 1, or dims.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 2], DeviceRef.CPU())]) as graph:
        ...     y = ops.tile(graph.inputs[0].tensor, [2, 3])
        ...     graph.output(y)
        >>> print(y.type)
        float32[2*n, 6]

    Raises:
        ValueError: There is not one number for each axis, or one is not positive.
    """
    return _tile(tensor_operand(x, "tile", "x"), Shape(repeats))


@op(name="tile")
def _tile(x: TensorValueLike, repeats: ShapeLike) -> TensorValue:  # type: ignore[empty-body]
    """A tensor laid beside itself."""


@_tile.types
def _(x: TensorType, repeats: Shape) -> TensorType:
    if len(repeats) != x.rank:
        raise Refusal(f"a rank of {x.rank} needs {x.rank} repeats, not {len(repeats)}", code="MG017")
    if any(size < 1 for size in repeats.static_dims):
        raise Refusal(f"`repeats` must be positive: {repeats.text}", code="MG017")
    return x.with_shape([dim * times for dim, times in zip(x.shape, repeats, strict=True)])


@_tile.lowers
def _(b: Emitter, x: Handle, repeats: Shape) -> Handle:
    times, shape = b.dims(repeats), b.results[0].shape
    return computed(b, _KERNELS, lambda y: b.node("Tile", y, times, shape=shape), x)


@_tile.reference
def _(x: Array, repeats: tuple[int, ...]) -> Array:
    import numpy as np

    return np.tile(x, repeats)


_tile.samples(
    {"x": f32[2, 3], "repeats": [2, 1]},
    {"x": i64[2], "repeats": [3]},
    {"x": b1[2, 2], "repeats": [1, 2]},
    {"x": bf16[2, 2], "repeats": [2, 2]},
    {"x": f32["n:3", 2], "repeats": ["n", 2]},
    {"x": f32[0, 2], "repeats": [2, 2]},
    {"x": f32[()], "repeats": []},
)


def repeat_interleave(
    x: TensorValueLike,
    repeats: int | TensorValue,
    axis: int | None = None,
    out_dim: DimLike | None = None,
) -> TensorValue:
    """Each element repeated, the copies beside each other.

    Args:
        x: A tensor.
        repeats: How often; or a tensor of int64 with a number for each position of the axis, none of them negative.
        axis: The axis; None: all elements in a row.
        out_dim: The size of the result's axis, where `repeats` is a tensor.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 2], DeviceRef.CPU())]) as graph:
        ...     y = ops.repeat_interleave(graph.inputs[0].tensor, 3, axis=0)
        ...     graph.output(y)
        >>> print(y.type)
        float32[3*n, 2]

    Raises:
        TypeError: `repeats` is a tensor, and there is no `out_dim`.
        ValueError: `repeats` is not positive, or no int64 vector of the axis' size. When the graph runs: the repeats do
            not add up to `out_dim`.
    """
    value = tensor_operand(x, "repeat_interleave", "x")
    where = user_location(columns=True)
    if axis is None:
        value, axis = reshape(value, [-1]), 0
    try:
        at = axis_of(axis, value.rank)
    except Refusal as refusal:
        raise refusal.error(f"repeat_interleave: {refusal.message}", code=refusal.code, where=where) from None
    if not isinstance(repeats, TensorValue):
        if repeats < 1:
            raise TypeRuleError(
                f"repeat_interleave: `repeats` must be positive, not {repeats}", code="MG017", where=where
            )
        dims = list(value.shape)
        wide = broadcast_to(unsqueeze(value, at + 1), [*dims[: at + 1], repeats, *dims[at + 1 :]])
        return reshape(wide, [*dims[:at], dims[at] * repeats, *dims[at + 1 :]])
    if out_dim is None:
        raise GraphTypeError(
            "repeat_interleave: `out_dim` is needed where `repeats` is a tensor", code="MG017", where=where
        )
    if repeats.dtype is not DType.int64 or list(repeats.shape) not in ([value.shape[at]], [Dim(1)]):
        raise TypeRuleError(
            f"repeat_interleave: `repeats` must be int64[{value.shape[at]}], not {repeats.type}",
            code="MG015",
            where=where,
        )
    ends = cumsum(broadcast_to(repeats, [value.shape[at]]))
    total = reshape(sum_(broadcast_to(repeats, [value.shape[at]])), [])
    places = range_(0, total, 1, out_dim, dtype=DType.int64, device=value.device)
    # A place belongs to the element before whose end it lies first.
    passed = logical_not(greater(unsqueeze(ends, 0), unsqueeze(places, 1)))
    return gather(value, reshape(sum_(passed.cast(DType.int64)), [places.shape[0]]), at)
