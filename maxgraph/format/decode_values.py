"""The numbering of values: an operand is a number, and a number is only known where its definition is seen."""

from __future__ import annotations

from ..graph import ir
from ..graph.type import BufferType
from .errors import fail
from .limits import Limits

__all__ = ["Values"]


class Values:
    """The values of a graph by number, from 1, in the order in which they are defined."""

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.values
        self._values: list[ir.Value | None] = []
        #: The number of each buffer; all of them are inputs of the graph.
        self.buffers: dict[ir.Value, int] = {}

    def define(self, value: ir.Value) -> ir.Value:
        """Gives a value the next number."""
        if len(self._values) >= self._limit:
            fail("MGG04", f"more than {self._limit} values")
        self._values.append(value)
        if isinstance(value.type, BufferType):
            self.buffers[value] = len(self._values)
        return value

    @property
    def count(self) -> int:
        """How many are defined so far."""
        return len(self._values)

    def close(self, count: int) -> None:
        """Ends a block: what was defined after the first `count` values is seen no more."""
        self._values[count:] = [None] * (len(self._values) - count)

    def at(self, number: int, code: str) -> ir.Value:
        """The value with a number.

        Raises:
            FormatError: There is none yet, or its block has ended.
        """
        value = self._values[number - 1] if 0 < number <= len(self._values) else None
        if value is None:
            fail(code, f"value {number} is not defined at this place")
        return value
