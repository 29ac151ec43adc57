"""What goes to the terminal: the answer on stdout, everything else on stderr; colour only where it is wanted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from maxgraph.errors import MaxGraphError, render, suggest

__all__ = ["ColourChoice", "Names", "choose_colour", "fail", "note", "number", "safe", "show_error", "size", "table"]


class ColourChoice(click.Choice[str]):
    """auto, always or never; NO_COLOR, FORCE_COLOR and TERM=dumb decide what auto means."""

    def __init__(self) -> None:
        super().__init__(["auto", "always", "never"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The choice."""
        choice = super().convert(value, param, ctx)
        if choice == "auto":
            if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
                return "never"
            if os.environ.get("FORCE_COLOR"):
                return "always"
        return choice


_choice = "auto"


def choose_colour(choice: str) -> None:
    """Notes the user's choice: errors are shown when the command's context is gone."""
    global _choice
    _choice = choice


def _wants_colour() -> bool:
    """Whether errors are coloured; asked again without the option, where that was not even read."""
    choice = ColourChoice().convert(_choice, None, None)
    return choice == "always" or (choice == "auto" and sys.stderr.isatty())


def show_error(mark: str, text: str) -> None:
    """Writes an error to stderr, its mark in red where that is wanted."""
    coloured = _wants_colour()
    click.echo(f"{click.style(mark, fg='red', bold=True) if coloured else mark} {text}", err=True, color=coloured)


def fail(error: MaxGraphError) -> None:
    """Shows an error."""
    first, _, rest = render(error).partition("\n")
    mark, _, sentence = first.partition(": ")
    show_error(f"{mark}:", safe(sentence, 1000) + (f"\n{rest}" if rest else ""))


def note(text: str, *, quiet: int) -> None:
    """A remark, unless the user wants the answer only."""
    if not quiet:
        click.echo(text, err=True)


def safe(text: str, limit: int = 80) -> str:
    """Text from a file or a user as a terminal may show it: no control characters, and not long."""
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[: limit + 1])
    return shown if len(text) <= limit else shown[:limit] + "..."


def number(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def size(count: int | None) -> str:
    """A number of bytes, for people."""
    if count is None:
        return "-"
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def table(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Plain columns, two spaces apart; `right` names the columns that are aligned at the right."""
    widths = [max(len(row[at]) for row in rows if at < len(row)) for at in range(max(map(len, rows), default=0))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


class Names(click.ParamType[list[str]]):
    """A comma-separated list of known names."""

    name = "names"

    def __init__(self, known: Sequence[str]) -> None:
        self.known = tuple(known)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        """The names, in the order given."""
        names = [name.strip() for name in value.split(",")] if isinstance(value, str) else list(value)
        for name in names:
            if name not in self.known:
                self.fail(f"there is no section `{safe(name)}`; {suggest(name, self.known)}", param, ctx)
        return names
