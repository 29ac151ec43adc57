"""`maxg explain`."""

from __future__ import annotations

import json

import click

from maxgraph.errors import CODES, suggest
from maxgraph.explanations import explanation

from ..console import safe, table

__all__ = ["command"]


@click.command(name="explain", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="The same as JSON (maxg.explain/1).")
def command(code: str | None, as_json: bool) -> None:  # noqa: FBT001
    """Explain an error code: what it means, what raises it, how to mend it.

    \b
    maxg explain MG012
    maxg explain

    Without a code, it lists all of them.
    """  # noqa: D301 - click reads the \b
    if code is not None and code.upper() not in CODES:
        raise click.UsageError(f"there is no code `{safe(code)}`; {suggest(code.upper(), list(CODES))}")
    found = [explanation(known) for known in ([code.upper()] if code else CODES)]
    if as_json:
        rows = [{"code": e.code, "title": e.title, "example": e.example, "mend": e.mend} for e in found]
        click.echo(json.dumps({"schema": "maxg.explain/1", "codes": rows}))
    elif code is None:
        click.echo(table([[e.code, e.title] for e in found]))
    else:
        (e,) = found
        click.echo(f"{e.code}: {e.title}\n\nexample  {e.example}\nmend     {e.mend}")
