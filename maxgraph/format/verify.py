"""Checking every byte of a file."""

from __future__ import annotations

import os

from .errors import need
from .external import ExternalMap
from .file import MaxgFile, open_mapped
from .limits import DEFAULT_LIMITS
from .mapped import MappedData
from .sections import PADDING

__all__ = ["verify"]


def verify(path: str | os.PathLike[str]) -> MaxgFile:
    """Checks every byte of a file: the header, all digests, zero padding, and the files beside it.

    Returns:
        What is known of the file, as `open_file` gives it.

    Raises:
        FormatError: It is not a valid file, or a byte is wrong.
        UsageError: It cannot be opened.
    """
    from concurrent.futures import ThreadPoolExecutor  # here, because `load` imports this module and needs no threads

    opened, file, beside = open_mapped(path, DEFAULT_LIMITS)
    for section in opened.sections:
        if section.name == PADDING:
            padding = file.map()[section.offset : section.offset + section.length]
            need(not padding.strip(b"\0"), "MGB11", f"padding at {section.offset} is not zero")
    weights = [weight.data for weight in opened.graph.weights.values()]
    with ThreadPoolExecutor() as pool:  # hashing releases the interpreter's lock
        list(pool.map(MappedData.check, (data for data in weights if isinstance(data, MappedData))))
        list(pool.map(ExternalMap.check, beside))
    return opened
