"""`maxg ops`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

import click

from maxgraph.errors import suggest

from ..console import safe, table

__all__ = ["command"]


@click.command(name="ops", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="The same as JSON (maxg.ops/1).")
def command(name: str | None, as_json: bool) -> None:  # noqa: FBT001
    """List the ops, or show one: its signature, what it does and refuses, an example.

    \b
    maxg ops
    maxg ops conv2d
    """  # noqa: D301 - click reads the \b
    found = dict(_public())
    wanted = (name or "").removeprefix("ops.")
    if name is not None and wanted not in found:
        raise click.UsageError(f"there is no op `{safe(name)}`; {suggest(wanted, list(found))}")
    chosen = {wanted: found[wanted]} if name else found
    pages = {n: (str(inspect.signature(f)).replace("'", ""), inspect.getdoc(f) or "") for n, f in chosen.items()}
    if as_json:
        rows = [{"name": n, "signature": signature, "doc": doc} for n, (signature, doc) in pages.items()]
        click.echo(json.dumps({"schema": "maxg.ops/1", "ops": rows}))
    elif name is None:
        click.echo(table([[n, _short(doc)] for n, (_, doc) in pages.items()]))
    else:
        signature, doc = pages[wanted]
        click.echo(f"ops.{wanted}{signature}\n\n{doc}")


def _public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public op by name; those of modules, such as `random`, with a dot."""
    from maxgraph.graph import ops

    for name in ops.__all__:
        found = getattr(ops, name)
        if inspect.ismodule(found):
            for inner in found.__all__:
                yield f"{name}.{inner}", getattr(found, inner)
        else:
            yield name, found


def _short(doc: str, width: int = 48) -> str:
    line = doc.partition("\n")[0].replace("``", "").replace("`", "")
    return line if len(line) <= width else line[: width - 3] + "..."
