"""Convolutions, in the layouts of MAX: channels last, and filters with their output channels last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..dim import Dim
from ..type import ConvInputLayout, FilterLayout, TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .axes import permute
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .kernels import computed, narrowed, widened
from .registry import Refusal, op
from .samples import bf16, f16, f32

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["check_window", "conv2d", "conv3d", "convolved_dim", "filter_axes", "input_axes", "output_axes", "patches"]


def conv2d(
    x: TensorValueLike,
    filter: TensorValueLike,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    groups: int = 1,
    bias: TensorValueLike | None = None,
    input_layout: ConvInputLayout = ConvInputLayout.NHWC,
    filter_layout: FilterLayout = FilterLayout.RSCF,
) -> TensorValue:
    """A two-dimensional convolution (the filter is not turned around).

    Args:
        x: ``[batch, height, width, channels]``, or channels second with `input_layout` NCHW; half or single precision.
        filter: ``[height, width, channels / groups, out_channels]``, or with `filter_layout` FCRS
            ``[out_channels, channels / groups, height, width]``; of its dtype.
        stride, dilation: For height and width.
        padding: Zeros before and after the height, before and after the width.
        groups: So many parts of the channels have filters of their own.
        bias: A number for each output channel.
        input_layout, filter_layout: See above; the result has the input's layout.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(DType.float32, shape, DeviceRef.CPU()) for shape in ([1, "h", 8, 3], [3, 3, 3, 16])]
        >>> with Graph("g", input_types=types) as graph:
        ...     y = ops.conv2d(graph.inputs[0].tensor, graph.inputs[1].tensor, padding=(1, 1, 1, 1))
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, h, 8, 16]

    Raises:
        ValueError: A rank, a dtype or the channels do not fit, or the filter is larger than the input.
    """
    return _convolve("conv2d", x, filter, stride, dilation, padding, groups, bias, input_layout, filter_layout)


def conv3d(
    x: TensorValueLike,
    filter: TensorValueLike,
    stride: tuple[int, int, int] = (1, 1, 1),
    dilation: tuple[int, int, int] = (1, 1, 1),
    padding: tuple[int, int, int, int, int, int] = (0, 0, 0, 0, 0, 0),
    groups: int = 1,
    bias: TensorValueLike | None = None,
    input_layout: ConvInputLayout = ConvInputLayout.NHWC,
    filter_layout: FilterLayout = FilterLayout.QRSCF,
) -> TensorValue:
    """A three-dimensional convolution. As `conv2d`, with a depth before the height.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> shapes = ([1, 5, 5, 5, 3], [2, 3, 3, 3, 4])
        >>> types = [TensorType(DType.float32, shape, DeviceRef.CPU()) for shape in shapes]
        >>> with Graph("g", input_types=types) as graph:
        ...     y = ops.conv3d(graph.inputs[0].tensor, graph.inputs[1].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 4, 3, 3, 4]
    """
    return _convolve("conv3d", x, filter, stride, dilation, padding, groups, bias, input_layout, filter_layout)


def _convolve(
    name: str,
    x: TensorValueLike,
    filter: TensorValueLike,
    stride: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    groups: int,
    bias: TensorValueLike | None,
    input_layout: ConvInputLayout,
    filter_layout: FilterLayout,
) -> TensorValue:
    value, weights = tensor_operand(x, name, "x"), tensor_operand(filter, name, "filter")
    dims = len(stride)
    for operand, given in (("x", value), ("filter", weights)):
        if given.rank != dims + 2:
            message = f"{name}: `{operand}` must have rank {dims + 2}, not {given.rank}"
            _conv.refuse(Refusal(message, code="MG014"), [value.to_mlir(), weights.to_mlir()])
    result = _conv(
        permute(value, input_axes(dims, input_layout)),
        permute(weights, filter_axes(dims, filter_layout)),
        None if bias is None else tensor_operand(bias, name, "bias"),
        list(stride),
        list(dilation),
        list(padding),
        groups,
    )
    return permute(result, output_axes(dims, input_layout))


def input_axes(dims: int, layout: ConvInputLayout) -> list[int]:
    """The order of an input's axes that puts the channels second."""
    return list(range(dims + 2)) if layout is ConvInputLayout.NCHW else [0, dims + 1, *range(1, dims + 1)]


def output_axes(dims: int, layout: ConvInputLayout) -> list[int]:
    """The order of a result's axes that brings the channels back."""
    return list(range(dims + 2)) if layout is ConvInputLayout.NCHW else [0, *range(2, dims + 2), 1]


def filter_axes(dims: int, layout: FilterLayout) -> list[int]:
    """The order of a filter's axes that puts the output channels first."""
    if layout in (FilterLayout.FCRS, FilterLayout.FCQRS):
        return list(range(dims + 2))
    if layout is FilterLayout.CFRS:
        return [1, 0, *range(2, dims + 2)]
    return [dims + 1, dims, *range(dims)]


@op(name="conv")
def _conv(  # type: ignore[empty-body]
    x: TensorValueLike,
    filter: TensorValueLike,
    bias: TensorValueLike | None,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    groups: int,
) -> TensorValue:
    """A convolution with the channels second; `pads` are before and after each axis."""


def convolved_dim(size: Dim, kernel: Dim, stride: int, dilation: int, pads: tuple[int, int]) -> Dim:
    """How many windows there are along an axis."""
    return (size + sum(pads) - dilation * (kernel - 1) - 1) // stride + 1


_DTYPES = {DType.float32, DType.float16, DType.bfloat16}


def check_window(rank: int, **lists: Sequence[int]) -> None:
    """Refuses strides and the like that are not positive, or not one (pads: two, from zero) for each axis."""
    for name, values in lists.items():
        count, least = (2 * rank, 0) if name == "padding" else (rank, 1)
        if len(values) != count or any(value < least for value in values):
            raise Refusal(f"`{name}` must be {count} ints from {least}, not {list(values)}", code="MG017")


@_conv.types
def _(
    x: TensorType,
    filter: TensorType,
    bias: TensorType | None,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    groups: int,
) -> TensorType:
    dims = x.rank - 2
    check_window(dims, stride=strides, dilation=dilations, padding=pads)
    for name, type_ in (("x", x), ("filter", filter), ("bias", bias)):
        if type_ is not None and (type_.dtype is not x.dtype or type_.dtype not in _DTYPES):
            message = f"`{name}` is {type_.dtype.name}; all operands must be one of float32, float16, bfloat16"
            raise Refusal(message, code="MG016", help="cast it, e.g. x.cast(DType.float32)")
    if filter.rank != x.rank:
        raise Refusal(f"`filter` has rank {filter.rank}, but `x` {x.rank}", code="MG014")
    outputs = static_dim(filter.shape[0])
    if groups < 1 or x.shape[1] != filter.shape[1] * groups or (outputs is not None and outputs % groups):
        raise Refusal(
            f"`x` has {x.shape[1]} channels; `filter` takes {filter.shape[1]} in each of {groups} groups, and gives "
            f"{filter.shape[0]}",
            code="MG012",
        )
    if bias is not None and list(bias.shape) != [filter.shape[0]]:
        raise Refusal(f"`bias` must be [{filter.shape[0]}], not {bias.shape.text}", code="MG015")
    sizes = []
    for at in range(dims):
        around = (pads[2 * at], pads[2 * at + 1])
        kernel = filter.shape[2 + at]
        size = convolved_dim(x.shape[2 + at], kernel, strides[at], dilations[at], around)
        if (static_dim(size) or 1) < 1 or (static_dim(kernel) or 1) < 1:
            raise Refusal(f"a filter of size {kernel} is larger than axis {at} of size {x.shape[2 + at]}", code="MG015")
        sizes.append(size)
    return x.with_shape([x.shape[0], filter.shape[0], *sizes])


@_conv.lowers
def _(
    b: Emitter,
    x: Handle,
    filter: Handle,
    bias: Handle | None,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    groups: int,
) -> Handle:
    def make(*operands: Handle) -> Handle:
        return b.node(
            "Conv",
            *operands,
            strides=list(strides),
            dilations=list(dilations),
            pads=[*pads[::2], *pads[1::2]],
            group=groups,
            shape=b.results[0].shape,
        )

    return computed(b, {DType.float32}, make, x, filter, *([] if bias is None else [bias]))


@_conv.reference
def _(
    x: Array,
    filter: Array,
    bias: Array | None,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    groups: int,
) -> Array:
    import numpy as np

    wide, weights = widened(x), widened(filter)
    around = [(0, 0), (0, 0), *zip(pads[::2], pads[1::2], strict=True)]
    windows = patches(np.pad(wide, around), filter.shape[2:], strides, dilations)
    parts = []
    for group in range(groups):
        per_group, outputs = filter.shape[1], filter.shape[0] // groups
        mine = windows[:, group * per_group : (group + 1) * per_group]
        kernel = weights[group * outputs : (group + 1) * outputs]
        axes = [1, *range(mine.ndim - (filter.ndim - 2), mine.ndim)]
        parts.append(np.moveaxis(np.tensordot(mine, kernel, (axes, list(range(1, filter.ndim)))), -1, 1))
    result = np.concatenate(parts, 1)
    if bias is not None:
        result = result + widened(bias).reshape(-1, *[1] * (x.ndim - 2))
    return narrowed(result, x)


def patches(x: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Array:
    """Every window of a padded input ``[batch, channels, ...]``: one more axis behind for each axis of the kernel."""
    import numpy as np

    spans = [dilation * (size - 1) + 1 for size, dilation in zip(kernel, dilations, strict=True)]
    axes = tuple(range(2, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(x, spans, axes)
    steps = [slice(None), slice(None), *(slice(None, None, stride) for stride in strides)]
    return windows[(*steps, *(slice(None, None, dilation) for dilation in dilations))]


def _case(x: Any, filter: Any, bias: Any = None, **rest: Any) -> dict[str, Any]:
    dims = len(x.dims) - 2
    plain = {"strides": [1] * dims, "dilations": [1] * dims, "pads": [0] * 2 * dims, "groups": 1}
    return {"x": x, "filter": filter, "bias": bias, **plain, **rest}


_conv.samples(
    _case(f32[2, 3, 5, 6], f32[4, 3, 2, 3]),
    _case(f32[1, 4, 6, 6], f32[6, 2, 3, 3], f32[6], strides=[2, 1], dilations=[1, 2], pads=[1, 0, 2, 2], groups=2),
    _case(f32[1, 3, 4, 4], f32[3, 1, 3, 3], pads=[1, 1, 1, 1], groups=3),
    _case(f32[1, 2, 7], f32[3, 2, 3], f32[3], strides=[2]),
    _case(f32[1, 2, 3, 4, 4], f32[2, 2, 2, 2, 2]),
    _case(f16[1, 2, 4, 4], f16[3, 2, 2, 2]),
    _case(bf16[1, 2, 4, 4], bf16[3, 2, 2, 2], bf16[3]),
    _case(f32["n:2", 3, "h:5", "w:6"], f32[4, 3, 2, 3], strides=[2, 3], pads=[1, 1, 0, 0]),
    _case(f32[0, 3, 5, 6], f32[4, 3, 2, 3]),
)
