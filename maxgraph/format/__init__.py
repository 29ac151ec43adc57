"""The ``.maxg`` file: writing, and a reader that believes nothing."""

from .file import MaxgFile, load, open_file
from .identity import graph_digest
from .limits import DEFAULT_LIMITS, Limits
from .program import program_hash
from .sections import Section
from .verify import verify
from .write import save

__all__ = [
    "DEFAULT_LIMITS",
    "Limits",
    "MaxgFile",
    "Section",
    "graph_digest",
    "load",
    "open_file",
    "program_hash",
    "save",
    "verify",
]
