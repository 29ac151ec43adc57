"""Indices of buffers: one int or slice for each axis, as in MAX."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import GraphIndexError, InputError

__all__ = ["BufferIndex", "checked_index"]

BufferIndex = int | slice | Sequence[int | slice]


def checked_index(index: BufferIndex, shape: tuple[int, ...]) -> tuple[int | slice, ...]:
    """The index as numpy takes it.

    Raises:
        InputError: It has not one int or slice for each axis.
        GraphIndexError: An int is out of range.
    """
    parts = tuple(index) if isinstance(index, (tuple, list)) else (index,)
    if len(parts) != len(shape):
        raise InputError(
            f"a buffer of shape {list(shape)} takes {len(shape)} indices, but {len(parts)} were given",
            code="MG019",
            help="give one int or slice for each axis; `:` takes all of one",
        )
    checked: list[int | slice] = []
    for axis, part in enumerate(parts):
        if isinstance(part, slice):
            checked.append(part)
        elif isinstance(part, (int, np.integer)) and not isinstance(part, bool):
            if not -shape[axis] <= part < shape[axis]:
                raise GraphIndexError(
                    f"index {part} is out of range for axis {axis} of size {shape[axis]}", code="MG018"
                )
            checked.append(int(part))
        else:
            raise InputError(f"{part!r} cannot index a buffer", code="MG019", help="use ints and slices")
    return tuple(checked)
