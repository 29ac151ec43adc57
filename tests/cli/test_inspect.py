"""`maxg inspect`: every section, as text and as JSON, from the header alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from maxgraph_cli.console import safe

import maxgraph
from maxgraph.graph import Graph

from .conftest import Maxg

SECTIONS = ("io", "nodes", "weights", "buffers", "plan", "bytes", "ops", "meta")


def test_the_summary(maxg: Maxg, counter: Path) -> None:
    done = maxg("inspect", counter)
    lines = done.out.splitlines()
    assert lines[0].startswith("counter · format 1.0 · written by maxgraph ")
    assert lines[1:] == [
        "input   x      float32[n]",
        "output  total  float32[4]",
        "output  steps  int64[]",
        "buffer  total  float32[4]  16 B  caller                read_write",
        "buffer  steps  int64[]      8 B  weight steps.initial  read_write",
    ]


def test_the_plan(maxg: Maxg, counter: Path) -> None:
    rows = [line.split("  ")[0] for line in maxg("inspect", counter, "--show", "plan").out.splitlines()]
    assert rows == ["buffer", "total", "steps"]
    assert "in place" in maxg("inspect", counter, "--show", "plan", "--filter", "steps").out


def test_every_byte_is_accounted_for(maxg: Maxg, counter: Path) -> None:
    rows = json.loads(maxg("inspect", counter, "--show", "bytes", "--json").out)["bytes"]
    end = 0
    for row in rows:
        assert row["offset"] == end
        end += row["bytes"]
    assert end == counter.stat().st_size
    assert "end: no gaps" in maxg("inspect", counter, "--show", "bytes").out


@pytest.mark.parametrize("section", [*SECTIONS, "all"])
def test_each_section_as_text_and_json(section: str, maxg: Maxg, counter: Path) -> None:
    assert maxg("inspect", counter, "--show", section).out
    answer = json.loads(maxg("inspect", counter, "--show", section, "--format", "json").out)
    assert answer["schema"] == "maxg.inspect/1"
    for name in SECTIONS if section == "all" else [section]:
        assert answer[name]


def test_no_section_takes_the_place_of_another_fact(maxg: Maxg, counter: Path) -> None:
    summary = json.loads(maxg("inspect", counter, "--json", "--show", "ops").out)
    every = json.loads(maxg("inspect", counter, "--json", "--show", "all").out)
    assert {key: every[key] for key in summary} == summary
    assert every["file_bytes"] == counter.stat().st_size


def test_metadata_may_have_any_key(maxg: Maxg, tmp_path: Path) -> None:
    graph = Graph("g", lambda: ())
    model_id = maxgraph.save(graph, tmp_path / "g.maxg", metadata={"id": "mine", "features": "none"})
    rows = json.loads(maxg("inspect", "g.maxg", "--json", "--show", "meta").out)["meta"]
    assert [row["value"] for row in rows if row["key"] == "id"] == [model_id, "mine"]


def test_an_unknown_section(maxg: Maxg, counter: Path) -> None:
    done = maxg("inspect", counter, "--show", "io,plam")
    assert done.code == 2
    assert "did you mean `plan`?" in done.err


def test_names_are_escaped() -> None:
    assert safe("a\x1b[31m\u202eb\n") == "a\\u001b[31m\\u202eb\\u000a"
    assert safe("x" * 200) == "x" * 80 + "..."


LOADED = """
import sys
sys.argv = ["maxg", *sys.argv[1:]]
from maxgraph_cli.main import main
try:
    main()
except SystemExit as done:
    heavy = [m for m in ("numpy", "onnx", "onnxruntime", "rich", "safetensors", "ml_dtypes") if m in sys.modules]
    print(done.code, *heavy, file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["inspect", "FILE", "--show", "io,nodes,bytes"]])
def test_looking_loads_nothing_heavy(arguments: list[str], counter: Path) -> None:
    filled = [str(counter) if a == "FILE" else a for a in arguments]
    done = subprocess.run([sys.executable, "-c", LOADED, *filled], capture_output=True, text=True, check=False)
    assert done.stderr == "0\n"
