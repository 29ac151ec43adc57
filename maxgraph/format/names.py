"""Names of files beside a file: never a path."""

from __future__ import annotations

import re

__all__ = ["is_base_name"]

_BASE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.ASCII | re.IGNORECASE)


def is_base_name(name: str) -> bool:
    """Whether a name can only be a file in the same folder, on every system.

    Example:
        >>> [is_base_name(name) for name in ("model-00001.safetensors", "../x", "a/b", "nul.bin", "x.")]
        [True, False, False, False, False]
    """
    return _BASE_NAME.fullmatch(name) is not None and not name.endswith(".") and _DEVICES.fullmatch(name) is None
