"""`maxg cache`: what the compile cache holds, and emptying it."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

import click

from maxgraph.store import DEFAULT_LIMIT, Store
from maxgraph.user_store import default_folder, default_limit

from ..console import note, number, safe, size, table

if TYPE_CHECKING:
    from maxgraph.store import Entry

__all__ = ["command"]

_SETTINGS = {"help_option_names": ["-h", "--help"]}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class _Age(click.ParamType[float]):
    """A time such as 12h."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        match = re.fullmatch(r"(\d+)([smhdw])", str(value))
        if match is None:
            self.fail(f"{safe(str(value))!r} is no age; write e.g. 90m, 12h, 7d or 4w", param, ctx)
        return float(int(match[1]) * _SECONDS[match[2]])


@click.group(name="cache", context_settings=_SETTINGS)
def command() -> None:
    """Show or empty the cache of lowered graphs.

    \b
    maxg cache list
    maxg cache clear --older-than 7d
    maxg cache dir

    A graph that is loaded again is found there, and need not be lowered. MAXG_CACHE_DIR says where it is,
    MAXG_CACHE_SIZE how large it may grow (1 GiB), MAXG_CACHE=off switches it off.
    """  # noqa: D301 - click reads the \b


@command.command(name="list", context_settings=_SETTINGS)
@click.option("--json", "as_json", is_flag=True, help="The same as JSON (maxg.cache/1).")
def list_(as_json: bool) -> None:  # noqa: FBT001
    """Show the entries, the one used last first.

    \b
    maxg cache list
    maxg cache list --json
    """  # noqa: D301 - click reads the \b
    store = _store()
    entries, now = store.entries(), time.time()
    used = sum(entry.num_bytes for entry in entries)
    if as_json:
        rows = [_row(entry, now) for entry in entries]
        top = {"schema": "maxg.cache/1", "folder": store.folder, "bytes": used, "limit_bytes": store.limit}
        click.echo(json.dumps({**top, "entries": rows}))
        return
    if entries:
        header = ["name", "kind", "size", "used", "provider", "onnxruntime", "key"]
        click.echo(table([header, *(_cells(_row(entry, now)) for entry in entries)], right=[2, 3]))
    total = f"{number(len(entries), 'entry', 'entries')}, {size(used)} of {size(store.limit)}"
    note(f"{total} in {safe(store.folder, 200)}", quiet=0)


@command.command(name="clear", context_settings=_SETTINGS)
@click.option("--older-than", type=_Age(), metavar="AGE", help="Only what was not used for so long, e.g. 12h or 7d.")
@click.option("--json", "as_json", is_flag=True, help="The answer as JSON (maxg.cache/1).")
def clear(older_than: float | None, as_json: bool) -> None:  # noqa: FBT001
    """Remove entries.

    \b
    maxg cache clear
    maxg cache clear --older-than 7d
    """  # noqa: D301 - click reads the \b
    store = _store()
    count, freed = store.clear(older_than)
    if as_json:
        top = {"schema": "maxg.cache/1", "folder": store.folder, "removed": count, "freed_bytes": freed}
        click.echo(json.dumps(top))
    else:
        click.echo(f"removed {number(count, 'entry', 'entries')}, {size(freed)}")


@command.command(name="dir", context_settings=_SETTINGS)
def dir_() -> None:
    """Show the folder.

    \b
    maxg cache dir
    """  # noqa: D301 - click reads the \b
    click.echo(_store().folder)


def _store() -> Store:
    """The folder's entries, also where the cache is switched off for loading."""
    return Store(default_folder(), default_limit() or DEFAULT_LIMIT)


def _row(entry: Entry, now: float) -> dict[str, Any]:
    facts = {key: str(value) for key, value in entry.facts.items() if key != "key"}
    return {
        "key": entry.key,
        "name": facts.pop("name", ""),
        "kind": facts.pop("kind", ""),
        "bytes": entry.num_bytes,
        "used_seconds_ago": round(max(0.0, now - entry.used), 1),
        "provider": facts.pop("provider", ""),
        "onnxruntime": facts.pop("onnxruntime", ""),
        "options": facts,
    }


def _cells(row: dict[str, Any]) -> list[str]:
    texts = [row["name"], row["kind"], size(row["bytes"]), _age(row["used_seconds_ago"])]
    texts += [row["provider"].removesuffix("ExecutionProvider").lower(), row["onnxruntime"], row["key"][:12]]
    return [safe(text, 40) or "-" for text in texts]


def _age(seconds: float) -> str:
    """An age in its largest unit, as --older-than takes it."""
    unit = next((unit for unit, length in reversed(_SECONDS.items()) if seconds >= length), "s")
    return f"{int(seconds // _SECONDS[unit])}{unit}"
