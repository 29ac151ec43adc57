"""Attention over keys and values that are tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..dim import Dim
from ..shape import Shape
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS, computed, narrowed, widened
from .registry import Refusal, op
from .rules import broadcast_dims, need_float, need_rank
from .samples import b1, bf16, f16, f32, f64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["scaled_dot_product_attention"]

NEVER = -float("inf")


@op()
def scaled_dot_product_attention(  # type: ignore[empty-body]
    query: TensorValueLike,
    key: TensorValueLike,
    value: TensorValueLike,
    mask: TensorValueLike | None = None,
    causal: bool = False,
    scale: float | None = None,
    softcap: float = 0.0,
    window: int = 0,
) -> TensorValue:
    """``softmax(query @ key.T * scale + mask) @ value`` for each head (Vaswani et al. 2017).

    Several heads of queries may share one of keys and values (Ainslie et al. 2023): head ``n`` of ``heads`` reads head
    ``n // (heads // kv_heads)``.

    Args:
        query: A floating-point tensor ``[batch, heads, length, width]``; halves are computed in single precision.
        key: A tensor ``[batch, kv_heads, kv_length, width]`` of its dtype; `kv_heads` divides `heads`.
        value: A tensor ``[batch, kv_heads, kv_length, value_width]`` of its dtype.
        mask: What broadcasts to ``[batch, heads, length, kv_length]``: bool, true where a query attends, or a summand
            of the operands' dtype. A query that attends to nothing gets NaN, which is the softmax of nothing.
        causal: Whether query ``i`` attends to keys up to ``i`` only; the lengths must then be equal.
        scale: What the products are multiplied by; ``1 / sqrt(width)`` if None.
        softcap: If positive, scores are ``softcap * tanh(score / softcap)`` before they are masked.
        window: If positive, a causal query attends to that many keys at most, its own the last.

    Returns:
        A tensor ``[batch, heads, length, value_width]``.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [TensorType(DType.float32, [1, heads, "n", 16], cpu) for heads in (8, 2, 2)]
        >>> with Graph("g", input_types=types) as graph:
        ...     q, k, v = (given.tensor for given in graph.inputs)
        ...     y = ops.scaled_dot_product_attention(q, k, v, causal=True)
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 8, n, 16]

    Raises:
        ValueError: A dtype, a rank or a dim does not fit; `causal` is asked for and the lengths are not the same dim; a
            number is negative; or `window` is given without `causal`.
    """


def check_heads(query: TensorType, key: TensorType, value: TensorType) -> None:
    """Refuses queries, keys and values that do not go together."""
    need_float(query, "query")
    for name, type_ in (("query", query), ("key", key), ("value", value)):
        need_rank(type_, name, [4], "rank 4, [batch, heads, length, width]")
        if type_.dtype is not query.dtype:
            message = f"`{name}` is {type_.dtype.name}, but `query` is {query.dtype.name}"
            raise Refusal(message, code="MG010", help="cast one of them")
    for name, type_, axis, other in (("key", key, 0, query), ("value", value, 0, query), ("key", key, 3, query)):
        _same(name, type_, axis, "query", other)
    _same("value", value, 1, "key", key)
    _same("value", value, 2, "key", key)
    heads, shared = static_dim(query.shape[1]), static_dim(key.shape[1])
    if query.shape[1] != key.shape[1] and (not heads or not shared or heads % shared):
        message = f"axis 1 of `key` is {key.shape[1]}, which does not divide axis 1 of `query`, {query.shape[1]}"
        raise Refusal(message, code="MG015", help="queries come in equal groups, one for each head of keys")
    if static_dim(query.shape[3]) is None:
        raise Refusal(f"axis 3 of `query` must be static, not {query.shape[3]}", code="MG015")


def _same(name: str, type_: TensorType, axis: int, other: str, wanted: TensorType) -> None:
    if type_.shape[axis] != wanted.shape[axis]:
        message = f"axis {axis} of `{name}` is {type_.shape[axis]}, but that of `{other}` is {wanted.shape[axis]}"
        raise Refusal(message, code="MG011", help="these two must be equal")


def check_numbers(scale: float | None, softcap: float, window: int) -> None:
    """Refuses numbers that mean nothing."""
    for name, number in (("softcap", softcap), ("window", window)):
        if not number >= 0:
            raise Refusal(f"`{name}` must be positive, or 0 for none, not {number}", code="MG017")
    if scale is not None and scale != scale:
        raise Refusal("`scale` is not a number", code="MG017")


@scaled_dot_product_attention.types
def _(
    query: TensorType,
    key: TensorType,
    value: TensorType,
    mask: TensorType | None,
    causal: bool,
    scale: float | None,
    softcap: float,
    window: int,
) -> TensorType:
    check_heads(query, key, value)
    check_numbers(scale, softcap, window)
    scores = Shape([*query.shape[:3], key.shape[2]])
    if causal and query.shape[2] != key.shape[2]:
        raise Refusal(
            f"axis 2 of `query` is {query.shape[2]} but that of `key` is {key.shape[2]}, and it is causal",
            code="MG011",
            help="give a mask that says which keys come before which query",
        )
    if window and not causal:
        raise Refusal("`window` needs `causal`", code="MG017", help="give causal=True, or a mask")
    if mask is not None:
        if mask.dtype not in (DType.bool, query.dtype):
            raise Refusal(f"`mask` must be bool or {query.dtype.name}, not {mask.dtype.name}", code="MG016")
        fits = mask.rank <= 4 and all(
            broadcast_dims(have, want) == want
            for have, want in zip(reversed(mask.shape), reversed(scores), strict=False)
        )
        if not fits:
            raise Refusal(f"`mask` is {mask.shape.text}, which does not broadcast to {scores.text}", code="MG011")
    return query.with_shape([*query.shape[:3], value.shape[3]])


def scale_of(width: Dim, scale: float | None) -> float:
    """What scores are multiplied by."""
    return float(static_dim(width) or 1) ** -0.5 if scale is None else scale


def attend(
    b: Emitter, query: Handle, key: Handle, value: Handle, scale: float, softcap: float, allowed: Handle | None
) -> Handle:
    """Attention in primitives, in the operands' own dtype, which must be a wide one.

    Args:
        allowed: A bool tensor, true where a query attends, or a summand, that broadcasts to the scores.
    """
    batch, heads, length, width = query.shape
    groups, size = key.shape[1], key.shape[2]
    scores = Shape([batch, heads, length, size])
    query = b.node("Mul", query, b.constant(scale, query.dtype))
    rows = length
    if groups != heads:
        # The queries of one group lie one behind the other: a view.
        rows = (static_dim(heads) or 1) // (static_dim(groups) or 1) * length
        query = b.reshape(query, Shape([batch, groups, rows, width]))
    turned = b.node("Transpose", key, perm=[0, 1, 3, 2], shape=Shape([batch, groups, width, size]))
    grouped = Shape([batch, groups, rows, size])
    found = b.node("MatMul", query, turned, shape=grouped)
    if softcap:
        found = b.node("Div", found, b.constant(softcap, query.dtype))
        found = b.node("Mul", b.node("Tanh", found), b.constant(softcap, query.dtype))
    if allowed is not None:
        found = b.reshape(found, scores)
        if allowed.dtype is DType.bool:
            found = b.node("Where", allowed, found, b.constant(NEVER, query.dtype), dtype=query.dtype, shape=scores)
        else:
            found = b.node("Add", found, allowed)
        found = b.reshape(found, grouped)
    weights = b.node("Softmax", found, axis=-1)
    result = Shape([batch, groups, rows, value.shape[3]])
    return b.reshape(b.node("MatMul", weights, value, shape=result), Shape([batch, heads, length, value.shape[3]]))


def positions(b: Emitter, size: Dim) -> Handle:
    """0, 1, ... as an int64 vector."""
    count = b.reshape(b.dims(Shape([size])), Shape([]))
    return b.node("Range", b.constant(0), count, b.constant(1), dtype=DType.int64, shape=Shape([size]))


def before(b: Emitter, queries: Handle, keys: Handle, window: int) -> Handle:
    """Whether keys come before queries, or are theirs; of a window, whether they are near enough.

    Args:
        queries: Their positions, int64, with a last axis of 1.
        keys: Their positions, an int64 vector.
    """
    shape = Shape([*queries.shape[:-1], *keys.shape])
    allowed = b.node("LessOrEqual", keys, queries, since=16, dtype=DType.bool, shape=shape)
    if window:
        last = b.node("Add", keys, b.constant(window - 1))
        near = b.node("GreaterOrEqual", last, queries, since=16, dtype=DType.bool, shape=shape)
        allowed = b.node("And", allowed, near)
    return allowed


@scaled_dot_product_attention.lowers
def _(
    b: Emitter,
    query: Handle,
    key: Handle,
    value: Handle,
    mask: Handle | None,
    causal: bool,
    scale: float | None,
    softcap: float,
    window: int,
) -> Handle:
    size = key.shape[2]
    seen = before(b, b.reshape(positions(b, size), Shape([size, 1])), positions(b, size), window) if causal else None

    def make(q: Handle, k: Handle, v: Handle) -> Handle:
        summand = mask if mask is None or mask.dtype is DType.bool else b.cast(mask, q.dtype)
        allowed = seen if summand is None else summand
        if summand is not None and seen is not None:
            both = Shape([*[1] * (2 - min(mask.rank, 2)), *mask.shape]) if mask is not None else Shape([])
            both = Shape([*both[:-2], size, size])
            if summand.dtype is DType.bool:
                allowed = b.node("And", summand, seen, shape=both)
            else:
                never = b.constant(NEVER, q.dtype)
                allowed = b.node("Where", seen, summand, never, dtype=q.dtype, shape=both)
        return attend(b, q, k, v, scale_of(query.shape[3], scale), softcap, allowed)

    return computed(b, WIDE_FLOATS, make, query, key, value)


@scaled_dot_product_attention.reference
def _(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    causal: bool,
    scale: float | None,
    softcap: float,
    window: int,
) -> Array:
    import numpy as np

    seen = np.arange(key.shape[2]) <= np.arange(query.shape[2])[:, None] if causal else np.True_
    if window:
        seen = seen & (np.arange(key.shape[2]) > np.arange(query.shape[2])[:, None] - window)
    if mask is not None and mask.dtype == bool:
        return attended(query, key, value, mask & seen, None, scale, softcap)
    return attended(query, key, value, seen, mask, scale, softcap)


def attended(
    query: Array, key: Array, value: Array, seen: Any, summand: Array | None, scale: float | None, softcap: float
) -> Array:
    """Attention in numpy."""
    import numpy as np

    q, k, v = widened(query), widened(key), widened(value)
    repeats = q.shape[1] // k.shape[1] if k.shape[1] else 1
    k, v = np.repeat(k, repeats, 1), np.repeat(v, repeats, 1)
    scores = q @ k.swapaxes(-1, -2) * q.dtype.type(q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap:
        scores = q.dtype.type(softcap) * np.tanh(scores / q.dtype.type(softcap))
    if summand is not None:
        scores = scores + widened(summand)
    scores = np.where(seen, scores, scores.dtype.type(NEVER))
    if not scores.size:  # no query, or no key: the sum of nothing
        return np.zeros((*q.shape[:3], v.shape[-1]), query.dtype)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return narrowed(scores / scores.sum(-1, keepdims=True) @ v, query)


scaled_dot_product_attention.samples(
    *(
        {"query": x[2, 4, 3, 8], "key": x[2, 2, 5, 8], "value": x[2, 2, 5, 6]} | {"causal": False, "softcap": 0.0}
        for x in (f32, f64, f16, bf16)
    ),
    {"query": f32[1, 2, 4, 8], "key": f32[1, 2, 4, 8], "value": f32[1, 2, 4, 8], "causal": True},
    {"query": f32[1, 2, 4, 8], "key": f32[1, 2, 4, 8], "value": f32[1, 2, 4, 8], "causal": True, "window": 2},
    {"query": f32[1, 4, "n:5", 8], "key": f32[1, 2, "n:5", 8], "value": f32[1, 2, "n:5", 8], "causal": True},
    {
        "query": f32["b:2", 4, "n:3", 8],
        "key": f32["b:2", 1, "m:5", 8],
        "value": f32["b:2", 1, "m:5", 8],
        "mask": b1["n:3", "m:5"].of([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 0]]),
        "scale": 0.25,
        "softcap": 1.5,
    },
    {
        "query": f32[2, 2, 3, 4],
        "key": f32[2, 2, 3, 4],
        "value": f32[2, 2, 3, 4],
        "mask": f32[2, 1, 1, 3],
        "causal": True,
        "softcap": 2.0,
    },
    {
        "query": f16[2, 2, 3, 4],
        "key": f16[2, 2, 3, 4],
        "value": f16[2, 2, 3, 4],
        "mask": b1[3].of([True, False, True]),
        "causal": True,
    },
    {
        "query": f32[1, 2, 2, 4],
        "key": f32[1, 2, 3, 4],
        "value": f32[1, 2, 3, 4],
        "mask": b1[2, 3].of([[0, 0, 0], [1, 1, 0]]),
    },
    {"query": f32[1, 2, 0, 4], "key": f32[1, 2, 3, 4], "value": f32[1, 2, 3, 4]},
    {"query": f32[1, 2, 3, 4], "key": f32[1, 2, 0, 4], "value": f32[1, 2, 0, 4]},
)
