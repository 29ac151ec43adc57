"""Parts of tensors and buffers: loads and stores by index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError
from ..dim import Dim
from ..shape import Shape, ShapeLike
from ..type import BufferType, TensorType, static_dim
from ..value import BufferValue, BufferValueLike, TensorValue, TensorValueLike
from .buffer import buffer_store, check_store
from .coerced import buffer_operand, tensor_operand
from .emitter import Emitter, Handle, Window
from .indexing import ParsedIndex, parse_index, squeezed_shape
from .registry import Op, Refusal, op
from .samples import f32, i64

if TYPE_CHECKING:
    import numpy as np

__all__ = ["buffer_store_slice", "slice_tensor"]


def slice_tensor(x: TensorValueLike, indices: Any) -> TensorValue:
    """A part of a tensor, with numpy-like indices.

    Args:
        x: A tensor.
        indices: One index or a tuple of them: ints, slices with steps, ``...``, None (a new axis), int64 tensors of
            one element, and tuples ``(slice, out_dim)`` where a bound is a tensor. Nothing is clamped: a static bound
            out of range is refused here, a dynamic one when the graph runs.

    Returns:
        A tensor; ints take their axis away.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [4, 6], DeviceRef.CPU())]) as graph:
        ...     x = graph.inputs[0].tensor
        ...     y = ops.slice_tensor(x, (slice(1, 3), -1))
        ...     graph.output(y)
        >>> print(y.type)
        float32[2]

    Raises:
        IndexError: A static index is out of range, or there are more indices than axes.
        TypeError: An index is of no supported kind.
        ValueError: A tensor index is not one int64.
    """
    value = tensor_operand(x, "slice_tensor", "x")
    parsed = _parse(_slice, value, indices)
    result = value if parsed.is_whole else _slice(value, **_arguments(parsed))
    for axis in parsed.new_axes:
        from .shapes import unsqueeze

        result = unsqueeze(result, axis)
    return result


def buffer_store_slice(destination: BufferValueLike, source: TensorValueLike, indices: Any) -> None:
    """Overwrites a part of a buffer; the rest stays. Its cost is that of the part.

    Args:
        destination: A buffer.
        source: A tensor of the buffer's dtype and exactly the shape of the part.
        indices: As for `slice_tensor`, without None.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [
        ...     BufferType(DType.float32, [8, 2], cpu),
        ...     TensorType(DType.float32, [2], cpu),
        ...     TensorType(DType.int64, [], cpu),
        ... ]
        >>> with Graph("g", input_types=types) as graph:
        ...     cache, row, position = graph.inputs
        ...     ops.buffer_store_slice(cache.buffer, row.tensor, [position.tensor])
        ...     graph.output()

    Raises:
        IndexError: A static index is out of range.
        TypeError: An index is of no supported kind, or an operand no buffer or tensor.
        ValueError: The source's dtype or shape is not that of the part.
    """
    buffer = buffer_operand(destination, "buffer_store_slice", "destination")
    value = tensor_operand(source, "buffer_store_slice", "source")
    parsed = _parse(_store_slice, buffer, indices)
    if parsed.new_axes:
        _store_slice.refuse(Refusal("None cannot index a part to store into", code="MG019"), [buffer.to_mlir()])
    if parsed.is_whole:
        buffer_store(buffer, value)
    else:
        _store_slice(buffer, value, **_arguments(parsed))


def _parse(op_: Op[..., Any], value: TensorValue | BufferValue, indices: object) -> ParsedIndex:
    try:
        return parse_index(indices, value.shape)
    except Refusal as refusal:
        op_.refuse(refusal, [value.to_mlir()])


def _arguments(parsed: ParsedIndex) -> dict[str, Any]:
    return {
        "dynamic_starts": parsed.dynamic_starts,
        "stops": parsed.stops,
        "starts": Shape(parsed.starts),
        "extents": Shape(parsed.extents),
        "steps": parsed.steps,
        "squeezed": parsed.squeezed,
        "dynamic": parsed.dynamic,
        "bounded": parsed.bounded,
    }


@op(name="slice")
def _slice(  # type: ignore[empty-body]
    x: TensorValueLike,
    dynamic_starts: Iterable[TensorValueLike],
    stops: Iterable[TensorValueLike],
    starts: ShapeLike,
    extents: ShapeLike,
    steps: Sequence[int],
    squeezed: Sequence[int],
    dynamic: Sequence[int],
    bounded: Sequence[int],
) -> TensorValue:
    """A strided window of a tensor; see `indexing.ParsedIndex` for the attributes."""


@op(name="buffer_store_slice", writes=["destination"])
def _store_slice(
    destination: BufferValueLike,
    source: TensorValueLike,
    dynamic_starts: Iterable[TensorValueLike],
    stops: Iterable[TensorValueLike],
    starts: ShapeLike,
    extents: ShapeLike,
    steps: Sequence[int],
    squeezed: Sequence[int],
    dynamic: Sequence[int],
    bounded: Sequence[int],
) -> None:
    """Overwrites a strided window of a buffer."""


def _window_shape(whole: Shape, attributes: dict[str, Any]) -> Shape:
    """The window's shape.

    Raises:
        Refusal: The attributes do not describe a window of `whole`.
    """
    starts, extents, steps = attributes["starts"], attributes["extents"], attributes["steps"]
    rank = len(whole)
    if not len(starts) == len(extents) == len(steps) == rank:
        raise Refusal(f"a window of rank {len(starts)} over a value of rank {rank}", code="MG019")
    for name, values in (("dynamic", "dynamic_starts"), ("bounded", "stops")):
        given = attributes[values]
        if len(given) != len(attributes[name]) or any(t.dtype is not DType.int64 or t.rank for t in given):
            raise Refusal(f"`{values}` must be int64 scalars, one for each axis in `{name}`", code="MG019")
    for name in ("squeezed", "dynamic", "bounded"):
        axes = attributes[name]
        if sorted(set(axes)) != list(axes) or any(not 0 <= a < rank for a in axes):
            raise Refusal(f"`{name}` must be rising axes of a value of rank {rank}", code="MG019")
    for axis in range(rank):
        size, start, extent = static_dim(whole[axis]), static_dim(starts[axis]), static_dim(extents[axis])
        if steps[axis] == 0 or (extent is not None and extent < 0):
            raise Refusal(f"axis {axis} has step {steps[axis]} and {extents[axis]} elements", code="MG019")
        if axis in attributes["squeezed"] and extent != 1:
            raise Refusal(f"axis {axis} is squeezed but has {extents[axis]} elements", code="MG019")
        if size is None or extent is None or (start is None and axis not in attributes["dynamic"]):
            continue
        span = (extent - 1) * abs(steps[axis]) + 1 if extent else 0
        if axis in attributes["dynamic"]:
            fits = span <= size
        else:
            last = int(start or 0) + (extent - 1) * steps[axis]
            first = int(start or 0)
            low, high = (0, size) if steps[axis] > 0 else (-1, size - 1)
            fits = low <= first <= high if not extent else 0 <= first < size and 0 <= last < size
        if not fits:
            raise Refusal(
                f"axis {axis} has size {size}, which does not hold {extent} elements from "
                f"{'a dynamic start' if axis in attributes['dynamic'] else start} with step {steps[axis]}",
                code="MG018",
            )
    return squeezed_shape(extents, attributes["squeezed"])


@_slice.types
def _(x: TensorType, **attributes: Any) -> TensorType:
    return x.with_shape(_window_shape(x.shape, attributes))


@_store_slice.types
def _(destination: BufferType, source: TensorType, **attributes: Any) -> None:
    shape = _window_shape(destination.shape, attributes)
    check_store(destination, source, destination.as_tensor().with_shape(shape))


def _window(attributes: dict[str, Any]) -> Window:
    starts: list[Dim | Handle] = list(attributes["starts"])
    for axis, handle in zip(attributes["dynamic"], attributes["dynamic_starts"], strict=True):
        starts[axis] = handle
    stops: list[Handle | None] = [None] * len(starts)
    for axis, handle in zip(attributes["bounded"], attributes["stops"], strict=True):
        stops[axis] = handle
    return Window(
        tuple(starts), tuple(stops), attributes["extents"], attributes["steps"], tuple(attributes["squeezed"])
    )


@_slice.lowers
def _(b: Emitter, x: Handle, **attributes: Any) -> Handle:
    return b.load_window(x, _window(attributes))


@_store_slice.lowers
def _(b: Emitter, destination: Handle, source: Handle, **attributes: Any) -> None:
    b.store_window(destination, source, _window(attributes))


def _numpy_window(shape: tuple[int, ...], attributes: dict[str, Any]) -> tuple[slice, ...]:
    """The window as numpy slices.

    Raises:
        Refusal: It leaves the value, or its end disagrees with its extent.
    """
    starts = list(attributes["starts"])
    extents = list(attributes["extents"])
    given = dict(zip(attributes["dynamic"], map(int, attributes["dynamic_starts"]), strict=True))
    for axis, value in given.items():
        starts[axis] = value + (shape[axis] if value < 0 else 0)
    for axis, value in zip(attributes["bounded"], attributes["stops"], strict=True):
        stop = int(value) + (shape[axis] if value < 0 else 0)
        if not 0 <= stop <= shape[axis]:
            message = f"the end {int(value)} of the slice is out of range for axis {axis} of size {shape[axis]}"
            raise Refusal(message, code="MG035", error=ExecutionError)
        step = attributes["steps"][axis]
        reached = max(0, -((starts[axis] - stop) // step) if step > 0 else -((stop - starts[axis]) // -step))
        if extents[axis] is None:
            extents[axis] = reached
        elif extents[axis] != reached:
            raise Refusal(
                f"the slice of axis {axis} has {reached} elements, but its out_dim is {extents[axis]}",
                code="MG035",
                error=ExecutionError,
            )
    slices = []
    for axis, (start, extent, step) in enumerate(zip(starts, extents, attributes["steps"], strict=True)):
        last = start + (extent - 1) * step
        size = shape[axis]
        # An empty part may start at the size or, where it falls, just before the front.
        low, high = (0, size) if step > 0 else (-1, size - 1)
        if not (low <= start <= high if extent == 0 else 0 <= start < size and 0 <= last < size):
            is_index = axis in attributes["squeezed"]
            shown = given.get(axis, start)
            what = f"index {shown}" if is_index else f"the slice from {shown} of {extent} elements"
            raise Refusal(f"{what} is out of range for axis {axis} of size {size}", code="MG035", error=ExecutionError)
        end = last + (1 if step > 0 else -1)
        slices.append(slice(0, 0) if extent == 0 else slice(start, None if end < 0 else end, step))
    return tuple(slices)


@_slice.reference
def _(x: np.ndarray[Any, Any], **attributes: Any) -> np.ndarray[Any, Any]:
    return x[_numpy_window(x.shape, attributes)].squeeze(axis=tuple(attributes["squeezed"])).copy()


@_store_slice.reference
def _(destination: np.ndarray[Any, Any], source: np.ndarray[Any, Any], **attributes: Any) -> None:
    import numpy as np

    destination[_numpy_window(destination.shape, attributes)] = np.expand_dims(source, tuple(attributes["squeezed"]))


def _case(starts: list[int], extents: list[int], steps: list[int], **rest: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"dynamic_starts": [], "stops": [], "squeezed": [], "dynamic": [], "bounded": []}
    return {**empty, "starts": starts, "extents": extents, "steps": steps, **rest}


_slice.samples(
    {"x": f32[5, 6], **_case([1, 0], [3, 6], [1, 1])},
    {"x": f32[5, 6], **_case([4, 1], [5, 2], [-1, 3])},
    {"x": f32[5, 6], **_case([2, 0], [1, 6], [1, 1], squeezed=[0])},
    {"x": f32[5, 6], **_case([0, 0], [1, 2], [1, 1], squeezed=[0], dynamic=[0], dynamic_starts=[i64[()].of(-2)])},
    {"x": f32[5, 6], **_case([0, 0], [5, 2], [1, 2], dynamic=[1], dynamic_starts=[i64[()].of(3)])},
    {
        "x": f32[5, 6],
        **_case(
            [0, 0], [5, 2], [1, 1], dynamic=[1], dynamic_starts=[i64[()].of(3)], bounded=[1], stops=[i64[()].of(5)]
        ),
    },
    {"x": f32["n:4", 3], **_case([0, 1], ["n", 2], [1, 1])},  # type: ignore[list-item]  # a symbolic extent
)
_store_slice.samples(
    {"destination": f32[5, 6].buffer, "source": f32[2, 6], **_case([1, 0], [2, 6], [1, 1])},
    {"destination": f32[5, 6].buffer, "source": f32[6], **_case([1, 0], [1, 6], [1, 1], squeezed=[0])},
    {"destination": f32[5, 6].buffer, "source": f32[5], **_case([0, 3], [5, 1], [1, 1], squeezed=[1])},
    {"destination": f32[5, 6].buffer, "source": f32[5, 2], **_case([4, 1], [5, 2], [-1, 3])},
    {
        "destination": f32[2, 5, 6].buffer,
        "source": f32[2, 6],
        **_case([0, 0, 0], [2, 1, 6], [1, 1, 1], squeezed=[1], dynamic=[1], dynamic_starts=[i64[()].of(-1)]),
    },
    {
        "destination": i64[5, 6].buffer,
        "source": i64[2, 2],
        **_case([0, 0], [2, 2], [2, 1], dynamic=[0, 1], dynamic_starts=[i64[()].of(1), i64[()].of(4)]),
    },
)
