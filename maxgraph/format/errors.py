"""The reader's one error, and how names from a file are shown."""

from __future__ import annotations

from typing import NoReturn

from ..errors import FormatError

__all__ = ["escaped", "fail", "need"]


def escaped(text: str, limit: int = 80) -> str:
    """A text from a file as it may be shown: printable, and not long."""
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[: limit + 1])
    return shown if len(text) <= limit else shown[:limit] + "..."


def fail(code: str, message: str, help: str | None = None) -> NoReturn:  # noqa: A002 - the word that users read
    """Refuses the file."""
    raise FormatError(message, code=code, help=help)


def need(condition: bool, code: str, message: str) -> None:  # noqa: FBT001 - reads as an assertion
    """Refuses the file unless the condition holds."""
    if not condition:
        raise FormatError(message, code=code)
