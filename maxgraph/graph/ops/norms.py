"""Normalisation by mean and variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..shape import Shape
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS, computed, narrowed, widened
from .registry import Refusal, op
from .rules import need_float
from .samples import bf16, f16, f32, f64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["group_norm", "layer_norm", "rms_norm"]


@op()
def layer_norm(  # type: ignore[empty-body]
    input: TensorValueLike, gamma: TensorValueLike, beta: TensorValueLike, epsilon: float
) -> TensorValue:
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta`` along the last axis (Ba et al. 2016).

    Args:
        input: A floating-point tensor.
        gamma: A vector of its dtype and of the last axis' size.
        beta: Likewise.
        epsilon: Positive.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [TensorType(DType.float32, shape, cpu) for shape in (["n", 8], [8], [8])]
        >>> with Graph("g", input_types=types) as graph:
        ...     x, gamma, beta = (value.tensor for value in graph.inputs)
        ...     y = ops.layer_norm(x, gamma, beta, 1e-5)
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 8]

    Raises:
        ValueError: `input` is not floating-point, `gamma` or `beta` does not fit it, or `epsilon` is not positive.
    """


@op()
def rms_norm(  # type: ignore[empty-body]
    input: TensorValueLike,
    weight: TensorValueLike,
    epsilon: float,
    weight_offset: float = 0.0,
    multiply_before_cast: bool = False,
) -> TensorValue:
    """``x / sqrt(mean(x * x) + epsilon) * (weight + weight_offset)`` along the last axis (Zhang and Sennrich 2019).

    Args:
        input: A floating-point tensor; halves are normalised in single precision.
        weight: A vector of its dtype and of the last axis' size.
        epsilon: Positive.
        weight_offset: Added to the weight, such as 1 for weights that are stored around zero.
        multiply_before_cast: Multiply halves by the weight before they are rounded; else they are rounded twice.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(DType.float32, shape, DeviceRef.CPU()) for shape in (["n", 8], [8])]
        >>> with Graph("g", input_types=types) as graph:
        ...     y = ops.rms_norm(graph.inputs[0].tensor, graph.inputs[1].tensor, 1e-6)
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 8]

    Raises:
        ValueError: `input` is not floating-point, `weight` does not fit it, or `epsilon` is not positive.
    """


@op()
def group_norm(  # type: ignore[empty-body]
    input: TensorValueLike, gamma: TensorValueLike, beta: TensorValueLike, num_groups: int, epsilon: float
) -> TensorValue:
    """Normalises groups of channels, which are axis 1, together with all axes behind it (Wu and He 2018).

    Args:
        input: A floating-point tensor ``[batch, channels, ...]`` of rank 2 or more; the channels are static.
        gamma: A factor for each channel, of its dtype.
        beta: A summand for each channel.
        num_groups: It divides the channels.
        epsilon: Positive.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(DType.float32, shape, DeviceRef.CPU()) for shape in (["n", 6, 5], [6], [6])]
        >>> with Graph("g", input_types=types) as graph:
        ...     x, gamma, beta = (value.tensor for value in graph.inputs)
        ...     y = ops.group_norm(x, gamma, beta, 3, 1e-5)
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 6, 5]

    Raises:
        ValueError: `input` is not floating-point, a vector does not fit it, or the channels do not fall into groups.
    """


def _check(input: TensorType, axis: int, epsilon: float, **vectors: TensorType) -> None:
    need_float(input, "input")
    if not epsilon > 0:
        raise Refusal(f"`epsilon` must be positive, not {epsilon}", code="MG017")
    for name, vector in vectors.items():
        if vector.dtype is not input.dtype:
            message = f"`{name}` is {vector.dtype.name}, but `input` is {input.dtype.name}"
            raise Refusal(message, code="MG010", help="cast one of them")
        if list(vector.shape) != [input.shape[axis]]:
            message = f"`{name}` must be [{input.shape[axis]}], not {vector.shape.text}"
            raise Refusal(message, code="MG015")


def _need_rank(input: TensorType, rank: int) -> None:
    if input.rank < rank:
        raise Refusal(f"`input` must have rank {rank} or more, not {input.rank}", code="MG014")


@layer_norm.types
def _(input: TensorType, gamma: TensorType, beta: TensorType, epsilon: float) -> TensorType:
    _need_rank(input, 1)
    _check(input, -1, epsilon, gamma=gamma, beta=beta)
    return input


@layer_norm.lowers
def _(b: Emitter, input: Handle, gamma: Handle, beta: Handle, epsilon: float) -> Handle:
    def make(x: Handle, scale: Handle, bias: Handle) -> Handle:
        if x.dtype is DType.float32:
            return b.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon, since=17)
        # The kernel for float64 works in single precision.
        return _affine(b, _normalised(b, x, b.constant([-1]), epsilon), scale, bias)

    return computed(b, WIDE_FLOATS, make, input, gamma, beta)


def _normalised(b: Emitter, x: Handle, axes: Handle, epsilon: float) -> Handle:
    moved = b.node("Sub", x, b.node("ReduceMean", x, axes, keepdims=1, since=18))
    variance = b.node("ReduceMean", b.node("Mul", moved, moved), axes, keepdims=1, since=18)
    return b.node("Div", moved, b.node("Sqrt", b.node("Add", variance, b.constant(epsilon, x.dtype))))


def _affine(b: Emitter, x: Handle, scale: Handle, bias: Handle) -> Handle:
    return b.node("Add", b.node("Mul", x, scale), bias)


@layer_norm.reference
def _(input: Array, gamma: Array, beta: Array, epsilon: float) -> Array:
    x = widened(input)
    return narrowed(_normalised_now(x, (-1,), epsilon) * widened(gamma) + widened(beta), input)


def _normalised_now(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    import numpy as np

    if not x.size:
        return x
    moved = x - x.mean(axes, keepdims=True)
    found: Array = moved / np.sqrt((moved * moved).mean(axes, keepdims=True) + x.dtype.type(epsilon))
    return found


@rms_norm.types
def _(
    input: TensorType, weight: TensorType, epsilon: float, weight_offset: float, multiply_before_cast: bool
) -> TensorType:
    _need_rank(input, 1)
    _check(input, -1, epsilon, weight=weight)
    return input


@rms_norm.lowers
def _(
    b: Emitter, input: Handle, weight: Handle, epsilon: float, weight_offset: float, multiply_before_cast: bool
) -> Handle:
    own = input.dtype
    wide = own if own in WIDE_FLOATS else DType.float32
    x, scale = b.cast(input, wide), b.cast(weight, wide)
    if weight_offset:
        scale = b.node("Add", scale, b.constant(weight_offset, wide))
    if own is wide is DType.float32:
        return b.node("RMSNormalization", x, scale, axis=-1, epsilon=epsilon, since=23)
    squares = b.node("ReduceMean", b.node("Mul", x, x), b.constant([-1]), keepdims=1, since=18)
    root = b.node("Sqrt", b.node("Add", squares, b.constant(epsilon, wide)))
    x = b.node("Div", x, root, shape=input.shape)
    if not multiply_before_cast:
        x, scale = b.cast(b.cast(x, own), wide), b.cast(b.cast(scale, own), wide)
    return b.cast(b.node("Mul", x, scale, shape=input.shape), own)


@rms_norm.reference
def _(input: Array, weight: Array, epsilon: float, weight_offset: float, multiply_before_cast: bool) -> Array:
    import numpy as np

    x, scale = widened(input), widened(weight)
    scale = scale + x.dtype.type(weight_offset)
    if x.size:
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(epsilon))
    if not multiply_before_cast:
        x, scale = widened(narrowed(x, input)), widened(narrowed(scale, input))
    return narrowed(x * scale, input)


@group_norm.types
def _(input: TensorType, gamma: TensorType, beta: TensorType, num_groups: int, epsilon: float) -> TensorType:
    _need_rank(input, 2)
    _check(input, 1, epsilon, gamma=gamma, beta=beta)
    channels = static_dim(input.shape[1])
    if channels is None or num_groups < 1 or channels % num_groups:
        raise Refusal(f"{input.shape[1]} channels do not fall into {num_groups} groups", code="MG015")
    return input


@group_norm.lowers
def _(b: Emitter, input: Handle, gamma: Handle, beta: Handle, num_groups: int, epsilon: float) -> Handle:
    channels = static_dim(input.shape[1]) or 0
    grouped = Shape([input.shape[0], num_groups, Shape([channels // num_groups, *input.shape[2:]]).num_elements])
    vector = Shape([channels, *[1] * (input.rank - 2)])

    def make(x: Handle, scale: Handle, bias: Handle) -> Handle:
        flat = b.reshape(x, grouped)
        found = b.reshape(_shaped(_normalised(b, flat, b.constant([-1]), epsilon), grouped), input.shape)
        return _affine(b, found, b.reshape(scale, vector), b.reshape(bias, vector))

    return computed(b, WIDE_FLOATS, make, input, gamma, beta)


def _shaped(x: Handle, shape: Shape) -> Handle:
    """A handle that is known to have a shape."""
    return Handle(x.name, x.type.with_shape(shape))


@group_norm.reference
def _(input: Array, gamma: Array, beta: Array, num_groups: int, epsilon: float) -> Array:
    x = widened(input)
    vector = (-1, *[1] * (input.ndim - 2))
    if x.size:
        x = _normalised_now(x.reshape(x.shape[0], num_groups, -1), (-1,), epsilon).reshape(input.shape)
    return narrowed(x * widened(gamma).reshape(vector) + widened(beta).reshape(vector), input)


layer_norm.samples(
    *({"input": x[3, 4], "gamma": x[4], "beta": x[4], "epsilon": 1e-5} for x in (f32, f64, f16, bf16)),
    {"input": f32[2, "n:3", 4], "gamma": f32[4], "beta": f32[4], "epsilon": 1e-3},
    {"input": f32[5], "gamma": f32[5], "beta": f32[5], "epsilon": 1e-5},
    {"input": f32[0, 4], "gamma": f32[4], "beta": f32[4], "epsilon": 1e-5},
)
rms_norm.samples(
    *(
        {"input": x[3, 4], "weight": x[4], "epsilon": 1e-6, "weight_offset": offset, "multiply_before_cast": first}
        for x in (f32, f64, f16, bf16)
        for offset, first in ((0.0, False), (1.0, True))
    ),
    {"input": f32["n:3", 4], "weight": f32[4], "epsilon": 1e-6, "weight_offset": 0.5, "multiply_before_cast": False},
    {"input": f32[0, 4], "weight": f32[4], "epsilon": 1e-6, "weight_offset": 0.0, "multiply_before_cast": False},
)
group_norm.samples(
    *(
        {"input": x[2, 6, 3], "gamma": x[6], "beta": x[6], "num_groups": 3, "epsilon": 1e-5}
        for x in (f32, f64, f16, bf16)
    ),
    {"input": f32["n:2", 4, "h:3", 2], "gamma": f32[4], "beta": f32[4], "num_groups": 2, "epsilon": 1e-5},
    {"input": f32[3, 4], "gamma": f32[4], "beta": f32[4], "num_groups": 1, "epsilon": 1e-5},
)
