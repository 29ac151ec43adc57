"""The numbering of values: an operand is a number, and a number is only known once it was defined."""

from __future__ import annotations

from ..graph import ir
from .errors import fail
from .limits import Limits

__all__ = ["Values"]


class Values:
    """The values of a graph by number, from 1, in the order in which they are defined."""

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.values
        self._values: list[ir.Value] = []

    def define(self, value: ir.Value) -> ir.Value:
        """Gives a value the next number."""
        if len(self._values) >= self._limit:
            fail("MGG04", f"more than {self._limit} values")
        self._values.append(value)
        return value

    def at(self, number: int, code: str) -> ir.Value:
        """The value with a number.

        Raises:
            FormatError: There is none yet.
        """
        if not 0 < number <= len(self._values):
            fail(code, f"value {number} is not defined at this place")
        return self._values[number - 1]
