"""What inputs, outputs and buffers are called in the file.

An explicit name wins. Else it is the parameter of the ``forward`` function, or the local variable that holds the value
where ``graph.output`` is called, and else ``input0``, ``output0``, ``buffer0``. So a program written for MAX, which has
no such names, still gives a file that a person can use.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from types import FrameType

from ..errors import TypeRuleError, user_location
from . import ir
from .value import HasTensorValue, Value

__all__ = ["IDENTIFIER", "caller", "check_name", "local_names", "unique"]

#: What names in a file look like.
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-/]{0,255}", re.ASCII)


def check_name(name: str, what: str) -> str:
    """The name itself.

    Raises:
        ValueError: It is not an identifier.
    """
    if not isinstance(name, str) or not IDENTIFIER.fullmatch(name):
        raise TypeRuleError(
            f"{name!r} cannot name {what}",
            code="MG006",
            where=user_location(columns=True),
            help="use letters, digits and _ . - /, first a letter or _, at most 256",
        )
    return name


def caller() -> FrameType:
    """The innermost frame outside maxgraph."""
    frame: FrameType = sys._getframe(1)  # noqa: SLF001 - the only way to a caller's variables
    while frame.f_globals.get("__name__", "").partition(".")[0] == "maxgraph" and frame.f_back is not None:
        frame = frame.f_back
    return frame


def local_names(variables: Mapping[str, object]) -> dict[ir.Value, str]:
    """The first variable that holds each value."""
    names: dict[ir.Value, str] = {}
    for name, held in variables.items():
        # Not a weight: it has a name of its own, and looking at its value would make it part of the graph.
        if isinstance(held, Value) and not isinstance(held, HasTensorValue) and IDENTIFIER.fullmatch(name):
            names.setdefault(held.to_mlir(), name)
    return names


def unique(wanted: str | None, fallback: str, taken: set[str]) -> str:
    """`wanted`, or `fallback` with the first free number; it is marked as taken."""
    name = wanted
    if name is None or name in taken:
        number = 0
        while f"{fallback}{number}" in taken:
            number += 1
        name = f"{fallback}{number}"
    taken.add(name)
    return name
