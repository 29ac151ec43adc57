"""`maxg doctor`."""

from __future__ import annotations

import json
from typing import Any

import click

from ..console import safe

__all__ = ["command"]

_MARKS = {"ok": "ok", "absent": "-", "broken": "BROKEN"}
_COLOURS = {"ok": "green", "broken": "red"}


@click.command(name="doctor", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="The same as JSON (maxg.doctor/1).")
def command(as_json: bool) -> None:  # noqa: FBT001
    """Try all that maxgraph needs on this machine; exit 1 if something is broken.

    \b
    maxg doctor
    maxg doctor --json

    It looks at versions, runs a session of one op on each provider, tests the kernels that may change memory in place,
    and looks at the cache.
    """  # noqa: D301 - click reads the \b
    from maxgraph.engine.health import checks

    found = []
    for check in checks():
        found.append(check)
        if not as_json:
            mark = click.style(f"{_MARKS[check.status]:<7}", fg=_COLOURS.get(check.status))
            click.echo(f"{mark}{check.name:<12}{safe(check.text, 400)}")
            if check.hint and check.status != "ok":
                click.echo(f"{'':<19}hint: {safe(check.hint, 400)}")
    sound = all(check.status != "broken" for check in found)
    if as_json:
        rows: list[dict[str, Any]] = [
            {"check": check.name, "status": check.status, "text": check.text, "hint": check.hint, **check.facts}
            for check in found
        ]
        click.echo(json.dumps({"schema": "maxg.doctor/1", "ok": sound, "checks": rows}))
    if not sound:
        raise click.exceptions.Exit(1)
