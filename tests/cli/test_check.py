"""`maxg check`: each level on files that are right, and on one that is wrong at that level."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
from maxgraph.lower import convert
from maxgraph.lower.planner import plan_buffers
from maxgraph.lower.proof import Part

from .conftest import Maxg

CPU = DeviceRef.CPU()
LEVELS = ("format", "graph", "lower", "run")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A row store at a place that is an input, and an old value read beside a store."""
    types = [
        BufferType(DType.float32, ["n", 4], CPU),
        TensorType(DType.float32, [4], CPU),
        TensorType(DType.int64, [], CPU),
        BufferType(DType.float32, [64, 64], CPU),
    ]
    with Graph("cache", input_types=types, input_names=["rows", "row", "at", "total"]) as graph:
        rows, row, at, total = graph.inputs
        rows.buffer[at.tensor] = row.tensor
        old = total.buffer[...]
        total.buffer[...] = old + 1
        graph.output(first=rows.buffer[0], late=ops.tanh(old))
    maxgraph.save(graph, tmp_path / "cache.maxg")
    return tmp_path / "cache.maxg"


@pytest.mark.parametrize("level", LEVELS)
def test_a_file_that_is_right(level: str, maxg: Maxg, cache: Path) -> None:
    done = maxg("check", cache, "--level", level)
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["ok"] * (LEVELS.index(level) + 1)
    answer = json.loads(maxg("check", cache, "--level", level, "--json").out)
    assert (answer["schema"], answer["ok"]) == ("maxg.check/1", True)
    assert [found["level"] for found in answer["levels"]] == [*LEVELS[: LEVELS.index(level) + 1]]


def test_the_run_says_what_it_did(maxg: Maxg, cache: Path) -> None:
    done = maxg("check", cache, "--level", "run", "--steps", 5, "--dim", "n=9")
    assert "run: 5 steps as the copied form and the meaning; the trace is in order" in done.out


def test_damage_is_seen_at_the_first_level(maxg: Maxg, cache: Path) -> None:
    data = bytearray(cache.read_bytes())
    data[100] ^= 1
    cache.write_bytes(bytes(data))
    done = maxg("check", cache, "--level", "run")
    assert done.code == 1
    (line,) = done.out.splitlines()
    assert line.startswith("FAIL")
    assert "[MGH01]" in line


def test_a_plan_that_is_wrong_is_seen_by_the_run(maxg: Maxg, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers are not ordered, and the proof is switched off: only the run can tell."""
    monkeypatch.setenv("MAXG_CACHE", "off")
    monkeypatch.setattr(convert, "plan_buffers", partial(plan_buffers, without=frozenset({Part.READERS})))
    monkeypatch.setattr(convert, "prove_shared", lambda *_args, **_options: [])
    assert maxg("check", cache, "--level", "lower").code == 0
    done = maxg("check", cache, "--level", "run")
    assert done.code == 1
    assert "FAIL" in done.out
    assert "[MG054]" in done.out


def test_a_graph_that_refuses_random_inputs_is_not_judged(maxg: Maxg, tmp_path: Path) -> None:
    with Graph("picky", input_types=[TensorType(DType.int64, [], CPU)]) as graph:
        table = ops.constant(np.zeros(2, np.float32))
        graph.output(table[graph.inputs[0].tensor * 0 + 7])
    maxgraph.save(graph, tmp_path / "picky.maxg")
    done = maxg("check", tmp_path / "picky.maxg", "--level", "run")
    assert done.code == 0
    assert "not told: the graph refuses random inputs" in done.out


def test_several_files_and_less_to_read(maxg: Maxg, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.maxg").write_bytes(cache.read_bytes()[:-1])
    done = maxg("check", cache, tmp_path / "bad.maxg", "-q")
    assert done.code == 1
    assert [line.split()[0] for line in done.out.splitlines()] == ["FAIL"]
    assert maxg("check", cache, "-qq").out == ""


def test_wrong_usage(maxg: Maxg, cache: Path) -> None:
    assert maxg("check").code == 2
    assert maxg("check", "nowhere.maxg").code == 2
    assert maxg("check", cache, "--level", "rum").code == 2
