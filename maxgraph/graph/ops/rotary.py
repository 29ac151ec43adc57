"""Rotary position embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..shape import Shape
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS, computed, narrowed, widened
from .registry import Refusal, op
from .rules import need_float, need_rank
from .samples import bf16, f16, f32, f64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["rotary_embedding"]


@op()
def rotary_embedding(  # type: ignore[empty-body]
    x: TensorValueLike, cos: TensorValueLike, sin: TensorValueLike, interleaved: bool = False
) -> TensorValue:
    """Turns pairs of elements by angles that grow with the position (Su et al. 2021).

    A pair ``(a, b)`` becomes ``(a * cos - b * sin, b * cos + a * sin)``. Element ``i`` is paired with element
    ``i + pairs``, or, interleaved, element ``2 * i`` with ``2 * i + 1``. Elements behind the pairs stay as they are.

    Args:
        x: A floating-point tensor ``[batch, heads, length, width]``; halves are computed in single precision.
        cos: The cosines ``[length, pairs]``, or ``[batch, length, pairs]``, of its dtype: for positions that are data,
            rows of a table that `ops.gather` picks. ``2 * pairs`` is at most `width`.
        sin: The sines, of the shape of `cos`.
        interleaved: Whether pairs lie side by side, as in GPT-J; else in two halves, as in Llama.

    Returns:
        A tensor of the type of `x`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(DType.float32, s, DeviceRef.CPU()) for s in ([1, 4, "n", 8], ["n", 4], ["n", 4])]
        >>> with Graph("g", input_types=types) as graph:
        ...     y = ops.rotary_embedding(*graph.inputs)
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 4, n, 8]

    Raises:
        ValueError: A dtype, a rank or a dim does not fit.
    """


def check_angles(x: TensorType, cos: TensorType, sin: TensorType) -> None:
    """Refuses tables of cosines and sines that are not of one static width that fits."""
    for name, table in (("cos", cos), ("sin", sin)):
        if table.dtype is not x.dtype:
            raise Refusal(f"`{name}` is {table.dtype.name}, but must be {x.dtype.name}", code="MG010")
    if sin.shape != cos.shape:
        raise Refusal(f"`sin` is {sin.shape.text}, but `cos` is {cos.shape.text}", code="MG011")
    pairs, width = static_dim(cos.shape[-1]), static_dim(x.shape[-1])
    if pairs is None or width is None or 2 * pairs > width:
        message = f"the last axis of `cos` is {cos.shape[-1]}, which is not at most half of {x.shape[-1]}"
        raise Refusal(message, code="MG015", help="one angle for each pair of elements")


@rotary_embedding.types
def _(x: TensorType, cos: TensorType, sin: TensorType, interleaved: bool) -> TensorType:
    need_float(x)
    need_rank(x, "x", [4], "rank 4, [batch, heads, length, width]")
    need_rank(cos, "cos", [2, 3], "rank 2 or 3, [length, pairs] or [batch, length, pairs]")
    wanted = [x.shape[2]] if cos.rank == 2 else [x.shape[0], x.shape[2]]
    if cos.shape[:-1] != wanted:
        message = f"`cos` is {cos.shape.text}, but `x` is {x.shape.text}, [batch, heads, length, width]"
        raise Refusal(message, code="MG011", help="it must be [length, pairs] or [batch, length, pairs]")
    check_angles(x, cos, sin)
    return x


@rotary_embedding.lowers
def _(b: Emitter, x: Handle, cos: Handle, sin: Handle, interleaved: bool) -> Handle:
    return computed(b, WIDE_FLOATS, lambda p, c, s: turn(b, p, c, s, interleaved=interleaved), x, cos, sin)


def turn(b: Emitter, x: Handle, cos: Handle, sin: Handle, *, interleaved: bool) -> Handle:
    """The embedding in a wide dtype: onnxruntime's kernel where it has one, else primitives."""
    batch, heads, length, width = x.shape
    pairs = cos.shape[-1]
    if x.dtype is DType.float32 and static_dim(pairs):
        rows = Shape([batch, length, pairs])
        if cos.rank == 2 and batch != 1:
            cos, sin = (b.node("Expand", table, b.dims(rows), shape=rows) for table in (cos, sin))
        cos, sin = b.reshape(cos, rows), b.reshape(sin, rows)
        turned = 2 * (static_dim(pairs) or 0)
        return b.node(
            "RotaryEmbedding",
            x,
            cos,
            sin,
            since=23,
            interleaved=int(interleaved),
            rotary_embedding_dim=turned if turned != static_dim(width) else 0,
        )
    if cos.rank == 3:
        rows = Shape([batch, 1, length, pairs])
        cos, sin = b.reshape(cos, rows), b.reshape(sin, rows)
    rest = (static_dim(width) or 0) - 2 * (static_dim(pairs) or 0)
    half = Shape([batch, heads, length, pairs])
    if interleaved:
        single = Shape([*half, 1])
        both = b.node("Slice", x, *map(b.constant, ([0], [2 * (static_dim(pairs) or 0)], [3])), shape=x.shape)
        split = b.reshape(both, Shape([*half, 2])) if rest else b.reshape(x, Shape([*half, 2]))
        first, second = (b.reshape(_cut(b, split, at, at + 1, single), half) for at in (0, 1))
    else:
        at = static_dim(pairs) or 0
        first, second = _cut(b, x, 0, at, half), _cut(b, x, at, 2 * at, half)
    turned_first = b.node("Sub", b.node("Mul", first, cos), b.node("Mul", second, sin))
    turned_second = b.node("Add", b.node("Mul", second, cos), b.node("Mul", first, sin))
    whole = Shape([batch, heads, length, 2 * pairs])
    if interleaved:
        parts = [b.reshape(part, Shape([*half, 1])) for part in (turned_first, turned_second)]
        parts = [b.reshape(b.node("Concat", *parts, axis=-1, shape=Shape([*half, 2])), whole)]
    else:
        parts = [turned_first, turned_second]
    if rest:
        kept = _cut(b, x, (static_dim(width) or 0) - rest, static_dim(width) or 0, Shape([*half[:-1], rest]))
        parts.append(kept)
    return parts[0] if len(parts) == 1 else b.node("Concat", *parts, axis=-1, shape=x.shape)


def _cut(b: Emitter, x: Handle, start: int, end: int, shape: Shape) -> Handle:
    """Elements along the last axis."""
    return b.node("Slice", x, b.constant([start]), b.constant([end]), b.constant([-1]), shape=shape)


@rotary_embedding.reference
def _(x: Array, cos: Array, sin: Array, interleaved: bool) -> Array:
    return narrowed(turned(widened(x), widened(cos), widened(sin), interleaved=interleaved), x)


def turned(x: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
    """The embedding in numpy."""
    pairs = cos.shape[-1]
    cos, sin = (table if table.ndim == 2 else table[:, None] for table in (cos, sin))
    places = (
        (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)) if interleaved else (slice(pairs), slice(pairs, 2 * pairs))
    )
    first, second = (x[..., place] for place in places)
    result = x.copy()
    result[..., places[0]] = first * cos - second * sin
    result[..., places[1]] = second * cos + first * sin
    return result


rotary_embedding.samples(
    *({"x": x[2, 3, 4, 8], "cos": x[4, 4], "sin": x[4, 4], "interleaved": False} for x in (f32, f64, f16, bf16)),
    *({"x": x[2, 3, 4, 8], "cos": x[2, 4, 4], "sin": x[2, 4, 4], "interleaved": True} for x in (f32, f64)),
    *(
        {"x": x[1, 2, 3, 8], "cos": x[3, 2], "sin": x[3, 2], "interleaved": interleaved}
        for x in (f32, f64)
        for interleaved in (False, True)
    ),
    {"x": f32["b:2", 2, "n:3", 8], "cos": f32["n:3", 4], "sin": f32["n:3", 4], "interleaved": False},
    {"x": f32["b:2", 2, "n:3", 8], "cos": f32["b:2", "n:3", 3], "sin": f32["b:2", "n:3", 3], "interleaved": True},
    {"x": f32["b:0", 2, "n:3", 8], "cos": f32["b:0", "n:3", 4], "sin": f32["b:0", "n:3", 4], "interleaved": False},
    {"x": f32[1, 2, 3, 8], "cos": f32[3, 0], "sin": f32[3, 0], "interleaved": True},
    {"x": f32[1, 2, 0, 8], "cos": f32[0, 4], "sin": f32[0, 4], "interleaved": False},
)
