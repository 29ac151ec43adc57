"""Bindings that are ready to be used again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
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

    A binding is used by one execution at a time: `take` removes it and `put` brings it back. Both are safe from
    several threads, because they only use operations of a list that are atomic.
    """

    __slots__ = ("_free",)

    def __init__(self) -> None:
        self._free: list[Bound] = []

    def take(self, layout: Layout, callers: Sequence[Array]) -> Bound | None:
        """A binding for these sizes and this memory, if there is one; most often it is the last one used."""
        put_back = []
        found = None
        for _ in range(len(self._free)):
            try:
                bound = self._free.pop()
            except IndexError:  # another thread was faster
                break
            if bound.serves(layout, callers):
                found = bound
                break
            put_back.append(bound)
        if put_back:
            self._free.extend(reversed(put_back))
        return found

    def put(self, bound: Bound) -> None:
        """Brings a binding back."""
        self._free.append(bound)
        if len(self._free) > _KEPT:
            with suppress(IndexError):  # another thread was faster
                del self._free[0]
