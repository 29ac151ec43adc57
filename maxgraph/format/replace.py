"""A file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import BinaryIO

from ..errors import UsageError
from .errors import escaped

__all__ = ["replacing"]


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file beside `path` that takes its place when everything was written and is on the disk.

    A process that has the old file open or mapped keeps the old bytes. If anything is raised, the old file stays and
    the new one is removed.

    Raises:
        UsageError: `path` is a folder, or its folder is not there.
        OSError: The system refuses to write.
    """
    folder, name = os.path.split(os.path.abspath(path))
    if os.path.isdir(path):
        raise UsageError(f"{escaped(path)} cannot be written: it is a folder", code="MG050", help="name a file in it")
    if not os.path.isdir(folder):
        raise UsageError(f"{escaped(path)} cannot be written: there is no folder {escaped(folder)}", code="MG050")
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:  # never one that is there, nor one that a link leads to
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if os.name == "posix":  # the name, too, must be on the disk
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
