"""The ``.maxg`` file: writing, and a reader that believes nothing."""

from .file import MaxgFile, Section, load, open_file, verify
from .limits import DEFAULT_LIMITS, Limits
from .write import save

__all__ = ["DEFAULT_LIMITS", "Limits", "MaxgFile", "Section", "load", "open_file", "save", "verify"]
