"""`maxg check`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from maxgraph.errors import CheckFailedError, FormatError, InternalError, LoweringError

from ..console import number, safe

if TYPE_CHECKING:
    from maxgraph.graph import Graph

__all__ = ["command"]

_LEVELS = ("format", "graph", "lower", "run")


@dataclass
class _Finding:
    """What one level found in one file.

    Attributes:
        code: Of an error; None where all is well.
    """

    level: str
    text: str
    code: str | None = None


@click.command(name="check", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", metavar="FILE.maxg...", nargs=-1, required=True)
@click.option("--level", type=click.Choice(_LEVELS), default="lower", show_default=True, help="How far to go.")
@click.option("--steps", type=click.IntRange(min=1), default=3, show_default=True, help="Of level run.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random inputs of level run.")
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="The size of a symbol, for level run.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file (maxg.check/1).")
@click.option("-q", "--quiet", count=True, help="Less: -q only what is wrong, -qq nothing.")
def command(**options: Any) -> None:
    """Check .maxg files; exit 1 if one is not as it should be.

    \b
    maxg check model.maxg
    maxg check *.maxg --level format
    maxg check model.maxg --level run --steps 10

    format: every byte, and all digests. graph: types and effects of every op. lower: the plan of each buffer, proved at
    both levels of onnxruntime's optimiser. run: random inputs, the plan beside the form that shares no memory and the
    numpy meaning, and onnxruntime's own trace of the order in which it ran.
    """  # noqa: D301 - click reads the \b
    _check(**options)


def _check(
    files: Sequence[str], level: str, steps: int, seed: int, dims: Sequence[str], *, as_json: bool, quiet: int
) -> None:
    failed = 0
    for file in files:
        findings = list(_findings(file, level, steps, seed, dims))
        wrong = [finding for finding in findings if finding.code is not None]
        failed += bool(wrong)
        if quiet >= 2:
            continue
        if as_json:
            levels = [{"level": f.level, "ok": f.code is None, "code": f.code, "message": f.text} for f in findings]
            click.echo(json.dumps({"schema": "maxg.check/1", "file": file, "ok": not wrong, "levels": levels}))
            continue
        for finding in wrong if quiet else findings:
            sign = "ok  " if finding.code is None else "FAIL"
            code = f" [{finding.code}]" if finding.code else ""
            click.echo(f"{sign}  {safe(file)}  {finding.level}: {safe(finding.text, 400)}{code}")
    if failed:
        raise click.exceptions.Exit(1)


def _findings(file: str, level: str, steps: int, seed: int, dims: Sequence[str]) -> Iterator[_Finding]:
    """What each level says, up to the first one that fails."""
    from maxgraph.format import verify

    wanted = _LEVELS[: _LEVELS.index(level) + 1]
    try:
        opened = verify(file)
    except FormatError as error:
        yield _Finding("format", error.summary, error.code)
        return
    yield _Finding("format", f"{opened.file_length:,} bytes, all digests right")
    nodes = sum(1 for _ in opened.graph.nodes())
    levels: dict[str, Callable[[], str]] = {
        "graph": lambda: f"{number(nodes, 'op')}, types and effects right",
        "lower": partial(_lowered, opened.graph),
        "run": partial(_run, opened.graph, steps, seed, dims),
    }
    for name in wanted[1:]:
        try:
            yield _Finding(name, levels[name]())
        except (LoweringError, InternalError, CheckFailedError) as error:
            yield _Finding(name, error.summary, error.code)
            return


def _lowered(graph: Graph) -> str:
    from maxgraph.lower import lower

    changed = shared = 0
    for optimization in ("none", "all"):
        rows = [row for row in lower(graph, optimization=optimization).plan.buffers if row.mode.value != "untouched"]
        changed, shared = len(rows), sum(row.mode.shares_memory for row in rows)
    return f"lowered and proved; {shared} of {number(changed, 'changed buffer')} in place"


def _run(graph: Graph, steps: int, seed: int, dims: Sequence[str]) -> str:
    from ..beside import WrongError, run_beside

    try:
        return run_beside(graph, steps, seed, dims)
    except WrongError as error:
        raise CheckFailedError(str(error), code="MG054") from None
