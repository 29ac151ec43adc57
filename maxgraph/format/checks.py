"""Checks that every part of the header needs: names, texts, sorted lists, tables in order of first use."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..graph.names import IDENTIFIER
from .errors import escaped, fail, need
from .limits import Limits

__all__ = ["FirstUse", "check_sorted", "identifier", "text"]


def identifier(name: str, code: str, what: str) -> str:
    """The name itself.

    Raises:
        FormatError: It is no identifier.
    """
    if IDENTIFIER.fullmatch(name) is None:
        fail(code, f"`{escaped(name)}` cannot name {what}")
    return name


def text(value: str, limits: Limits, code: str, what: str) -> str:
    """The text itself.

    Raises:
        FormatError: It is too long or holds NUL.
    """
    need(len(value.encode()) <= limits.string_bytes, code, f"{what} is over {limits.string_bytes} bytes long")
    need("\0" not in value, code, f"{what} holds NUL")
    return value


def check_sorted(keys: Sequence[object], code: str, what: str) -> None:
    """Raises unless keys rise strictly."""
    rising = all(a < b for a, b in pairwise(keys))  # type: ignore[operator]  # of one kind
    need(rising, code, f"{what} are not sorted and unique")


class FirstUse:
    """Notes which entries of a table were used, and that they are used in order."""

    def __init__(self, size: int, code: str, what: str) -> None:
        self._size = size
        self._next = 0
        self._code = code
        self._what = what

    def use(self, index: int, range_code: str) -> bool:
        """Whether this is the first use of the entry.

        Raises:
            FormatError: It is out of range, or an earlier entry was not used yet.
        """
        if index < self._next:
            return False
        if index >= self._size:
            fail(range_code, f"{self._what} index {index} is out of range ({self._size} entries)")
        if index > self._next:
            fail(self._code, f"{self._what}s are not in order of first use")
        self._next = index + 1
        return True

    def finish(self, code: str) -> None:
        """Raises where an entry was never used."""
        need(self._next == self._size, code, f"a {self._what} is never used")
