"""Tensors made larger at their edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError
from ..dim import Dim
from ..shape import Shape
from ..type import TensorType, static_dim
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .kernels import ORDERED, computed
from .registry import Refusal, op
from .samples import b1, bf16, f16, f32, i16, i64, u64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["pad"]

_MODES = ("constant", "reflect", "edge")
_KERNELS = (ORDERED | {DType.bool, DType.float16, DType.bfloat16}) - {DType.uint16, DType.int16}


def pad(
    input: TensorValueLike,
    paddings: Iterable[int],
    mode: str = "constant",
    value: TensorValueLike = 0,
) -> TensorValue:
    """A tensor with more elements before and after its own along each axis.

    Args:
        input: A tensor.
        paddings: How many to add: before and after the first axis, before and after the second one, and so on.
        mode: ``"constant"`` adds `value`; ``"edge"`` repeats the outermost element; ``"reflect"`` mirrors the elements
            without the outermost one, and adds fewer than there are.
        value: A number, or a tensor of rank 0, of the input's dtype.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, ["n", 2], DeviceRef.CPU())]) as graph:
        ...     y = ops.pad(graph.inputs[0].tensor, [1, 0, 0, 3])
        ...     graph.output(y)
        >>> print(y.type)
        float32[n + 1, 5]

    Raises:
        ValueError: There are not two paddings for each axis, one is negative, the mode is unknown, or there are too few
            elements to mirror or to repeat.
    """
    return _pad(tensor_operand(input, "pad", "input"), value, list(paddings), mode)


@op(name="pad", promoted=["input", "value"], casts=False)
def _pad(  # type: ignore[empty-body]
    input: TensorValueLike,
    value: TensorValueLike,
    paddings: Sequence[int],
    mode: str,
) -> TensorValue:
    """More elements before and after along each axis."""


def _amounts(paddings: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(paddings[::2], paddings[1::2], strict=True))


@_pad.types
def _(input: TensorType, value: TensorType, paddings: Sequence[int], mode: str) -> TensorType:
    if mode not in _MODES:
        raise Refusal(f"`mode` is one of {', '.join(_MODES)}, not {mode!r}", code="MG017")
    if len(paddings) != 2 * input.rank:
        raise Refusal(f"a rank of {input.rank} needs {2 * input.rank} paddings, not {len(paddings)}", code="MG017")
    if value.rank:
        raise Refusal(f"`value` must have rank 0, not {value.rank}", code="MG014")
    dims = []
    for axis, (dim, amounts) in enumerate(zip(input.shape, _amounts(paddings), strict=True)):
        if min(amounts) < 0:
            raise Refusal(f"a padding of axis {axis} is negative: {list(amounts)}", code="MG017", help="use a slice")
        size = static_dim(dim)
        if size is not None and size < _needed(amounts, mode):
            message = f"axis {axis} of size {size} is too small for a padding of {list(amounts)} in mode {mode}"
            raise Refusal(message, code="MG015")
        dims.append(dim + sum(amounts))
    return input.with_shape(dims)


def _needed(amounts: tuple[int, int], mode: str) -> int:
    """The least size of an axis that can be padded so."""
    most = max(amounts)
    return 0 if mode == "constant" or not most else most + 1 if mode == "reflect" else 1


@_pad.lowers
def _(b: Emitter, input: Handle, value: Handle, paddings: Sequence[int], mode: str) -> Handle:
    amounts = _amounts(paddings)
    for axis, (dim, amount) in enumerate(zip(input.shape, amounts, strict=True)):
        if static_dim(dim) is None and _needed(amount, mode):
            size = b.reshape(b.dims(Shape([dim])), Shape([]))
            enough = b.node("GreaterOrEqual", size, b.constant(_needed(amount, mode)), dtype=DType.bool, since=16)
            b.check(enough, f"axis {axis} of size {dim} is too small for its padding in mode {mode}")
    if not any(paddings):
        return input
    if mode != "constant":
        return _gathered(b, input, amounts, mode)
    if all(static_dim(dim) for dim in input.shape):
        pads = b.constant([before for before, _ in amounts] + [after for _, after in amounts])
        shape = b.results[0].shape
        return computed(b, _KERNELS, lambda x, fill: b.node("Pad", x, pads, fill, shape=shape, since=21), input, value)
    return computed(b, _KERNELS - {DType.bfloat16}, lambda x, fill: _joined(b, x, fill, amounts), input, value)


def _joined(b: Emitter, x: Handle, fill: Handle, amounts: Sequence[tuple[int, int]]) -> Handle:
    """Constant padding as a Concat along each axis: the Pad kernel fails where a tensor has no elements."""
    shape = x.shape
    for axis, amount in enumerate(amounts):
        if not any(amount):
            continue
        ends = [Shape([*shape[:axis], count, *shape[axis + 1 :]]) for count in amount]
        before, after = (b.node("Expand", fill, b.dims(end), shape=end) for end in ends)
        shape = Shape([*shape[:axis], shape[axis] + sum(amount), *shape[axis + 1 :]])
        x = b.node("Concat", before, x, after, axis=axis, shape=shape)
    return x


def _gathered(b: Emitter, x: Handle, amounts: Sequence[tuple[int, int]], mode: str) -> Handle:
    """The modes that take elements from inside, as a Gather along each axis: the Pad kernel fails on an empty axis."""
    shape = x.shape
    for axis, amount in enumerate(amounts):
        if any(amount):
            shape = Shape([*shape[:axis], shape[axis] + sum(amount), *shape[axis + 1 :]])
            x = b.node("Gather", x, _places(b, x.shape[axis], amount, mode), axis=axis, shape=shape)
    return x


def _places(b: Emitter, size: Dim, amount: tuple[int, int], mode: str) -> Handle:
    """Which element stands at each place of a padded axis."""
    before, after = amount
    number = static_dim(size)
    if number is not None:
        places = range(-before, number + after)
        if mode == "edge":
            return b.constant([min(max(place, 0), number - 1) for place in places])
        return b.constant([number - 1 - abs(number - 1 - abs(place)) for place in places])
    length = b.reshape(b.dims(Shape([size])), Shape([]))
    last = b.node("Sub", length, b.constant(1))
    wide = b.node("Range", b.constant(-before), b.node("Add", length, b.constant(after)), b.constant(1))
    if mode == "edge":
        return b.node("Min", b.node("Max", wide, b.constant(0)), last)
    return b.node("Sub", last, b.node("Abs", b.node("Sub", last, b.node("Abs", wide))))


@_pad.reference
def _(input: Array, value: Array, paddings: Sequence[int], mode: str) -> Array:
    import numpy as np

    amounts = _amounts(paddings)
    for axis, amount in enumerate(amounts):
        if input.shape[axis] < _needed(amount, mode):
            message = f"axis {axis} of size {input.shape[axis]} is too small for its padding in mode {mode}"
            raise Refusal(message, code="MG035", error=ExecutionError)
    if not amounts:
        return input
    fill = {"constant_values": value} if mode == "constant" else {}
    return np.pad(input, amounts, mode, **fill)  # type: ignore[call-overload, no-any-return]  # the mode is checked


_pad.samples(
    *(
        {"input": x, "value": type(x)(x.dtype, (), values=1), "paddings": [1, 2, 0, 1], "mode": mode}
        for x in (f32[3, 4], i64[3, 2], u64[3, 2].of([2**63] * 6), f16[3, 2], bf16[3, 2], i16[3, 2], b1[3, 2])
        for mode in _MODES
    ),
    {"input": f32["n:3", 2], "value": f32[()], "paddings": [1, 2, 0, 1], "mode": "reflect"},
    {"input": f32["n:3", 2], "value": f32[()], "paddings": [5, 2, 0, 1], "mode": "edge"},
    {"input": f32[0, 2], "value": f32[()], "paddings": [1, 2, 0, 1], "mode": "constant"},
    {"input": f32[2, 0], "value": f32[()], "paddings": [1, 1, 0, 0], "mode": "reflect"},
    {"input": f32[()], "value": f32[()], "paddings": [], "mode": "constant"},
)
