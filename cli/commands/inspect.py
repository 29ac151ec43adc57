"""`maxg inspect`. It reads the header only, and loads neither numpy nor onnxruntime unless the plan is asked for."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from maxgraph.graph.text import access_text, attribute_text, node_text, number_values
from maxgraph.graph.type import BufferType

from ..console import Names, number, safe, size, table

if TYPE_CHECKING:
    from maxgraph.format import MaxgFile

__all__ = ["command"]

_SECTIONS = ("io", "nodes", "weights", "buffers", "plan", "bytes", "ops", "meta")


@click.command(name="inspect", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="FILE.maxg")
@click.option("--show", type=Names((*_SECTIONS, "all")), metavar="SECTIONS", help="Of " + ",".join(_SECTIONS) + ",all.")
@click.option("--filter", "pattern", metavar="GLOB", help="Only lines with a name (or an op) that matches.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text or json.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json (maxg.inspect/1).")
def command(file: str, show: list[str] | None, pattern: str | None, form: str, as_json: bool) -> None:  # noqa: FBT001
    """Show what is in a .maxg file, without running it.

    \b
    maxg inspect model.maxg
    maxg inspect model.maxg --show io,buffers
    maxg inspect model.maxg --show plan       how each buffer is changed, and why
    maxg inspect model.maxg --show bytes      every byte of the file accounted for
    """  # noqa: D301 - click reads the \b
    from maxgraph.format import open_file

    opened = open_file(file)
    wanted = list(_SECTIONS) if show and "all" in show else show
    sections = wanted or ["io", "buffers"]
    found: dict[str, list[dict[str, Any]]] = {name: _keep(_FACTS[name](opened), pattern) for name in sections}
    if as_json or form == "json":
        click.echo(json.dumps({"schema": "maxg.inspect/1", **_summary(opened), **found}))
        return
    if wanted is None:
        click.echo(_headline(opened))
    for name in sections:
        if len(sections) > 1 and wanted is not None:
            click.echo(f"{name}:")
        click.echo(_text(name, found[name]))


def _keep(rows: list[dict[str, Any]], pattern: str | None) -> list[dict[str, Any]]:
    if pattern is None:
        return rows
    keys = ("name", "op", "buffer", "key")
    return [row for row in rows if any(fnmatch.fnmatchcase(str(row[k]), pattern) for k in keys if k in row)]


def _summary(opened: MaxgFile) -> dict[str, Any]:
    return {
        "file": opened.path,
        "graph": opened.graph.name,
        "format": opened.version,
        "producer": opened.producer,
        "features": list(opened.features),
        "id": opened.model_id,
        "program": opened.program_hash,
        "file_bytes": opened.file_length,
        "header_bytes": opened.header_length,
    }


def _headline(opened: MaxgFile) -> str:
    nodes = sum(1 for _ in opened.graph.nodes())
    facts = [
        safe(opened.graph.name),
        f"format {opened.version}",
        f"written by {opened.producer}",
        number(nodes, "op"),
        number(len(opened.graph.weights), "weight"),
        size(opened.file_length),
        *([f"weights in {number(len(opened.external), 'file')} beside it"] if opened.external else []),
        f"id {opened.model_id[:12]}",
    ]
    return " · ".join(facts)


def _io(opened: MaxgFile) -> list[dict[str, Any]]:
    graph = opened.graph
    rows = [
        {"kind": "input", "name": info.name, "type": str(info.value.type)}
        for info in graph.signature
        if not isinstance(info.value.type, BufferType)
    ]
    return rows + [{"kind": "output", "name": name, "type": str(value.type)} for name, value in graph.results]


def _buffers(opened: MaxgFile) -> list[dict[str, Any]]:
    access = opened.graph.access()
    rows = []
    for info in opened.graph.buffers:
        kind = info.value.type
        state = info.state
        begins = (
            "caller"
            if state is None
            else "scratch"
            if state.scratch
            else f"weight {state.initial}"
            if state.initial
            else "zeros"
        )
        rows.append(
            {
                "name": info.name,
                "type": str(kind).removeprefix("buffer "),
                "bytes": kind.num_bytes if kind.is_static else None,
                "begins": begins,
                "access": access_text(access[info.value]) or "unused",
            }
        )
    return rows


def _nodes(opened: MaxgFile) -> list[dict[str, Any]]:
    numbers = number_values(opened.graph)
    return [
        {
            "op": f"{node.op.domain}.{node.op.name}",
            "version": node.op.version,
            "operands": [numbers[v] for v in node.operands],
            "results": [{"value": numbers[v], "type": str(v.type)} for v in node.results],
            "attributes": {name: _attribute(value) for name, value in node.attributes.items()},
            "where": str(node.location) if node.location else None,
            "text": node_text(node, numbers) if node.op.name != "constant" else _constant(node, numbers),
        }
        for node in opened.graph.nodes()
    ]


def _attribute(value: Any) -> str:
    """An attribute without loading numpy for a literal's elements."""
    data = getattr(value, "data", None)
    return f"{value.type} ({len(data)} bytes)" if isinstance(data, bytes) else attribute_text(value)


def _constant(node: Any, numbers: Any) -> str:
    return f"%{numbers[node.results[0]]} = maxg.constant@1 {{value = {_attribute(node.attributes['value'])}}}"


def _weights(opened: MaxgFile) -> list[dict[str, Any]]:
    rows = []
    for weight in opened.graph.weights.values():
        place = getattr(weight.data, "place", None)
        file = place.file.name if place is not None and place.file is not None else None
        rows.append({"name": weight.name, "type": str(weight.type), "bytes": weight.type.num_bytes, "file": file})
    return rows


def _plan(opened: MaxgFile) -> list[dict[str, Any]]:
    from maxgraph.lower import lower

    return [
        {
            "buffer": row.buffer,
            "mode": row.mode.value,
            "bytes": row.num_bytes,
            "extra_bytes": row.extra_bytes,
            "copies": row.copies,
            "because": row.reason,
            "where": str(row.where) if row.where else None,
        }
        for row in lower(opened.graph).plan.buffers
    ]


def _bytes(opened: MaxgFile) -> list[dict[str, Any]]:
    return [{"name": s.name, "offset": s.offset, "bytes": s.length} for s in opened.sections]


def _ops(opened: MaxgFile) -> list[dict[str, Any]]:
    counts: dict[str, int] = {}
    for node in opened.graph.nodes():
        name = f"{node.op.domain}.{node.op.name}@{node.op.version}"
        counts[name] = counts.get(name, 0) + 1
    return [{"op": name, "count": counts[name]} for name in sorted(counts)]


def _meta(opened: MaxgFile) -> list[dict[str, Any]]:
    """What the header says of the file, and then the metadata, whose keys are anybody's."""
    facts = {**_summary(opened), "features": ", ".join(opened.features) or "none"}
    return [{"key": key, "value": value} for key, value in [*facts.items(), *opened.metadata.items()]]


_FACTS: dict[str, Callable[[MaxgFile], list[dict[str, Any]]]] = {
    "io": _io,
    "nodes": _nodes,
    "weights": _weights,
    "buffers": _buffers,
    "plan": _plan,
    "bytes": _bytes,
    "ops": _ops,
    "meta": _meta,
}


def _text(name: str, rows: list[dict[str, Any]]) -> str:
    """A section as plain columns."""
    if not rows:
        return f"no {name}"
    if name == "nodes":
        return "\n".join(
            safe(row["text"], 200) + (f"   ({safe(row['where'])})" if row["where"] else "") for row in rows
        )
    if name == "buffers":
        cells = [["buffer", r["name"], r["type"], size(r["bytes"]), r["begins"], r["access"]] for r in rows]
        return table([[safe(cell) for cell in row] for row in cells], right=[3])
    if name == "plan":
        header = ["buffer", "mode", "bytes", "extra", "copies", "because"]
        cells = [
            [
                r["buffer"],
                r["mode"],
                size(r["bytes"]),
                size(r["extra_bytes"]),
                str(r["copies"]),
                r["because"] + (f" ({r['where']})" if r["where"] else ""),
            ]
            for r in rows
        ]
        return table([header, *([safe(cell, 200) for cell in row] for row in cells)], right=[2, 3, 4])
    if name == "bytes":
        cells = [[f"{r['offset']:#010x}", str(r["bytes"]), r["name"]] for r in rows]
        total = [f"{rows[-1]['offset'] + rows[-1]['bytes']:#010x}", str(sum(r["bytes"] for r in rows)), "end: no gaps"]
        return table([[safe(cell) for cell in row] for row in [*cells, total]], right=[1])
    if name == "weights":
        cells = [["weight", r["name"], r["type"], size(r["bytes"]), r["file"] or ""] for r in rows]
        return table([[safe(cell) for cell in row] for row in cells], right=[3])
    return table([[safe(str(value), 200) for value in row.values()] for row in rows])
