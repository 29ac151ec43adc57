"""Opening what should be a file."""

from __future__ import annotations

import errno
import os
import stat

__all__ = ["open_regular"]


def open_regular(path: str) -> int:
    """Opens a regular file for reading, and nothing else: a pipe must not make it wait.

    Returns:
        The descriptor, which a program that is started does not inherit.

    Raises:
        OSError: It cannot be opened, or is something else.
        ValueError: There is a NUL in the path.
    """
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", path)
    raise OSError(errno.EINVAL, "it is not a regular file", path)
