"""The user's own store: where it is, how large it may grow, and whether it is wanted."""

from __future__ import annotations

import os
import re

from .store import DEFAULT_LIMIT, Store

__all__ = ["default_folder", "default_limit", "open_store", "parse_size"]

_OFF = ("off", "0", "no", "false")
_SIZE = re.compile(r"(\d+)\s*([KMGT]?)(?:I?B)?", re.ASCII | re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def open_store() -> Store | None:
    """The user's store; None where ``MAXG_CACHE`` is off, or ``MAXG_CACHE_SIZE`` cannot be understood."""
    limit = default_limit()
    if os.environ.get("MAXG_CACHE", "").lower() in _OFF or limit is None:
        return None
    return Store(default_folder(), limit)


def default_folder() -> str:
    """Where entries are kept: ``MAXG_CACHE_DIR``, or where the system keeps what may be lost (XDG on Linux)."""
    given = os.environ.get("MAXG_CACHE_DIR")
    if given:
        return os.path.abspath(given)
    from platformdirs import user_cache_dir

    return user_cache_dir("maxgraph", appauthor=False)


def default_limit() -> int | None:
    """How many bytes may be kept: ``MAXG_CACHE_SIZE``, or 1 GiB. None: it cannot be understood."""
    given = os.environ.get("MAXG_CACHE_SIZE")
    return parse_size(given) if given else DEFAULT_LIMIT


def parse_size(text: str) -> int | None:
    """A number of bytes; None if the text is none.

    Example:
        >>> parse_size("512M"), parse_size("2 GiB"), parse_size("100"), parse_size("much")
        (536870912, 2147483648, 100, None)
    """
    match = _SIZE.fullmatch(text.strip())
    return int(match[1]) * _UNITS[match[2].upper()] if match else None
