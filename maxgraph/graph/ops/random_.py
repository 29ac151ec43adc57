"""Random numbers that a seed determines: the same on every execution, optimisation level and thread count.

Element i of a tensor is a function of the seed and of i alone (SplitMix64: Steele, Lea and Flood, "Fast splittable
pseudorandom number generators", 2014), so nothing is remembered between executions. A graph whose seed is an input or
lies in a buffer draws other numbers when that changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ...dtype import DType
from ...errors import GraphTypeError, NoSeedError, TypeRuleError, user_location
from ..graph import Graph
from ..shape import Shape, ShapeLike
from ..type import DeviceRef, TensorType
from ..value import TensorValue, TensorValueLike
from .arithmetic import add, mul, sub
from .cast import cast
from .coerced import tensor_operand
from .constant import constant
from .emitter import Emitter, Handle
from .exponential import log, sqrt
from .registry import Refusal, op
from .samples import u64
from .shapes import reshape
from .trigonometry import cos

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["SeedType", "gaussian", "normal", "set_seed", "uniform"]

_STEP = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST = 31
#: How many bits of an element are random: as many as its significand has.
_BITS = {DType.float16: 11, DType.bfloat16: 8, DType.float32: 24, DType.float64: 53}
_TURN = 6.283185307179586
#: The seed of each graph, and how many tensors were drawn from it.
_seeds: WeakKeyDictionary[Graph, tuple[int | TensorValue, int]] = WeakKeyDictionary()


def SeedType(device: DeviceRef) -> TensorType:  # noqa: N802 - MAX's name
    """The type of a seed that is a graph's input.

    Example:
        >>> from maxgraph.graph import DeviceRef, ops
        >>> print(ops.random.SeedType(DeviceRef.CPU()))
        uint64[1]
    """
    return TensorType(DType.uint64, [1], device)


def set_seed(seed: TensorValueLike | int = 0) -> None:
    """Sets the seed of the current graph; the tensors that are drawn afterwards have the seeds s, s + 1, and so on.

    Args:
        seed: An int, modulo 2**64; or a tensor of one int64 or uint64.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g") as graph:
        ...     ops.random.set_seed(7)
        ...     y = ops.random.normal(TensorType(DType.float32, [3], DeviceRef.CPU()))
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]

    Raises:
        ValueError: The tensor has another dtype or more elements.
    """
    graph = Graph.current
    if isinstance(seed, int):
        _seeds[graph] = (seed, 0)
        return
    value = tensor_operand(seed, "random.set_seed", "seed")
    if value.dtype not in (DType.int64, DType.uint64) or Shape(value.shape).num_elements != 1:
        raise TypeRuleError(
            f"random.set_seed: `seed` must be one int64 or uint64, not {value.type}",
            code="MG016",
            where=user_location(columns=True),
        )
    _seeds[graph] = (cast(reshape(value, []), DType.uint64), 0)


def uniform(like: TensorType, range: tuple[TensorValueLike, TensorValueLike] = (0, 1)) -> TensorValue:
    """Evenly distributed numbers.

    Args:
        like: The result's type; floating-point.
        range: From the first to the second, which is left out (but rounding may reach it).

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g") as graph:
        ...     ops.random.set_seed(0)
        ...     y = ops.random.uniform(TensorType(DType.float32, [2, 3], DeviceRef.CPU()), (-1, 1))
        ...     graph.output(y)
        >>> print(y.type)
        float32[2, 3]

    Raises:
        RuntimeError: The graph has no seed.
        TypeError: `like` is no tensor type.
        ValueError: It is not of half, single or double precision.
    """
    seed = _next_seed("random.uniform", like)
    low, high = range
    share = _uniform(seed, like.dtype, like.shape, 0)
    if isinstance(low, (int, float)) and isinstance(high, (int, float)):
        return share if (low, high) == (0, 1) else add(mul(share, float(high - low)), float(low))
    distance = sub(high, low)
    return add(mul(share, distance), low)


def normal(like: TensorType, mean: TensorValueLike = 0, std: TensorValueLike = 1) -> TensorValue:
    """Normally distributed numbers (Box and Muller, 1958), up to 5.8 deviations from the mean (float64: 8.6).

    Args:
        like: The result's type; floating-point.
        mean: Their mean.
        std: Their standard deviation.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g") as graph:
        ...     ops.random.set_seed(0)
        ...     y = ops.random.normal(TensorType(DType.float64, [2, 3], DeviceRef.CPU()), mean=5, std=0.1)
        ...     graph.output(y)
        >>> print(y.type)
        float64[2, 3]

    Raises:
        RuntimeError: The graph has no seed.
        TypeError: `like` is no tensor type.
        ValueError: It is not of half, single or double precision.
    """
    seed = _next_seed("random.normal", like)
    wide = DType.float64 if like.dtype is DType.float64 else DType.float32
    share, turn = (_uniform(seed, wide, like.shape, part) for part in (0, 1))
    radius = sqrt(mul(log(sub(1.0, share)), -2.0))
    found = cast(mul(radius, cos(mul(turn, _TURN))), like.dtype)
    return add(mul(found, std), mean)


def gaussian(like: TensorType, mean: TensorValueLike = 0, std: TensorValueLike = 1) -> TensorValue:
    """The same as `normal`.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g") as graph:
        ...     ops.random.set_seed(0)
        ...     y = ops.random.gaussian(TensorType(DType.float32, [3], DeviceRef.CPU()))
        ...     graph.output(y)
        >>> print(y.type)
        float32[3]
    """
    return normal(like, mean, std)


def _next_seed(name: str, like: TensorType) -> TensorValue:
    """The seed of the next tensor, a uint64 of rank 0."""
    graph = Graph.current
    if not isinstance(like, TensorType):
        message = f"{name}: `like` must be a TensorType, not {type(like).__name__}"
        raise GraphTypeError(message, code="MG017", where=user_location(columns=True))
    if like.dtype not in _BITS:
        message = f"{name}: `like` must be of half, single or double precision, not {like.dtype.name}"
        raise TypeRuleError(message, code="MG016", where=user_location(columns=True))
    if graph not in _seeds:
        raise NoSeedError(
            f"{name}: the graph has no seed",
            code="MG026",
            where=user_location(columns=True),
            help="call ops.random.set_seed(0) first",
        )
    seed, drawn = _seeds[graph]
    _seeds[graph] = (seed, drawn + 1)
    if isinstance(seed, TensorValue):
        return add(seed, constant(drawn, DType.uint64, seed.device))
    return constant((seed + drawn) % 2**64, DType.uint64, like.device)


@op(name="random_uniform")
def _uniform(seed: TensorValueLike, dtype: DType, shape: ShapeLike, part: int) -> TensorValue:  # type: ignore[empty-body]
    """Multiples of a power of two in ``[0, 1)``; a seed gives two tensors that are independent: parts 0 and 1."""


@_uniform.types
def _(seed: TensorType, dtype: DType, shape: Shape, part: int) -> TensorType:
    if seed.dtype is not DType.uint64 or seed.rank:
        raise Refusal(f"`seed` must be a uint64 of rank 0, not {seed}", code="MG016")
    if dtype not in _BITS:
        raise Refusal(f"`dtype` must be of half, single or double precision, not {dtype.name}", code="MG016")
    if part not in (0, 1):
        raise Refusal(f"`part` is 0 or 1, not {part}", code="MG017")
    return TensorType(dtype, shape, seed.device)


@_uniform.lowers
def _(b: Emitter, seed: Handle, dtype: DType, shape: Shape, part: int) -> Handle:
    def number(value: int) -> Handle:
        return b.constant(value, DType.uint64)

    def folded(z: Handle, bits: int) -> Handle:
        return b.node("BitwiseXor", z, b.node("BitShift", z, number(bits), direction="RIGHT"))

    def mixed(z: Handle) -> Handle:
        for bits, factor in _MIX:
            z = b.node("Mul", folded(z, bits), number(factor))
        return folded(z, _LAST)

    count = b.reshape(b.dims(Shape([shape.num_elements])), Shape([]))
    place = b.cast(b.node("Range", b.constant(0), count, b.constant(1)), DType.uint64)
    counter = b.node("Add", b.node("Mul", place, number(2)), number(part + 1))
    z = mixed(b.node("Add", b.node("Mul", counter, number(_STEP)), mixed(b.node("Add", seed, number(_STEP)))))
    wide = DType.float64 if dtype is DType.float64 else DType.float32
    whole = b.node("BitShift", z, number(64 - _BITS[dtype]), direction="RIGHT")
    share = b.node("Mul", b.cast(whole, wide), b.constant(0.5 ** _BITS[dtype], wide))
    # Every element is a value of the result's dtype: nothing is rounded.
    return b.node("Reshape", b.cast(share, dtype), b.dims(shape), shape=shape)


@_uniform.reference
def _(seed: Array, dtype: DType, shape: tuple[int, ...], part: int) -> Array:
    import numpy as np

    place = np.arange(np.prod(shape, dtype=np.int64)).astype(np.uint64)
    # An array and not a scalar, since that would warn where it wraps around.
    key = mixed_now(np.atleast_1d(seed) + np.uint64(_STEP))
    z = mixed_now((place * np.uint64(2) + np.uint64(part + 1)) * np.uint64(_STEP) + key)
    whole = (z >> np.uint64(64 - _BITS[dtype])).astype(np.float64)
    found: Array = (whole * 0.5 ** _BITS[dtype]).astype(dtype.to_numpy()).reshape(shape)
    return found


def mixed_now(z: Array) -> Array:
    """SplitMix64's output function."""
    import numpy as np

    for bits, factor in _MIX:
        z = (z ^ (z >> np.uint64(bits))) * np.uint64(factor)
    found: Array = z ^ (z >> np.uint64(_LAST))
    return found


_uniform.samples(
    *(
        {"seed": u64[()].of(seed), "dtype": dtype, "shape": [3, 4], "part": part}
        for dtype in (DType.float32, DType.float64, DType.float16)
        for seed, part in ((0, 0), (2**64 - 1, 1))
    ),
    {"seed": u64[()].of(1), "dtype": DType.bfloat16, "shape": [5], "part": 0},
    {"seed": u64[()].of(1), "dtype": DType.float32, "shape": [], "part": 0},
    {"seed": u64[()].of(1), "dtype": DType.float32, "shape": [0, 3], "part": 0},
)
