"""`maxg build`."""

from __future__ import annotations

import json
import os
import tempfile

import click

from maxgraph.errors import UsageError
from maxgraph.graph.type import BufferType

from ..console import note, number, size

__all__ = ["command"]


@click.command(name="build", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("source", metavar="SOURCE.py[:NAME]")
@click.option("-o", "--output", metavar="OUT.maxg", help="Where to write; SOURCE.maxg if not given.")
@click.option("--arg", "arguments", multiple=True, metavar="KEY=VALUE", help="An argument of the function NAME.")
@click.option("--list", "list_only", is_flag=True, help="List the graphs that the script holds.")
@click.option("--strip-debug", is_flag=True, help="Leave out source lines and value names.")
@click.option("--check", is_flag=True, help="Only compare with OUT.maxg; exit 1 if it differs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object (maxg.build/1).")
@click.option("-q", "--quiet", count=True, help="Less: -q the answer only, -qq nothing.")
def command(
    source: str,
    output: str | None,
    arguments: tuple[str, ...],
    list_only: bool,  # noqa: FBT001 - click passes options by name
    strip_debug: bool,  # noqa: FBT001 - as above
    check: bool,  # noqa: FBT001 - as above
    as_json: bool,  # noqa: FBT001 - as above
    quiet: int,
) -> None:
    """Write the graph of a Python program to a .maxg file.

    \b
    maxg build build.py -o model.maxg
    maxg build build.py:decode --arg layers=4 -o decode.maxg
    maxg build build.py --list

    NAME is a Graph, or a function that returns one (or a Graph and a dict of weights); it may be left out where
    there is one graph, or a function called build.
    """  # noqa: D301 - click reads the \b
    from maxgraph.format import open_file, save

    from ..script import build_graph, candidates, run_script

    path, _, name = source.partition(":") if not os.path.exists(source) else (source, "", "")
    if list_only:
        for found in candidates(run_script(path)):
            click.echo(found)
        return
    built = build_graph(path, name or None, dict(_pair(text) for text in arguments))
    target = output or os.path.splitext(os.path.basename(path))[0] + ".maxg"
    try:
        if check:
            _check(built, target, strip_debug=strip_debug, quiet=quiet)
            return
        model_id = save(built.graph, target, weights=built.weights, strip_debug=strip_debug)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}", code="MG050") from None
    opened = open_file(target)
    graph = opened.graph
    weights = sum(weight.type.num_bytes for weight in graph.weights.values())
    held = [b for b in graph.buffers if isinstance(b.value.type, BufferType) and b.value.type.is_static]
    buffers = sum(b.value.type.num_bytes for b in held)
    nodes = sum(1 for _ in graph.nodes())
    if as_json:
        answer = {
            "schema": "maxg.build/1",
            "file": target,
            "bytes": opened.file_length,
            "nodes": nodes,
            "weights": {"count": len(graph.weights), "bytes": weights},
            "buffers": {"count": len(graph.buffers), "bytes": buffers},
            "id": model_id,
            "program": opened.program_hash,
        }
        click.echo(json.dumps(answer))
    elif quiet < 2:
        parts = [
            target,
            size(opened.file_length),
            number(nodes, "op"),
            f"{number(len(graph.weights), 'weight')} ({size(weights)})",
            f"{number(len(graph.buffers), 'buffer')} ({size(buffers)})",
            f"id {model_id[:12]}",
        ]
        click.echo("  ".join(parts))
    note(f"next: maxg inspect {target}, maxg run {target}", quiet=quiet or as_json)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--arg takes KEY=VALUE, not {text!r}", code="MG052")
    return key, value


def _check(built: object, target: str, *, strip_debug: bool, quiet: int) -> None:
    """Compares what the script makes with a file; exit code 1 if they differ."""
    from maxgraph.format import open_file, save

    from ..script import Built

    if not isinstance(built, Built):  # pragma: no cover - the caller made it
        raise TypeError(built)
    there = open_file(target).model_id
    with tempfile.TemporaryDirectory() as folder:
        here = save(built.graph, os.path.join(folder, "check.maxg"), weights=built.weights, strip_debug=strip_debug)
    same = here == there
    if quiet < 2:
        click.echo(f"{target}  {'is what the script makes' if same else 'differs from what the script makes'}")
    if not same:
        raise click.exceptions.Exit(1)
