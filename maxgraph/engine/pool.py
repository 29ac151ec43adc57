"""Bindings that are ready to be used again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..driver.arrays import Array

if TYPE_CHECKING:
    from .bound import Bound
    from .layout import Layout

__all__ = ["Pool"]

#: How many bindings are kept: a caller may alternate between a few sets of buffers.
_KEPT = 8


class Pool:
    """The bindings of one program to one state, none of which is in use.

    A binding is used by one execution at a time: whoever takes it out of `free` has it, and puts it back at the end.
    Both are safe from several threads, because only operations of a list that are atomic are used.

    Attributes:
        free: The bindings, the one used last at the end.
    """

    __slots__ = ("free",)

    def __init__(self) -> None:
        self.free: list[Bound] = []

    def search(self, bound: Bound, layout: Layout, callers: Sequence[Array]) -> Bound | None:
        """A binding for these sizes and this memory, if there is one.

        Args:
            bound: The one used last, which is out of `free` already.
        """
        if bound.serves(layout, callers):
            return bound
        free = self.free
        others = [bound]
        found = None
        while found is None:
            try:
                bound = free.pop()
            except IndexError:
                break
            if bound.serves(layout, callers):
                found = bound
            else:
                others.append(bound)
        # One more is made where none serves: the one that was not used for longest has to go.
        others.reverse()
        free.extend(others if found is not None else others[-(_KEPT - 1) :])
        return found
