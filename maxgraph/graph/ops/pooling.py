"""The largest element, or the mean, of each window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..dim import Dim, DimLike
from ..shape import Shape
from ..type import ConvInputLayout, TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .axes import permute
from .coerced import tensor_operand
from .constant import constant
from .convolution import check_window, convolved_dim, input_axes, output_axes, patches
from .division import div
from .emitter import Emitter, Handle
from .kernels import computed, narrowed, widened
from .padding import pad
from .registry import Op, Refusal, op
from .samples import bf16, f16, f32
from .shapes import broadcast_to

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["avg_pool2d", "max_pool2d"]

_RANK = 4


def max_pool2d(
    input: TensorValueLike,
    kernel_size: tuple[DimLike, DimLike],
    stride: int | tuple[int, int] = 1,
    dilation: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] = 0,
    ceil_mode: bool = False,
) -> TensorValue:
    """The largest element of each window; NaN where there is one.

    Args:
        input: ``[batch, height, width, channels]``, of half or single precision.
        kernel_size: The window's height and width.
        stride, dilation: One for both axes, or one for each.
        padding: So many elements that are smaller than all others, at both ends of both axes or of each.
        ceil_mode: Let the last window reach over the end.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 8, 6, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.max_pool2d(graph.inputs[0].tensor, (2, 2), stride=2)
        ...     graph.output(y)
        >>> print(y.type)
        float32[n, 4, 3, 3]

    Raises:
        ValueError: The rank or the dtype does not fit, or a window is larger than the input.
    """
    window = _Window("max_pool2d", input, kernel_size, stride, dilation, padding, ceil_mode=ceil_mode)
    padded = pad(window.value, [0, 0, 0, 0, *window.pads], "constant", -float("inf"))
    return window.back(_max_pool(padded, window.kernel, window.strides, window.dilations))


def avg_pool2d(
    input: TensorValueLike,
    kernel_size: tuple[DimLike, DimLike],
    stride: int | tuple[int, int] = 1,
    dilation: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] = 0,
    ceil_mode: bool = False,
    count_boundary: bool = True,
) -> TensorValue:
    """The mean of each window. As `max_pool2d`, but padding is zeros.

    Args:
        input, kernel_size, stride, dilation, padding, ceil_mode: As for `max_pool2d`.
        count_boundary: Divide by the number of the window's elements; else only by that of those that lie inside.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [1, 8, 8, 3], DeviceRef.CPU())]) as graph:
        ...     y = ops.avg_pool2d(graph.inputs[0].tensor, (3, 3), stride=2, padding=1)
        ...     graph.output(y)
        >>> print(y.type)
        float32[1, 4, 4, 3]
    """
    window = _Window("avg_pool2d", input, kernel_size, stride, dilation, padding, ceil_mode=ceil_mode)
    pads = [0, 0, 0, 0, *window.pads]
    means = _avg_pool(pad(window.value, pads), window.kernel, window.strides, window.dilations)
    if not count_boundary and any(pads):
        one = constant(1.0, window.value.dtype, window.value.device)
        inside = pad(broadcast_to(one, Shape([1, 1, *window.value.shape[2:]])), pads)
        means = div(means, _avg_pool(inside, window.kernel, window.strides, window.dilations))
    return window.back(means)


class _Window:
    """The arguments of a pooling function, with the channels second."""

    def __init__(
        self,
        name: str,
        input: TensorValueLike,
        kernel_size: tuple[DimLike, DimLike],
        stride: int | tuple[int, int],
        dilation: int | tuple[int, int],
        padding: int | tuple[int, int],
        *,
        ceil_mode: bool,
    ) -> None:
        value = tensor_operand(input, name, "input")
        if value.rank != _RANK:
            _max_pool.refuse(Refusal(f"{name}: `input` must have rank 4, not {value.rank}", code="MG014"), [])
        self.value = permute(value, input_axes(2, ConvInputLayout.NHWC))
        self.kernel = [int(Dim(size)) for size in kernel_size]
        self.strides, self.dilations = _both(stride), _both(dilation)
        self.pads = [amount for around in _both(padding) for amount in (around, around)]
        if ceil_mode:
            for at in range(2):
                self.pads[2 * at + 1] += self._overhang(name, at)

    def _overhang(self, name: str, at: int) -> int:
        """How far the last window reaches over the end, if one more begins before it."""
        size = static_dim(self.value.shape[2 + at])
        if size is None:
            message = f"{name}: `ceil_mode` needs a static size, but axis {1 + at} is {self.value.shape[2 + at]}"
            _max_pool.refuse(Refusal(message, code="MG015"), [])
        span = self.dilations[at] * (self.kernel[at] - 1) + 1
        left = (size + 2 * self.pads[2 * at] - span) % self.strides[at]
        return (self.strides[at] - left) % self.strides[at]

    def back(self, result: TensorValue) -> TensorValue:
        """The result with the channels last."""
        return permute(result, output_axes(2, ConvInputLayout.NHWC))


def _both(value: int | tuple[int, int]) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)


@op(name="max_pool")
def _max_pool(  # type: ignore[empty-body]
    x: TensorValueLike, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> TensorValue:
    """The largest element of each window, with the channels second and no padding."""


@op(name="avg_pool")
def _avg_pool(  # type: ignore[empty-body]
    x: TensorValueLike, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> TensorValue:
    """The mean of each window, with the channels second and no padding."""


_DTYPES = {DType.float32, DType.float16, DType.bfloat16}


def _pool(declared: Op[..., Any], *, largest: bool) -> None:
    """Completes the declaration of a pool."""

    @declared.types
    def _(x: TensorType, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> TensorType:
        if x.dtype not in _DTYPES:
            message = f"`input` must be float32, float16 or bfloat16, not {x.dtype.name}"
            raise Refusal(message, code="MG016", help="cast it first, e.g. x.cast(DType.float32)")
        check_window(x.rank - 2, kernel_size=kernel, stride=strides, dilation=dilations)
        sizes = []
        for at in range(x.rank - 2):
            size = convolved_dim(x.shape[2 + at], Dim(kernel[at]), strides[at], dilations[at], (0, 0))
            if (static_dim(size) or 1) < 1:
                message = f"a window of size {kernel[at]} is larger than axis {at} of size {x.shape[2 + at]}"
                raise Refusal(message, code="MG015")
            sizes.append(size)
        return x.with_shape([*x.shape[:2], *sizes])

    @declared.lowers
    def _(b: Emitter, x: Handle, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Handle:
        shape = b.results[0].shape

        def node(op_type: str, y: Handle) -> Handle:
            return b.node(
                op_type,
                y,
                kernel_shape=list(kernel),
                strides=list(strides),
                dilations=list(dilations),
                shape=shape,
                since=19,
            )

        def make(y: Handle) -> Handle:
            if not largest:
                return node("AveragePool", y)
            found = node("MaxPool", y)
            # The kernel passes NaN over.
            is_nan = b.cast(b.node("IsNaN", y, dtype=DType.bool), DType.float32)
            marked = b.cast(node("MaxPool", is_nan), DType.bool)
            return b.node("Where", marked, b.constant(float("nan"), y.dtype), found, dtype=y.dtype)

        return computed(b, {DType.float32}, make, x)

    @declared.reference
    def _(x: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Array:
        windows = patches(widened(x), kernel, strides, dilations)
        axes = tuple(range(x.ndim, windows.ndim))
        return narrowed(windows.max(axes) if largest else windows.mean(axes), x)

    def case(x: Any, kernel: list[int], strides: list[int], dilations: list[int]) -> dict[str, Any]:
        return {"x": x, "kernel": kernel, "strides": strides, "dilations": dilations}

    declared.samples(
        case(f32[2, 3, 5, 6], [2, 3], [1, 1], [1, 1]),
        case(f32[1, 2, 7, 7], [3, 2], [2, 3], [2, 1]),
        case(f32[1, 2, 7], [3], [2], [1]),
        case(f16[1, 2, 4, 4], [2, 2], [2, 2], [1, 1]),
        case(bf16[1, 2, 4, 4], [2, 2], [2, 2], [1, 1]),
        case(f32["n:2", 2, "h:5", "w:4"], [2, 2], [2, 1], [1, 1]),
        case(f32[1, 1, 2, 2].of([1, float("nan"), 3, -4]), [1, 2], [1, 1], [1, 1]),
        case(f32[0, 2, 4, 4], [2, 2], [2, 2], [1, 1]),
    )


_pool(_max_pool, largest=True)
_pool(_avg_pool, largest=False)
