"""`maxg build`: finds the graph, writes it, and shows what is wrong with a script by its own lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Maxg

SCRIPT = """
from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops

CPU = DeviceRef.CPU()

with Graph("count", input_types=[BufferType(DType.float32, [4], CPU)]) as graph:
    state = graph.inputs[0].buffer
    state[...] = state[...] + 1
    graph.output(state[...])


def scaled(size: int = 2, factor: float = 1.0, name: str = "s") -> Graph:
    with Graph(name, input_types=[TensorType(DType.float32, [size], CPU)], input_names=["x"]) as made:
        made.output(y=made.inputs[0].tensor * factor)
    return made
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(SCRIPT)
    return path


def test_the_only_graph_is_built(maxg: Maxg, script: Path) -> None:
    done = maxg("build", script)
    assert done.code == 0
    assert done.out.startswith("model.maxg  ")
    assert "5 ops  0 weights (0 B)  1 buffer (16 B)  id " in done.out
    assert done.err == "next: maxg inspect model.maxg, maxg run model.maxg\n"
    assert Path("model.maxg").exists()


def test_a_function_with_arguments(maxg: Maxg, script: Path) -> None:
    done = maxg("build", f"{script}:scaled", "--arg", "size=3", "--arg", "factor=2", "-o", "s.maxg", "--json")
    answer = json.loads(done.out)
    assert (answer["schema"], answer["file"], answer["nodes"]) == ("maxg.build/1", "s.maxg", 2)
    assert "[2 2 2]" in maxg("run", "s.maxg", "-i", "x=[1, 1, 1]").out


def test_the_graphs_are_listed(maxg: Maxg, script: Path) -> None:
    assert maxg("build", script, "--list").out.split() == ["graph", "scaled"]


def test_a_build_can_be_checked(maxg: Maxg, script: Path) -> None:
    maxg("build", script, "-q")
    assert maxg("build", script, "--check").code == 0
    script.write_text(SCRIPT.replace("+ 1", "+ 2"))
    done = maxg("build", script, "--check")
    assert (done.code, done.out) == (1, "model.maxg  differs from what the script makes\n")


def test_debug_information_can_be_left_out(maxg: Maxg, script: Path) -> None:
    maxg("build", script, "-o", "a.maxg")
    maxg("build", script, "-o", "b.maxg", "--strip-debug")
    assert Path("b.maxg").stat().st_size < Path("a.maxg").stat().st_size
    assert "(model.py:9)" in maxg("inspect", "a.maxg", "--show", "nodes").out


WRONG = {
    "no script": ("nope.py", "", "MG050", "there is no such file"),
    "a name that is not there": ("model.py:grph", SCRIPT, "MG051", "did you mean `graph`?"),
    "no graph": ("model.py", "x = 1\n", "MG051", "holds no graph"),
    "several graphs": ("model.py", SCRIPT + "\nother = scaled()\n", "MG051", "graph, other, scaled"),
    "a script that fails": ("model.py", SCRIPT + "\n1 / 0\n", "MG051", "ZeroDivisionError"),
    "a script that is no Python": ("model.py", "def f(:\n", "MG051", "SyntaxError"),
    "a script that ends Python": ("model.py", "import sys; sys.exit(3)\n", "MG051", "SystemExit"),
    "a graph that is refused": ("model.py", SCRIPT.replace("+ 1", "+ state[0:2]"), "MG011", "axis -1"),
    "an argument that is not there": ("model.py:scaled --arg sise=3", SCRIPT, "MG052", "did you mean `size`?"),
    "an argument of another type": ("model.py:scaled --arg size=x", SCRIPT, "MG052", "`size` must be int"),
    "an argument that is no pair": ("model.py:scaled --arg size", SCRIPT, "MG052", "KEY=VALUE"),
    "a place that is not there": ("model.py -o nope/x.maxg", SCRIPT, "MG050", "cannot be written"),
    "a function that gives no graph": ("model.py", "def build():\n    return 1\n", "MG051", "returned int"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_build_has_its_code(name: str, maxg: Maxg, tmp_path: Path) -> None:
    arguments, text, code, words = WRONG[name]
    if text:
        (tmp_path / "model.py").write_text(text)
    done = maxg("build", *arguments.split())
    assert done.code == 2
    assert done.err.startswith(f"error[{code}]: "), done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.glob("*.maxg"))


def test_an_error_shows_the_users_line(maxg: Maxg, script: Path) -> None:
    script.write_text(SCRIPT.replace("+ 1", "+ state[0:2]"))
    lines = maxg("build", script).err.splitlines()
    assert lines[0] == "error[MG011]: add: axis -1 of `lhs` is 4 but axis -1 of `rhs` is 2"
    assert lines[1].endswith("model.py:9:18")
    assert lines[3] == "9 |     state[...] = state[...] + state[0:2]"
    assert lines[4] == "  |                  " + "^" * len("state[...] + state[0:2]")
    assert any(line.startswith("  lhs  float32[4]") for line in lines)
