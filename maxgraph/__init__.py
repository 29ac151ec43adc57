"""Graphs whose buffers are memory that lives on: built in Python, written to a file, run anywhere.

The names follow MAX Graph: `maxgraph.graph`, `maxgraph.dtype`, `maxgraph.driver`, `maxgraph.engine`. Beyond it there
are `save`, `load` and `program_hash`, `maxgraph.lower` and `maxgraph.reference`. Importing this package imports nothing
else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .format import load, program_hash, save

__all__ = ["__version__", "load", "program_hash", "save"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in ("load", "program_hash", "save"):
        from . import format as format_

        return getattr(format_, name)
    raise AttributeError(f"module 'maxgraph' has no attribute {name!r}")
