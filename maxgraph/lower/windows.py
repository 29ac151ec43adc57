"""Loads and stores of parts: each as the cheapest node that serves, bounds checked before anything is written.

A store to one contiguous range of one axis is a TensorScatter, whatever the length; any other is a ScatterND over the
rows of index tuples that the part covers. Both cost in proportion to the part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dtype import DType
from ..graph.dim import Dim
from ..graph.ops.emitter import Handle, Window
from ..graph.ops.indexing import squeezed_shape
from ..graph.shape import Shape
from ..graph.type import static_dim

if TYPE_CHECKING:
    from .buffers import BufferTrack
    from .emit import GraphEmitter

__all__ = ["load_window", "store_window"]


def load_window(e: GraphEmitter, x: Handle, window: Window) -> Handle:
    """The window's elements, squeezed."""
    moved = _moved_axes(x.shape, window)
    result_shape = squeezed_shape(window.extents, window.squeezed)
    if len(moved) == 1 and moved[0] in window.squeezed:
        axis = moved[0]
        start = _checked_start(e, x.shape, window, axis)
        # Gather counts from the end by itself, and takes the axis away where the index is a scalar.
        index = e.reshape(start, Shape([])) if isinstance(start, Handle) else _scalar(e, start)
        taken = e.node("Gather", x, index, axis=axis, shape=Shape([*x.shape[:axis], *x.shape[axis + 1 :]]))
        return e.reshape(taken, result_shape)
    starts, ends, steps = [], [], []
    for axis in moved:
        start, end = _start_and_end(e, x.shape, window, axis)
        starts.append(start)
        ends.append(end)
        steps.append(window.steps[axis])
    if not moved:
        return e.reshape(x, result_shape)
    part = e.node(
        "Slice", x, _vector(e, starts), _vector(e, ends), e.constant(moved), e.constant(steps), shape=window.extents
    )
    if not window.squeezed:
        return part
    return e.node("Squeeze", part, e.constant(list(window.squeezed)), shape=result_shape)


def store_window(e: GraphEmitter, track: BufferTrack, value: Handle, window: Window) -> None:
    """Overwrites the window in the buffer's current version."""
    shape = track.type.shape
    moved = _moved_axes(shape, window)
    if any(static_dim(extent) == 0 for extent in window.extents):
        for axis in moved:
            _checked_start(e, shape, window, axis)
        e.skip_store()
        return
    # A subgraph yields the buffer in its own shape, so what writes it there must write that.
    if len(moved) == 1 and window.steps[moved[0]] == 1 and not e.in_block:
        _store_range(e, track, value, window, moved[0])
    else:
        _store_rows(e, track, value, window, moved)


def _store_range(e: GraphEmitter, track: BufferTrack, value: Handle, window: Window, axis: int) -> None:
    """One contiguous range of one axis, as a TensorScatter over the buffer seen as [1, outer, length, inner]."""
    shape = track.type.shape
    outer, inner = shape[:axis].num_elements, shape[axis + 1 :].num_elements
    start = _start(e, shape, window, axis)
    index = start if isinstance(start, Handle) else e.sizes.value(start)
    data = Shape([1, outer, shape[axis], inner])
    part = Shape([1, outer, window.extents[axis], inner])
    version = e.node(
        "TensorScatter", e.version_as(track, data), e.reshape(value, part), index, since=24, axis=2, shape=data
    )
    e.add_scatter(track, version, window, gate=2)


def _store_rows(e: GraphEmitter, track: BufferTrack, value: Handle, window: Window, moved: list[int]) -> None:
    """Any part, as a ScatterND whose rows are the index tuples over the axes up to the last one that moves."""
    shape = track.type.shape
    depth = moved[-1] + 1 if moved else len(shape)
    extents = Shape(window.extents[:depth])
    ranges = [_positions(e, shape, window, axis) for axis in range(depth)]
    grid_shape = Shape([*extents, 1])
    columns = []
    for axis, positions in enumerate(ranges):
        alone = Shape([extents[axis] if at == axis else 1 for at in range(depth)] + [1])
        column = e.reshape(positions, alone)
        if alone != grid_shape:
            column = e.node("Expand", column, e.dims(grid_shape), shape=grid_shape)
        columns.append(column)
    rows_shape = Shape([*extents, depth])
    rows = columns[0] if depth == 1 else e.node("Concat", *columns, axis=-1, shape=rows_shape)
    updates = e.reshape(value, Shape([*extents, *shape[depth:]]))
    version = e.node("ScatterND", e.version_as(track, shape), rows, updates, since=18, shape=shape)
    e.add_scatter(track, version, window, gate=1)


def _positions(e: GraphEmitter, shape: Shape, window: Window, axis: int) -> Handle:
    """The positions that the window takes along an axis, as an int64 vector."""
    start, step, extent = _start(e, shape, window, axis), window.steps[axis], window.extents[axis]
    size = static_dim(extent)
    vector = Shape([extent])
    if size is None:
        end = e.reshape(e.sizes.value(extent), Shape([]))
        offsets = e.node("Range", e.constant(0), end, e.constant(1), shape=vector)
        if step != 1:
            offsets = e.node("Mul", offsets, e.constant([step]), shape=vector)
    else:
        first = static_dim(start) if isinstance(start, Dim) else None
        if first is not None:
            return e.constant([first + at * step for at in range(size)])
        if size == 1:
            return start if isinstance(start, Handle) else e.sizes.value(start)
        offsets = e.constant([at * step for at in range(size)])
    if isinstance(start, Dim) and start == 0:
        return offsets
    return e.node("Add", offsets, start if isinstance(start, Handle) else e.sizes.value(start), shape=vector)


def _moved_axes(shape: Shape, window: Window) -> list[int]:
    """The axes along which the window is not simply all of it."""
    return [
        axis
        for axis, (start, extent, step) in enumerate(zip(window.starts, window.extents, window.steps, strict=True))
        if isinstance(start, Handle)
        or start != 0
        or extent != shape[axis]
        or step != 1
        or window.stops[axis] is not None
    ]


def _start(e: GraphEmitter, shape: Shape, window: Window, axis: int) -> Dim | Handle:
    """Where the window starts along an axis, counted from the front, checked; a handle is a vector of one element."""
    start = _checked_start(e, shape, window, axis)
    if not isinstance(start, Handle):
        return start
    return _from_front(e, start, shape[axis], is_filled=_is_filled(window.extents[axis]))


def _is_filled(extent: Dim) -> bool:
    """Whether there is certainly an element."""
    return (static_dim(extent) or 0) > 0


def _from_front(e: GraphEmitter, index: Handle, size: Dim, *, is_filled: bool) -> Handle:
    """An index of one element as a vector, counted from the end where it is negative.

    Args:
        is_filled: Whether it is the place of an element; where an empty part starts may be the size itself.
    """
    number = static_dim(size)
    if number and is_filled:  # Mod takes the divisor's sign. A scalar broadcasts to the vector.
        return e.node("Mod", index, e.constant([number]), shape=Shape([1]))
    return _from_front_end(e, e.reshape(index, Shape([1])), size)


def _start_and_end(e: GraphEmitter, shape: Shape, window: Window, axis: int) -> tuple[Dim | Handle, Dim | Handle]:
    """A Slice's start and its exclusive end; a falling slice that reaches the front ends before any index."""
    start = _start(e, shape, window, axis)
    extent, step, stop = window.extents[axis], window.steps[axis], window.stops[axis]
    is_filled = _is_filled(extent)
    if step < 0 and not is_filled:
        # An empty part may start before the front, which a Slice would count from the end.
        start = e.node("Max", start if isinstance(start, Handle) else e.sizes.value(start), e.constant([0]))
    if stop is not None and not e.sizes.knows(extent):
        return start, _from_front_end(e, e.reshape(stop, Shape([1])), shape[axis])
    if step > 0:
        return start, _plus(e, start, extent * step)
    if isinstance(start, Dim) and (end := static_dim(start + extent * step)) is not None:
        return start, Dim(end if end >= 0 else _BEFORE_ALL)
    last = _plus(e, start, (extent - 1) * step - 1)
    handle = last if isinstance(last, Handle) else e.sizes.value(last)
    before = e.node("Less", handle, e.constant([0]), dtype=DType.bool)
    end_handle = e.node("Where", before, e.constant([_BEFORE_ALL]), handle, dtype=DType.int64)
    if is_filled:
        return start, end_handle
    is_empty = e.node("Equal", e.sizes.value(extent), e.constant([0]), dtype=DType.bool)
    none = start if isinstance(start, Handle) else e.sizes.value(start)
    return start, e.node("Where", is_empty, none, end_handle, dtype=DType.int64)


_BEFORE_ALL = -(2**62)  # ONNX's Slice clamps it to just before the first element


def _from_front_end(e: GraphEmitter, stop: Handle, size: Dim) -> Handle:
    """An end with negative values counted from the end; the size itself stays, unlike an index."""
    moved = e.node("Add", stop, e.sizes.value(size))
    return e.node("Where", e.node("Less", stop, e.constant([0]), dtype=DType.bool), moved, stop, dtype=DType.int64)


def _plus(e: GraphEmitter, start: Dim | Handle, distance: Dim) -> Dim | Handle:
    if isinstance(start, Dim):
        return start + distance
    return e.node("Add", start, e.sizes.value(distance))


def _scalar(e: GraphEmitter, dim: Dim) -> Handle:
    number = static_dim(dim)
    return e.constant(number) if number is not None else e.reshape(e.sizes.value(dim), Shape([]))


def _vector(e: GraphEmitter, parts: list[Dim | Handle]) -> Handle:
    """Static and computed sizes as one int64 vector."""
    numbers = [static_dim(part) if isinstance(part, Dim) else None for part in parts]
    if all(number is not None for number in numbers):
        return e.constant(numbers)
    handles = [part if isinstance(part, Handle) else e.sizes.value(part) for part in parts]
    return handles[0] if len(handles) == 1 else e.node("Concat", *handles, axis=0, shape=Shape([len(handles)]))


def _checked_start(e: GraphEmitter, shape: Shape, window: Window, axis: int) -> Dim | Handle:
    """Where the window starts, once it is sure that it stays inside the axis.

    That is checked on the feeds where it can be, else in the graph; what is returned then depends on the check.
    """
    start, extent, size = window.starts[axis], window.extents[axis], shape[axis]
    stop = window.stops[axis]
    if stop is not None:
        _check_stop(e, window, axis, stop, size)
    bounds = _bounds(e, window, axis, size)
    if not isinstance(start, Handle):
        message = f"axis {axis} of size {size} does not hold {extent} elements from {start} with step "
        message += str(window.steps[axis])
        conditions = [extent] if e.sizes.knows(extent) else []  # else it is what the stop says, and that was checked
        for low, high in bounds:
            conditions += [start - low, high - start]
        for condition in dict.fromkeys(conditions):
            number = static_dim(condition)
            is_symbol = number is None and condition.polynomial.name is not None  # which is never negative
            if not is_symbol and (number is None or number < 0):
                e.dim_check(condition, Dim(0), message)
        return start
    position = e.input_positions.get(start.name)
    squeezed = axis in window.squeezed
    symbols = {s.name for low, high in bounds for dim in (low, high, size) for s in dim.parameters}
    if position is not None and symbols <= e.input_symbols and not e.in_block:
        noun = "index {value}" if squeezed else f"the slice from {{value}} of {extent} elements"
        for low, high in bounds:
            e.index_check(position, size, low, high, f"{noun} is out of range for axis {axis} of size {{size}}")
        return start
    vector = _from_front_end(e, e.reshape(start, Shape([1])), size)
    for low, high in bounds:
        inside = e.node(
            "And",
            e.node("GreaterOrEqual", vector, e.sizes.value(low), dtype=DType.bool),
            e.node("LessOrEqual", vector, e.sizes.value(high), dtype=DType.bool),
        )
        what = "an index" if squeezed else f"a slice of {extent} elements"
        zero = e.check(
            e.node("Squeeze", inside, e.constant([0]), shape=Shape([])),
            f"{what} is out of range for axis {axis} of size {size}",
        )
        start = e.node("Add", start, zero)
    return start


def _bounds(e: GraphEmitter, window: Window, axis: int, size: Dim) -> list[tuple[Dim, Dim]]:
    """The least and the greatest start, counted from the front, for a window that stays inside; all pairs must hold.

    An empty rising part may start at the size, and an empty falling one just before the front.
    """
    extent, step = window.extents[axis], window.steps[axis]
    empty = (Dim(0), size) if step > 0 else (Dim(-1), size - 1)
    if not e.sizes.knows(extent) or static_dim(extent) == 0:
        return [empty]
    span = (extent - 1) * abs(step)
    filled = (Dim(0), size - 1 - span) if step > 0 else (span, size - 1)
    # With larger steps, the bounds of a part of no elements would lie beyond those of an empty one.
    return [filled] if _is_filled(extent) or abs(step) == 1 else [filled, empty]


def _check_stop(e: GraphEmitter, window: Window, axis: int, stop: Handle, size: Dim) -> None:
    """An end must lie in the axis, and agree with the extent where that is known beforehand."""
    start, extent, step = window.starts[axis], window.extents[axis], window.steps[axis]
    end = _from_front_end(e, e.reshape(stop, Shape([1])), size)
    inside = e.node(
        "And",
        e.node("GreaterOrEqual", end, e.constant([0]), dtype=DType.bool),
        e.node("LessOrEqual", end, e.sizes.value(size), dtype=DType.bool),
    )
    message = f"the end of the slice of axis {axis} is out of range for its size {size}"
    e.check(e.node("Squeeze", inside, e.constant([0]), shape=Shape([])), message)
    if e.sizes.knows(extent):
        first = (
            _from_front_end(e, e.reshape(start, Shape([1])), size)
            if isinstance(start, Handle)
            else e.sizes.value(start)
        )
        span = e.node("Sub", end, first) if step > 0 else e.node("Sub", first, end)
        if abs(step) != 1:
            rounded = e.node("Add", span, e.constant([abs(step) - 1]))
            span = e.node("Div", rounded, e.constant([abs(step)]))
        count = e.node("Max", span, e.constant([0]))
        inside = e.node("Equal", count, e.sizes.value(extent), dtype=DType.bool)
        message = f"the slice of axis {axis} has another length than its out_dim {extent}"
        e.check(e.node("Squeeze", inside, e.constant([0]), shape=Shape([])), message)
