"""Whose memory is whose: arguments that overlap, and memory that another execution changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..driver.arrays import Array
from ..errors import InputError, StateInUseError
from .signature import Form

__all__ = ["Claim", "Owners", "Ranges", "active", "check_buffers_apart", "check_tensors_apart", "ranges_of"]

#: First and one-past-the-last byte of each buffer.
Ranges = tuple[tuple[int, int], ...]


class Claim:
    """The memory that one execution uses, between `take` and `release`."""

    __slots__ = ("ranges",)

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges

    def take(self) -> None:
        """Takes the memory.

        No lock is needed: a claim is put at the end of the list in one step, and looks only at those before it.

        Raises:
            StateInUseError: Another execution uses it.
        """
        active.append(self)
        if active[0] is not self:
            self.check()

    def check(self) -> None:
        """Gives the memory back and raises if a claim that was made earlier has some of it."""
        for other in tuple(active):
            if other is self:
                break
            if _overlapping(self.ranges, other.ranges):
                active.remove(self)
                raise StateInUseError(
                    "the memory of a buffer is used by another execution",
                    code="MG036",
                    help="give each thread buffers of its own",
                )

    def release(self) -> None:
        """Gives it back."""
        active.remove(self)


#: All claims that are taken, in order.
active: list[Claim] = []


def _owner(array: Array) -> Array | None:
    """The array that holds the memory; None where it is held by something else, such as a memory map."""
    while (base := array.base) is not None:
        if not isinstance(base, np.ndarray):
            return None
        array = base
    return array if array.flags.owndata else None


class Owners:
    """Who owns the memory of some buffers, so that most arguments are told apart from them at once.

    An array that owns its memory overlaps only what is a view of it.

    Attributes:
        suspects: An array that is no view, and whose id is not among these, has certainly no memory in common with the
            buffers; None if that cannot be said.
    """

    __slots__ = ("_foreign", "_ids", "suspects")

    def __init__(self, buffers: Sequence[Array]) -> None:
        owners = [_owner(buffer) for buffer in buffers]
        # Numbers are enough: an owner lives as long as the buffer, and this object is dropped when that is.
        self._ids = {id(owner) for owner in owners if owner is not None}
        self._foreign = any(owner is None for owner in owners)
        self.suspects = None if self._foreign else self._ids

    def apart(self, array: Array) -> bool:
        """The same for one array, with more care."""
        if self._foreign:
            return False
        owner = _owner(array)
        return owner is not None and id(owner) not in self._ids


def check_tensors_apart(form: Form, owners: Owners, tensors: Sequence[Array], buffers: Sequence[Array]) -> None:
    """Does nothing if no tensor overlaps a buffer.

    Raises:
        InputError: One does: what it holds would depend on when it is read.
    """
    for number, array in enumerate(tensors):
        if not owners.apart(array):
            for at, buffer in enumerate(buffers):
                if np.may_share_memory(array, buffer):
                    raise _overlap(form.buffers[at][1].name, form.tensors[number][1].name)


def check_buffers_apart(form: Form, buffers: Sequence[Array]) -> None:
    """Does nothing if no two buffers overlap.

    Raises:
        InputError: Two do: a store to one would change the other.
    """
    named = [(start, end, slot.name) for (start, end), (_, slot) in zip(ranges_of(buffers), form.buffers, strict=False)]
    filled = sorted(place for place in named if place[0] < place[1])
    for (_, end, first), (start, _, second) in pairwise(filled):
        if start < end:
            raise _overlap(first, second)


def _overlap(one: str, other: str) -> InputError:
    return InputError(
        f"inputs `{one}` and `{other}` overlap in memory, and `{one}` is a buffer",
        code="MG033",
        help="give one of them a copy",
    )


def ranges_of(buffers: Sequence[Array]) -> Ranges:
    """Where contiguous buffers lie."""
    return tuple((start := buffer.ctypes.data, start + buffer.nbytes) for buffer in buffers)


def _overlapping(ranges: Ranges, others: Ranges) -> bool:
    return any(start < stop and begin < end for start, end in ranges for begin, stop in others)
