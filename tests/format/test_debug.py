"""Source lines and names in a file: relative, inert, and they can be left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import maxgraph
from maxgraph.format import load, open_file
from maxgraph.graph import Graph

from .files import rich_graph, saved

SOURCE = """
from maxgraph.dtype import DType
from maxgraph.graph import DeviceRef, Graph, TensorType
def made(forward):
    return Graph("g", forward, input_types=[TensorType(DType.float32, [2], DeviceRef.CPU())])
graph = made(lambda x: x + x)
"""


def built(name: str, forward: Any = None) -> Graph:
    """A graph that a source file of this name builds."""
    scope: dict[str, Any] = {"__name__": "script"}
    exec(compile(SOURCE, name, "exec"), scope)
    return scope["made"](forward) if forward else scope["graph"]


def recorded(graph: Graph, path: Path) -> list[str]:
    """The source files that a file records, after it was read and written again with the same bytes."""
    maxgraph.save(graph, path)
    read = load(path)
    maxgraph.save(read, path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == path.read_bytes()
    return [node.location.file for node in read.nodes() if node.location]


def test_debug_information_can_be_left_out(tmp_path: Path) -> None:
    maxgraph.save(rich_graph(), tmp_path / "a.maxg", strip_debug=True)
    graph = load(tmp_path / "a.maxg")
    assert all(node.location is None for node in graph.nodes())
    whole = open_file(saved(tmp_path))
    assert whole.program_hash == open_file(tmp_path / "a.maxg").program_hash
    assert all(node.location is not None and node.location.file == "files.py" for node in whole.graph.nodes())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/some/where/build.py", "build.py"),
        ("<string>", "<string>"),
        ("<a/../b>", "b>"),
        ("/a/caf\u00e9 \u202e.py", "caf\u00e9 \u202e.py"),
        ("/a/not\udcffutf8.py", "not?utf8.py"),
        ("/a/" + "x" * 70_000, "x" * 255),
    ],
    ids=["absolute", "string", "dots", "unicode", "bytes", "long"],
)
def test_a_source_file_is_named_harmlessly(name: str, expected: str, tmp_path: Path) -> None:
    assert recorded(built(name), tmp_path / "a.maxg") == [expected]


def test_files_are_relative_to_the_scripts_folder(tmp_path: Path) -> None:
    """A line of another folder goes by its file's name alone, so that no path of this machine is in the file."""
    scope: dict[str, Any] = {}
    exec(compile("def near(x): return x * 2", "/project/lib/near.py", "exec"), scope)
    exec(compile("def far(x): return x * 3", "/elsewhere/far.py", "exec"), scope)
    graph = built("/project/build.py", lambda x: scope["far"](scope["near"](x)) + 1)
    files = recorded(graph, tmp_path / "a.maxg")
    assert list(dict.fromkeys(files)) == ["lib/near.py", "far.py", "test_debug.py"]
    assert b"/project" not in (tmp_path / "a.maxg").read_bytes()


def test_names_of_values_are_kept(tmp_path: Path) -> None:
    graph = rich_graph()
    (node, *_) = graph.nodes()
    node.results[0].name = "layer.weight"
    maxgraph.save(graph, tmp_path / "a.maxg")
    (read, *_) = load(tmp_path / "a.maxg").nodes()
    assert read.results[0].name == "layer.weight"
    maxgraph.save(load(tmp_path / "a.maxg"), tmp_path / "b.maxg")
    assert (tmp_path / "b.maxg").read_bytes() == (tmp_path / "a.maxg").read_bytes()
