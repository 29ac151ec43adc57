"""The transposed convolution: each element of the input adds a filter to the result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import ConvInputLayout, FilterLayout, TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .axes import permute
from .coerced import tensor_operand
from .convolution import check_window, filter_axes, input_axes, output_axes
from .emitter import Emitter, Handle
from .kernels import computed, narrowed, widened
from .registry import Refusal, op
from .samples import bf16, f16, f32

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["conv2d_transpose"]

_RANK = 4


def conv2d_transpose(
    x: TensorValueLike,
    filter: TensorValueLike,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    output_paddings: tuple[int, int] = (0, 0),
    bias: TensorValueLike | None = None,
    input_layout: ConvInputLayout = ConvInputLayout.NHWC,
    filter_layout: FilterLayout = FilterLayout.RSCF,
) -> TensorValue:
    """A two-dimensional transposed convolution, the gradient of `conv2d` with the same filter.

    Args:
        x: ``[batch, height, width, channels]``, or channels second with `input_layout` NCHW; half or single precision.
        filter: ``[height, width, out_channels, channels]``, or with `filter_layout` FCRS or CFRS
            ``[channels, out_channels, height, width]``; of its dtype.
        stride, dilation: For height and width.
        padding: Taken away before and after the height, before and after the width.
        output_paddings: Zeros added after the height and the width; less than the stride or the dilation.
        bias: A number for each output channel.
        input_layout, filter_layout: See above; the result has the input's layout.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(DType.float32, shape, DeviceRef.CPU()) for shape in ([1, "h", 4, 8], [2, 2, 3, 8])]
        >>> with Graph("g", input_types=types) as graph:
        ...     y = ops.conv2d_transpose(graph.inputs[0].tensor, graph.inputs[1].tensor, stride=(2, 2))
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 2*h, 8, 3]

    Raises:
        ValueError: A rank, a dtype or the channels do not fit, or nothing is left of the result.
    """
    value, weights = tensor_operand(x, "conv2d_transpose", "x"), tensor_operand(filter, "conv2d_transpose", "filter")
    for name, given in (("x", value), ("filter", weights)):
        if given.rank != _RANK:
            message = f"conv2d_transpose: `{name}` must have rank {_RANK}, not {given.rank}"
            _conv_transpose.refuse(Refusal(message, code="MG014"), [value.to_mlir(), weights.to_mlir()])
    axes = [0, 1, 2, 3] if filter_layout is FilterLayout.CFRS else filter_axes(2, filter_layout)
    result = _conv_transpose(
        permute(value, input_axes(2, input_layout)),
        permute(weights, axes),
        None if bias is None else tensor_operand(bias, "conv2d_transpose", "bias"),
        list(stride),
        list(dilation),
        list(padding),
        list(output_paddings),
    )
    return permute(result, output_axes(2, input_layout))


@op(name="conv_transpose")
def _conv_transpose(  # type: ignore[empty-body]
    x: TensorValueLike,
    filter: TensorValueLike,
    bias: TensorValueLike | None,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    output_pads: Sequence[int],
) -> TensorValue:
    """A transposed convolution with the channels second; the filter's input channels come first."""


@_conv_transpose.types
def _(
    x: TensorType,
    filter: TensorType,
    bias: TensorType | None,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    output_pads: Sequence[int],
) -> TensorType:
    dims = x.rank - 2
    check_window(dims, stride=strides, dilation=dilations, padding=pads)
    for name, type_ in (("x", x), ("filter", filter), ("bias", bias)):
        if type_ is not None and (type_.dtype is not x.dtype or type_.dtype.name not in _DTYPES):
            message = f"`{name}` is {type_.dtype.name}; all operands must be one of {', '.join(_DTYPES)}"
            raise Refusal(message, code="MG016", help="cast it, e.g. x.cast(DType.float32)")
    if filter.rank != x.rank:
        raise Refusal(f"`filter` has rank {filter.rank}, but `x` {x.rank}", code="MG014")
    if x.shape[1] != filter.shape[0]:
        raise Refusal(f"`x` has {x.shape[1]} channels, but `filter` takes {filter.shape[0]}", code="MG012")
    if bias is not None and list(bias.shape) != [filter.shape[1]]:
        raise Refusal(f"`bias` must be [{filter.shape[1]}], not {bias.shape.text}", code="MG015")
    sizes = []
    for at in range(dims):
        limit = max(strides[at], dilations[at])
        if len(output_pads) != dims or not 0 <= output_pads[at] < limit:
            message = f"`output_paddings` must be {dims} ints below the stride or the dilation, not {list(output_pads)}"
            raise Refusal(message, code="MG017")
        span = dilations[at] * (filter.shape[2 + at] - 1) + 1
        size = (x.shape[2 + at] - 1) * strides[at] + span + output_pads[at] - pads[2 * at] - pads[2 * at + 1]
        if (static_dim(size) or 1) < 1:
            raise Refusal(f"nothing is left of axis {at}: its size would be {size}", code="MG015")
        sizes.append(size)
    return x.with_shape([x.shape[0], filter.shape[1], *sizes])


_DTYPES = ("float32", "float16", "bfloat16")


@_conv_transpose.lowers
def _(
    b: Emitter,
    x: Handle,
    filter: Handle,
    bias: Handle | None,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    output_pads: Sequence[int],
) -> Handle:
    def make(*operands: Handle) -> Handle:
        return b.node(
            "ConvTranspose",
            *operands,
            strides=list(strides),
            dilations=list(dilations),
            pads=[*pads[::2], *pads[1::2]],
            output_padding=list(output_pads),
            shape=b.results[0].shape,
        )

    return computed(b, {DType.float32}, make, x, filter, *([] if bias is None else [bias]))


@_conv_transpose.reference
def _(
    x: Array,
    filter: Array,
    bias: Array | None,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    output_pads: Sequence[int],
) -> Array:
    import numpy as np

    wide, weights = widened(x), widened(filter)
    kernel, sizes = filter.shape[2:], x.shape[2:]
    whole = [
        (size - 1) * stride + dilation * (k - 1) + 1 + extra
        for size, stride, dilation, k, extra in zip(sizes, strides, dilations, kernel, output_pads, strict=True)
    ]
    result = np.zeros((x.shape[0], filter.shape[1], *whole), wide.dtype)
    for place in product(*(range(k) for k in kernel)):
        tap = weights[(slice(None), slice(None), *place)]  # type: ignore[arg-type]  # ints and slices
        part = np.moveaxis(np.tensordot(wide, tap, ([1], [0])), -1, 1)
        starts = [p * d for p, d in zip(place, dilations, strict=True)]
        into = [
            slice(start, start + (size - 1) * stride + 1, stride)
            for start, size, stride in zip(starts, sizes, strides, strict=True)
        ]
        result[:, :, *into] += part
    kept = [slice(before, size - after) for before, after, size in zip(pads[::2], pads[1::2], whole, strict=True)]
    result = result[:, :, *kept]
    if bias is not None:
        result = result + widened(bias).reshape(-1, *[1] * len(kernel))
    return narrowed(result, x)


def _case(x: Any, filter: Any, bias: Any = None, **rest: Any) -> dict[str, Any]:
    plain = {"strides": [1, 1], "dilations": [1, 1], "pads": [0] * 4, "output_pads": [0, 0]}
    return {"x": x, "filter": filter, "bias": bias, **plain, **rest}


_conv_transpose.samples(
    _case(f32[2, 3, 4, 5], f32[3, 2, 2, 3]),
    _case(f32[1, 3, 4, 5], f32[3, 2, 3, 3], f32[2], strides=[2, 1], dilations=[1, 2], pads=[1, 0, 2, 1]),
    _case(f32[1, 3, 4, 5], f32[3, 2, 3, 3], strides=[2, 3], output_pads=[1, 2]),
    _case(f16[1, 2, 3, 3], f16[2, 3, 2, 2]),
    _case(bf16[1, 2, 3, 3], bf16[2, 3, 2, 2], bf16[3]),
    _case(f32["n:2", 3, "h:4", "w:5"], f32[3, 2, 2, 3], strides=[2, 2]),
)
