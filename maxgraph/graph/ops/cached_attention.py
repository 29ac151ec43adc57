"""Attention over keys and values that live on in buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError
from ..dim import Dim
from ..shape import Shape
from ..type import BufferType, TensorType, static_dim
from ..value import BufferValueLike, TensorValue, TensorValueLike
from .attention import attend, attended, before, check_heads, check_numbers, positions, scale_of
from .emitter import Emitter, Handle, Window
from .kernels import WIDE_FLOATS, computed, widened
from .registry import Refusal, op
from .rotary import check_angles, turn, turned
from .rules import need_dtype, need_rank
from .samples import Sample, Spec, f16, f32, f64, i64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["cached_attention"]


@op(reads=["key_cache", "value_cache"], writes=["key_cache", "value_cache"])
def cached_attention(  # type: ignore[empty-body]
    query: TensorValueLike,
    key: TensorValueLike,
    value: TensorValueLike,
    key_cache: BufferValueLike,
    value_cache: BufferValueLike,
    length: TensorValueLike,
    cos: TensorValueLike | None = None,
    sin: TensorValueLike | None = None,
    interleaved: bool = False,
    scale: float | None = None,
    softcap: float = 0.0,
    window: int = 0,
) -> TensorValue:
    """Stores new keys and values behind those that the caches hold, and attends causally to all of them.

    The new ones take the places from `length` on; query ``i`` attends to the keys at places up to ``length + i``. What
    lies behind in the caches is not looked at, and a step costs what is filled. See `scaled_dot_product_attention` for
    the formula, and for heads that share keys and values.

    Args:
        query: A floating-point tensor ``[batch, heads, new, width]``; at least one is new.
        key: A tensor ``[batch, kv_heads, new, width]`` of its dtype.
        value: Likewise, of the same width.
        key_cache: A buffer ``[batch, kv_heads, capacity, width]`` of the same dtype.
        value_cache: Likewise.
        length: How many places are filled: an int64 scalar, or one for each of the batch, ``[batch]``.
        cos: Turns queries and keys by `rotary_embedding` before they are stored: the cosines ``[table, pairs]`` of the
            positions from 0 on; `table` is at least the capacity.
        sin: The sines, likewise.
        interleaved: As for `rotary_embedding`.
        scale, softcap: As for `scaled_dot_product_attention`.
        window: If positive, a query attends to that many keys at most, its own the last.

    Returns:
        A tensor of the type of `query`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [TensorType(DType.float32, [1, heads, 1, 16], cpu) for heads in (8, 2, 2)]
        >>> cache = BufferType(DType.float32, [1, 2, 512, 16], cpu)
        >>> with Graph("step", input_types=[*types, TensorType(DType.int64, [], cpu)]) as graph:
        ...     q, k, v, length = (given.tensor for given in graph.inputs)
        ...     keys, values = (ops.buffer_create(cache, 0.0, name=name) for name in ("keys", "values"))
        ...     y = ops.cached_attention(q, k, v, keys, values, length)
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 8, 1, 16]

    Raises:
        ValueError: A dtype, a rank or a dim does not fit, or a number is negative. When the graph runs: a length is
            negative, or the caches do not hold what is new.
    """


@cached_attention.types
def _(
    query: TensorType,
    key: TensorType,
    value: TensorType,
    key_cache: BufferType,
    value_cache: BufferType,
    length: TensorType,
    cos: TensorType | None,
    sin: TensorType | None,
    interleaved: bool,
    scale: float | None,
    softcap: float,
    window: int,
) -> TensorType:
    check_heads(query, key, value)
    check_numbers(scale, softcap, window)
    if key.shape[2] != query.shape[2]:
        message = f"axis 2 of `key` is {key.shape[2]}, but that of `query` is {query.shape[2]}"
        raise Refusal(message, code="MG011", help="these two must be equal: each new query has a key")
    if value.shape != key.shape:
        raise Refusal(f"`value` is {value.shape.text}, but `key` is {key.shape.text}", code="MG011")
    if static_dim(query.shape[2]) == 0:
        raise Refusal("axis 2 of `query` is 0: nothing is new", code="MG015")
    for name, cache in (("key_cache", key_cache), ("value_cache", value_cache)):
        if cache.dtype is not query.dtype:
            raise Refusal(f"`{name}` is {cache.dtype.name}, but `query` is {query.dtype.name}", code="MG010")
        capacity = cache.shape[2] if cache.rank == 4 else "capacity"
        if list(cache.shape) != [*key.shape[:2], capacity, key.shape[3]]:
            wanted = f"[{key.shape[0]}, {key.shape[1]}, capacity, {key.shape[3]}]"
            raise Refusal(f"`{name}` is {cache.shape.text}, but must be {wanted}", code="MG011")
    if key_cache.shape != value_cache.shape:
        message = f"`value_cache` is {value_cache.shape.text}, but `key_cache` is {key_cache.shape.text}"
        raise Refusal(message, code="MG011", help="both hold as much")
    need_dtype(length.dtype is DType.int64, length, "length", "int64", "cast it: length.cast(DType.int64)")
    need_rank(length, "length", [0, 1], "rank 0, or 1 for a length for each of the batch")
    if length.rank and length.shape[0] != query.shape[0]:
        raise Refusal(f"`length` is {length.shape.text}, but the batch is {query.shape[0]}", code="MG011")
    if (cos is None) != (sin is None):
        raise Refusal("`cos` and `sin` go together", code="MG017", help="give both, or none")
    if cos is not None and sin is not None:
        need_rank(cos, "cos", [2], "rank 2, [table, pairs]")
        check_angles(query, cos, sin)
        table, places = static_dim(cos.shape[0]), static_dim(key_cache.shape[2])
        if cos.shape[0] != key_cache.shape[2] and (table is None or places is None or table < places):
            message = f"axis 0 of `cos` is {cos.shape[0]}, but the caches hold {key_cache.shape[2]}"
            raise Refusal(message, code="MG011", help="give an angle for each place")
    return query


@cached_attention.lowers
def _(
    b: Emitter,
    query: Handle,
    key: Handle,
    value: Handle,
    key_cache: Handle,
    value_cache: Handle,
    length: Handle,
    cos: Handle | None,
    sin: Handle | None,
    interleaved: bool,
    scale: float | None,
    softcap: float,
    window: int,
) -> Handle:
    new, capacity = query.shape[2], key_cache.shape[2]
    b.at_least(new, 1, "nothing is new")
    length = b.in_range(length, capacity - new, f"the caches of {capacity} places do not hold {new} more")
    stored = Window(
        (Dim(0), Dim(0), length if not length.rank else Dim(0), Dim(0)),
        (None,) * 4,
        Shape([*key.shape[:2], new if not length.rank else capacity, key.shape[3]]),
        (1,) * 4,
        (),
    )
    factor = scale_of(query.shape[3], scale)
    if b.can_update(key_cache, value_cache) and _has_kernel(query, cos):
        return _fused(
            b, query, key, value, key_cache, value_cache, length, cos, sin, stored, interleaved, factor, softcap, window
        )
    places = _places(b, length, new)
    if cos is not None and sin is not None:
        angles = [_picked(b, table, places, query.shape[0]) for table in (cos, sin)]
        query, key = (
            computed(b, WIDE_FLOATS, lambda x, c, s: turn(b, x, c, s, interleaved=interleaved), given, *angles)
            for given in (query, key)
        )
    starts = b.reshape(length, Shape([1])) if not length.rank else length
    batch = Shape([query.shape[0]])
    if not length.rank and query.shape[0] != 1:
        starts = b.node("Expand", starts, b.dims(batch), shape=batch)
    for cache, rows in ((key_cache, key), (value_cache, value)):
        b.update("TensorScatter", cache, rows, starts, outputs=[cache], gate=2, window=stored, since=24, axis=2)
    seen = before(b, places, positions(b, capacity), window)
    filled = _filled(b, length, new, capacity)

    def make(q: Handle, k: Handle, v: Handle) -> Handle:
        # A weight of 0 does not make a NaN vanish, and nobody knows what lies behind.
        v = b.node("Where", filled, v, b.constant(0, v.dtype), dtype=v.dtype, shape=v.shape)
        return attend(b, q, k, v, factor, softcap, seen)

    return computed(b, WIDE_FLOATS, make, query, b.load(key_cache), b.load(value_cache))


def _has_kernel(query: Handle, cos: Handle | None) -> bool:
    """Whether onnxruntime's kernel takes these: single or half precision, certain widths, and no long batch."""
    width = static_dim(query.shape[3]) or 1
    if query.dtype not in (DType.float32, DType.float16) or width % 8:
        return False
    if cos is not None and (width % 16 or static_dim(cos.shape[1]) != width // 2):
        return False
    return query.shape[0] == 1 or query.shape[2] == 1


def _fused(
    b: Emitter,
    query: Handle,
    key: Handle,
    value: Handle,
    key_cache: Handle,
    value_cache: Handle,
    length: Handle,
    cos: Handle | None,
    sin: Handle | None,
    stored: Window,
    interleaved: bool,
    scale: float,
    softcap: float,
    window: int,
) -> Handle:
    """The kernel that stores and attends at once; it is right only in place."""
    batch, heads, new, width = query.shape
    groups = key.shape[1]
    rows = [_by_row(b, given) for given in (query, key, value)]
    end = b.node("Add", length, b.reshape(b.dims(Shape([new])), Shape([])))
    last = b.node("Sub", end, b.constant(1))
    last = last if last.rank else b.reshape(last, Shape([1]))
    if not length.rank and batch != 1:
        last = b.node("Expand", last, b.dims(Shape([batch])), shape=Shape([batch]))
    end = end if not end.rank else b.node("ReduceMax", end, keepdims=0, since=18, shape=Shape([]))
    flat = Shape([batch, new, heads * width])
    (found,) = b.update(
        "GroupQueryAttention",
        *rows,
        key_cache,
        value_cache,
        b.cast(last, DType.int32),
        b.cast(end, DType.int32),
        cos,
        sin,
        outputs=[TensorType(query.dtype, flat, query.type.device), key_cache, value_cache],
        window=stored,
        domain="com.microsoft",
        num_heads=static_dim(heads),
        kv_num_heads=static_dim(groups),
        scale=scale,
        softcap=softcap or None,
        local_window_size=window or None,
        do_rotary=1 if cos is not None else None,
        rotary_interleaved=int(interleaved) if cos is not None else None,
    )
    if new == 1 or heads == 1:
        return b.reshape(found, query.shape)
    apart = b.reshape(found, Shape([batch, new, heads, width]))
    return b.node("Transpose", apart, perm=[0, 2, 1, 3], shape=query.shape)


def _by_row(b: Emitter, x: Handle) -> Handle:
    """``[batch, heads, new, width]`` as ``[batch, new, heads * width]``; a view where there is one of either."""
    batch, heads, new, width = x.shape
    if heads != 1 and new != 1:
        x = b.node("Transpose", x, perm=[0, 2, 1, 3], shape=Shape([batch, new, heads, width]))
    return b.reshape(x, Shape([batch, new, heads * width]))


def _places(b: Emitter, length: Handle, new: Dim) -> Handle:
    """Where the new ones lie, int64 ``[new, 1]`` or ``[batch, 1, new, 1]``."""
    offsets = positions(b, new)
    if not length.rank:
        return b.reshape(b.node("Add", offsets, length), Shape([new, 1]))
    column = b.reshape(length, Shape([length.shape[0], 1]))
    places = b.node("Add", column, offsets, shape=Shape([length.shape[0], new]))
    return b.reshape(places, Shape([length.shape[0], 1, new, 1]))


def _filled(b: Emitter, length: Handle, new: Dim, capacity: Dim) -> Handle:
    """Whether a place of the caches holds something once what is new is stored, ``[..., capacity, 1]``."""
    end = b.node("Add", length, b.reshape(b.dims(Shape([new])), Shape([])))
    if length.rank:
        end = b.reshape(end, Shape([length.shape[0], 1, 1, 1]))
    column = b.reshape(positions(b, capacity), Shape([capacity, 1]))
    return b.node("Less", column, end, dtype=DType.bool, shape=Shape([*end.shape[:2], capacity, 1]))


def _picked(b: Emitter, table: Handle, places: Handle, batch: Dim) -> Handle:
    """The rows of a table of angles at these places, ``[new, pairs]`` or ``[batch, new, pairs]``."""
    rows = Shape([places.shape[0]] if places.rank == 2 else [batch, places.shape[2]])
    return b.node("Gather", table, b.reshape(places, rows), axis=0, shape=Shape([*rows, table.shape[1]]))


@cached_attention.reference
def _(
    query: Array,
    key: Array,
    value: Array,
    key_cache: Array,
    value_cache: Array,
    length: Array,
    cos: Array | None,
    sin: Array | None,
    interleaved: bool,
    scale: float | None,
    softcap: float,
    window: int,
) -> Array:
    import numpy as np

    batch, new, capacity = query.shape[0], query.shape[2], key_cache.shape[2]
    starts = np.broadcast_to(length, batch)
    if new < 1:
        raise Refusal("nothing is new", code="MG035", error=ExecutionError)
    if starts.size and not 0 <= starts.min() <= starts.max() <= capacity - new:
        message = f"the caches of {capacity} places do not hold {new} more"
        raise Refusal(message, code="MG035", error=ExecutionError)
    places = starts[:, None] + np.arange(new)
    if cos is not None and sin is not None:
        angles = [widened(table)[places] for table in (cos, sin)]
        query, key = (turned(widened(x), *angles, interleaved=interleaved).astype(x.dtype) for x in (query, key))
    for at, start in enumerate(starts):
        key_cache[at, :, start : start + new] = key[at]
        value_cache[at, :, start : start + new] = value[at]
    queries, keys = places[:, None, :, None], np.arange(capacity)
    seen = keys <= queries
    if window:
        seen &= keys > queries - window
    filled = (keys < starts[:, None] + new)[:, None, :, None]
    return attended(
        query, key_cache, np.where(filled, value_cache, value_cache.dtype.type(0)), seen, None, scale, softcap
    )


def _case(of: Any, batch: Any, heads: int, groups: int, new: Any, width: int, length: Spec, **rest: Any) -> Sample:
    cache = of[batch, groups, 12, width].buffer
    rows = of[batch, groups, new, width]
    return {
        "query": of[batch, heads, new, width],
        "key": rows,
        "value": rows,
        "key_cache": cache,
        "value_cache": cache,
        "length": length,
        **rest,
    }


cached_attention.samples(
    *(_case(x, 1, 4, 2, 1, 8, i64[()].of(5)) for x in (f32, f64, f16)),
    _case(f32, 2, 4, 2, 1, 8, i64[2].of([5, 11])),
    _case(f32, 2, 4, 2, 3, 8, i64[2].of([9, 0])),
    # What lies behind may be anything.
    *(
        _case(x, 1, 1, 1, 2, 8, i64[()].of(8))
        | {name: x[1, 1, 12, 8].of([*[0.5] * 80, *[float("nan")] * 16]).buffer for name in ("key_cache", "value_cache")}
        for x in (f32, f64)
    ),
    _case(f32, 2, 2, 2, 3, 8, i64[()].of(9)),
    _case(f32, 1, 4, 1, 4, 8, i64[()].of(0), softcap=1.5, window=3),
    _case(f32, 1, 4, 4, 4, 6, i64[()].of(3), scale=0.2, window=2),
    _case(f32, 1, 4, 2, "n:4", 8, i64[()].of(7)),
    _case(f32, "b:2", 4, 2, 1, 8, i64[()].of(7)),
    _case(f32, "b:2", 4, 2, "n:3", 8, i64["b:2"].of([4, 9])),
    *(
        _case(x, 1, 4, 2, 3, 16, i64[()].of(4), cos=x[12, 8], sin=x[12, 8], interleaved=interleaved)
        for x in (f32, f64)
        for interleaved in (False, True)
    ),
    _case(f32, 2, 4, 2, 1, 16, i64[2].of([4, 0]), cos=f32[14, 8], sin=f32[14, 8]),
    _case(f32, 2, 4, 2, 2, 8, i64[2].of([4, 0]), cos=f32[12, 3], sin=f32[12, 3]),
    _case(f16, 1, 2, 2, 2, 16, i64[()].of(10), cos=f16[12, 8], sin=f16[12, 8]),
)
