"""What is kept while a graph runs, so that an execution that fails leaves every buffer as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..driver.arrays import Array
from ..graph.shape import Shape
from ..lower.lowered import IndexInput, Region

__all__ = ["Kept", "Undo"]

#: Parts of buffers, each with a copy of what it held.
Kept = list[tuple[Array, Array]]
#: From this size on, it is cheaper to keep the memory of the copies for the next time.
_REUSED_BYTES = 128 * 1024
_Index = tuple[slice, ...]


class Undo:
    """Copies the parts of buffers that an execution may overwrite; it costs as much as these are large."""

    __slots__ = ("_parts", "_spare")

    def __init__(self) -> None:
        self._spare: dict[int, Array] = {}
        self._parts: list[tuple[Array | int, _Index | Callable[[Sequence[Array]], _Index] | None]] = []

    def __bool__(self) -> bool:
        return bool(self._parts)

    def add(
        self,
        memory: Array | int,
        shape: Shape,
        regions: Sequence[Region],
        sizes: Mapping[str, int],
        tensor_of: Mapping[int, int],
    ) -> None:
        """Adds a buffer.

        Args:
            memory: Its memory, or its place among the buffers that the caller passes.
            shape: Its shape.
            regions: What may be overwritten.
            sizes: The size of each symbol.
            tensor_of: The place among the tensors of each input, by its place among all of them.
        """
        for region in regions:
            if not region.axes:
                self._parts.append((memory, None))
            elif any(isinstance(axis.start, IndexInput) for axis in region.axes):
                self._parts.append((memory, _Moving(shape, region, sizes, tensor_of)))
            else:
                self._parts.append((memory, _Moving(shape, region, sizes, tensor_of)(())))

    def keep(self, tensors: Sequence[Array], callers: Sequence[Array]) -> Kept:
        """Copies all parts, as they are now."""
        kept = []
        for at, (memory, index) in enumerate(self._parts):
            array = callers[memory] if isinstance(memory, int) else memory
            if index is not None:
                array = array[index(tensors) if callable(index) else index]
            if array.nbytes <= _REUSED_BYTES:
                kept.append((array, array.copy()))
                continue
            spare = self._spare.get(at)
            if spare is None:
                spare = self._spare[at] = np.empty_like(array, order="C")
            spare[...] = array
            kept.append((array, spare))
        return kept


class _Moving:
    """The index of a region, some axes of which start where inputs say."""

    __slots__ = ("_axes", "_tensor_at")

    def __init__(self, shape: Shape, region: Region, sizes: Mapping[str, int], tensor_of: Mapping[int, int]) -> None:
        self._axes: list[slice | tuple[int, int, int, int]] = []
        for axis, size in zip(region.axes, shape.evaluate(sizes), strict=True):
            extent = axis.extent.evaluate(sizes)
            if isinstance(axis.start, IndexInput):
                self._axes.append((tensor_of[axis.start.position], size, extent, axis.step))
            else:
                self._axes.append(_covered(axis.start.evaluate(sizes), extent, axis.step))

    def __call__(self, tensors: Sequence[Array]) -> _Index:
        index = []
        for axis in self._axes:
            if not isinstance(axis, slice):
                at, size, extent, step = axis
                start = int(tensors[at].item())
                axis = _covered(start + size if start < 0 else start, extent, step)  # noqa: PLW2901 - now it is known
            index.append(axis)
        return tuple(index)


def _covered(start: int, extent: int, step: int) -> slice:
    """The elements, in rising order; which are inside the axis, as was checked."""
    last = start + (extent - 1) * step
    return slice(start, last + 1, step) if step > 0 else slice(last, start + 1, -step)
