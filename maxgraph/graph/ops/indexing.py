"""From Python indices to windows: what ``x[...]`` accepts, resolved against a shape.

Along each axis a window takes ``extent`` elements at ``start + i * step``. Starts are static (an int, or a dim where
the size is symbolic) or dynamic (a tensor); an integer index is a window of one element whose axis is squeezed away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...dtype import DType
from ...errors import GraphIndexError, GraphTypeError
from ..dim import Dim
from ..shape import Shape
from ..type import DeviceRef, static_dim
from ..value import HasTensorValue, TensorValue
from .registry import Refusal

__all__ = ["ParsedIndex", "parse_index", "squeezed_shape"]

_FORMS = "an int, a slice, `...`, None, an int64 tensor, or a tuple (slice, out_dim)"


@dataclass
class ParsedIndex:
    """An index, resolved against a shape.

    Attributes:
        starts, extents, steps: One for each axis of the indexed value; a dynamic start has a 0 here.
        squeezed: Axes that the index takes away.
        dynamic: Axes whose start is a tensor, in `dynamic_starts`.
        bounded: Axes whose end was given beside an extent and must agree with it, in `stops`.
        new_axes: Where a None puts new axes of size 1, in the squeezed result.
    """

    starts: list[Dim] = field(default_factory=list)
    extents: list[Dim] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    squeezed: list[int] = field(default_factory=list)
    dynamic: list[int] = field(default_factory=list)
    bounded: list[int] = field(default_factory=list)
    dynamic_starts: list[TensorValue] = field(default_factory=list)
    stops: list[TensorValue] = field(default_factory=list)
    new_axes: list[int] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether it takes everything as it is."""
        return not (self.squeezed or self.dynamic or self.new_axes) and all(s == 1 for s in self.steps) and self._full

    _full: bool = True

    def add(self, start: Dim, extent: Dim, step: int = 1, *, full: bool = False) -> None:
        """Adds the window of the next axis."""
        self.starts.append(start)
        self.extents.append(extent)
        self.steps.append(step)
        self._full = self._full and full


def parse_index(index: Any, shape: Shape) -> ParsedIndex:
    """Resolves an index.

    Raises:
        Refusal: It has a form that is not supported, too many axes, or a static bound out of range.
    """
    items = list(index) if isinstance(index, (tuple, list)) else [index]
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise Refusal("an index has more than one `...`", code="MG019", error=GraphIndexError)
    taken = sum(item is not Ellipsis and item is not None for item in items)
    if taken > len(shape):
        raise Refusal(
            f"{taken} indices for a value of rank {len(shape)}: {shape.text}", code="MG018", error=GraphIndexError
        )
    if not ellipses:
        items.append(Ellipsis)
    parsed = ParsedIndex()
    for item in items:
        axis = len(parsed.starts)
        if item is Ellipsis:
            for dim in shape[axis : axis + len(shape) - taken]:
                parsed.add(Dim(0), dim, full=True)
        elif item is None:
            parsed.new_axes.append(axis - len(parsed.squeezed) + len(parsed.new_axes))
        else:
            _add_axis(parsed, item, axis, shape[axis])
    return parsed


def _add_axis(parsed: ParsedIndex, item: Any, axis: int, dim: Dim) -> None:
    if isinstance(item, HasTensorValue) and not isinstance(item, TensorValue):
        item = item.__tensorvalue__()
    if isinstance(item, TensorValue):
        _add_dynamic_start(parsed, item, axis, "index")
        parsed.add(Dim(0), Dim(1))
        parsed.squeezed.append(axis)
    elif isinstance(item, slice):
        _add_slice(parsed, item, axis, dim)
    elif isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], slice):
        _add_sized_slice(parsed, item[0], Dim(item[1]), axis, dim)
    elif isinstance(item, Dim) or (hasattr(item, "__index__") and not isinstance(item, bool) and _is_integer(item)):
        parsed.add(_position(Dim(item), axis, dim, limit=dim - 1), Dim(1))
        parsed.squeezed.append(axis)
    else:
        raise Refusal(
            f"an index cannot be {type(item).__name__} {item!r}: use {_FORMS}", code="MG019", error=GraphTypeError
        )


def _is_integer(item: object) -> bool:
    """Whether it is one integer: arrays and numpy bools have ``__index__`` too."""
    return isinstance(item, int) or getattr(getattr(item, "dtype", None), "kind", "") in ("i", "u")


def _position(at: Dim, axis: int, dim: Dim, *, limit: Dim) -> Dim:
    """A static position counted from the front, in ``0..limit`` where that can be told."""
    value, size = static_dim(at), static_dim(dim)
    position = dim + at if value is not None and value < 0 else at
    number, most = static_dim(position), static_dim(limit)
    if number is not None and (number < 0 or (most is not None and number > most)):
        raise Refusal(f"index {at} is out of range for axis {axis} of size {size}", code="MG018", error=GraphIndexError)
    return position


def _step(item: slice, axis: int) -> int:
    step = 1 if item.step is None else item.step
    if isinstance(step, bool) or not hasattr(step, "__index__") or isinstance(step, TensorValue):
        raise Refusal(f"the step of axis {axis} must be an int, not {step!r}", code="MG019", error=GraphTypeError)
    if int(step) == 0:
        raise Refusal(f"the step of axis {axis} is zero", code="MG019")
    return int(step)


def _add_slice(parsed: ParsedIndex, item: slice, axis: int, dim: Dim) -> None:
    for bound in (item.start, item.stop):
        if isinstance(bound, (HasTensorValue, TensorValue)):
            raise Refusal(
                f"a slice of axis {axis} with a tensor bound needs its size",
                code="MG019",
                help="write a tuple (slice(start, stop), out_dim), e.g. x[(slice(p, p + 4), 4),]",
            )
    step = _step(item, axis)
    start, stop = _bounds(item, axis, dim, step)
    span = stop - start if step > 0 else start - stop
    extent = span if abs(step) == 1 else (span + (abs(step) - 1)) // abs(step)
    number = static_dim(extent)
    if number is not None and number < 0:
        raise Refusal(
            f"the slice {_text(item)} of axis {axis} ends before it starts (size {dim})",
            code="MG018",
            error=GraphIndexError,
        )
    full = start == 0 and extent == dim and step == 1
    parsed.add(start, extent, step, full=full)


def _bounds(item: slice, axis: int, dim: Dim, step: int) -> tuple[Dim, Dim]:
    """Start and end counted from the front; the end of a falling slice may be -1."""

    def bound(value: Any, default: Dim) -> Dim:
        if value is None:
            return default
        if isinstance(value, bool) or not (isinstance(value, Dim) or hasattr(value, "__index__")):
            raise Refusal(
                f"a bound of axis {axis} must be an int, not {type(value).__name__}", code="MG019", error=GraphTypeError
            )
        return _position(Dim(value), axis, dim, limit=dim)

    if step > 0:
        return bound(item.start, Dim(0)), bound(item.stop, dim)
    first = bound(item.start, dim - 1)
    if first == dim and dim != 0:
        raise Refusal(
            f"index {item.start} is out of range for axis {axis} of size {dim}", code="MG018", error=GraphIndexError
        )
    return first, bound(item.stop, Dim(-1))


def _add_sized_slice(parsed: ParsedIndex, item: slice, extent: Dim, axis: int, dim: Dim) -> None:
    from .constant import constant
    from .shapes import shape_to_tensor

    step = _step(item, axis)
    size = static_dim(extent)
    if size is not None and size < 0:
        raise Refusal(f"the out_dim of axis {axis} is negative: {extent}", code="MG019")
    if isinstance(item.start, (TensorValue, HasTensorValue)):
        start = Dim(0)
        _add_dynamic_start(parsed, TensorValue(item.start), axis, "start")
    else:
        start, _ = _bounds(slice(item.start, None), axis, dim, step)
    is_dynamic = axis in parsed.dynamic
    parsed.add(start, extent, step, full=start == 0 and extent == dim and step == 1 and not is_dynamic)
    stop = item.stop
    if stop is None and size is not None:
        return  # a window of a known size from the start
    if stop is None and not is_dynamic and extent == (dim - start if step == 1 else extent):
        return
    if not is_dynamic and not isinstance(stop, (TensorValue, HasTensorValue)):
        probe = ParsedIndex()
        _add_slice(probe, item, axis, dim)
        if size is not None and static_dim(probe.extents[0]) is not None and probe.extents[0] != extent:
            raise Refusal(
                f"the slice {_text(item)} of axis {axis} has {probe.extents[0]} elements, but its out_dim is {extent}",
                code="MG019",
            )
        if probe.extents[0] == extent:
            return
    if isinstance(stop, (TensorValue, HasTensorValue)):
        value = _index_tensor(TensorValue(stop), axis, "stop")
    elif stop is None and step > 0:
        value = shape_to_tensor([dim])
    elif stop is None:
        raise Refusal(f"a falling slice of axis {axis} with a symbolic out_dim needs its end", code="MG019")
    elif static_dim(Dim(stop)) is not None and static_dim(dim) is not None:
        value = constant(int(_position(Dim(stop), axis, dim, limit=dim)), DType.int64, DeviceRef.CPU())
    else:
        value = shape_to_tensor([_position(Dim(stop), axis, dim, limit=dim)])
    parsed.bounded.append(axis)
    parsed.stops.append(value)


def _add_dynamic_start(parsed: ParsedIndex, value: TensorValue, axis: int, what: str) -> None:
    parsed.dynamic.append(axis)
    parsed.dynamic_starts.append(_index_tensor(value, axis, what))


def _index_tensor(value: TensorValue, axis: int, what: str) -> TensorValue:
    """A tensor index as a scalar.

    Raises:
        Refusal: It is not one int64.
    """
    if value.dtype is not DType.int64 or list(value.shape) not in ([], [Dim(1)]):
        raise Refusal(
            f"the {what} of axis {axis} must be one int64 (rank 0, or shape [1]), not {value.type}",
            code="MG019",
            help="cast it to DType.int64; to take several rows use ops.gather",
        )
    return value.reshape([]) if value.rank else value


def _text(item: slice) -> str:
    parts = ["" if p is None else str(p) for p in (item.start, item.stop)]
    return ":".join([*parts, str(item.step)] if item.step is not None else parts)


def squeezed_shape(extents: Sequence[Dim], squeezed: Sequence[int]) -> Shape:
    """The shape of a window without the axes that integer indices took."""
    return Shape(dim for axis, dim in enumerate(extents) if axis not in squeezed)
