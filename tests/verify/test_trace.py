"""Onnxruntime's own trace of the model that it runs: no reader of an old value runs after what overwrites it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import Model
from maxgraph.graph import BufferType, DeviceRef, Graph, ops
from maxgraph.lower import convert, lower
from maxgraph.lower.planner import plan_buffers
from maxgraph.lower.proof import Part
from maxgraph.verify import Conflict, check_trace, conflicts_of, trace
from tests.lower.programs import Program, random_program
from tests.lower.test_blocks import PROGRAMS as BLOCKS
from tests.lower.test_blocks import build as build_blocks
from tests.lower.test_blocks import feeds as feeds_of_blocks
from tests.lower.test_hazards import CASES, build

Array = np.ndarray[Any, Any]
N = 64


def run_hazard(model: Model) -> None:
    rng = np.random.default_rng(0)
    buffers = rng.standard_normal((2, N, N)).astype(np.float32)
    for _ in range(3):
        model.execute(*buffers)


def run_program(program: Program, model: Model) -> None:
    memory = {name: array.copy() for name, array in program.buffers.items()}
    for feed in program.steps:
        model(**feed, **memory)


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("body", CASES, ids=lambda body: body.__name__)
def test_a_hazard(body: Any, parallel: bool) -> None:
    graph = build(body, N)
    assert trace(graph, run_hazard, parallel=parallel, num_threads=1 + parallel) == []
    assert trace(graph, run_hazard, parallel=parallel, optimization="none") == []


@pytest.mark.parametrize("body", [body for body in BLOCKS if "weight" not in body.__name__], ids=lambda b: b.__name__)
def test_branches_and_loops(body: Any) -> None:
    def run(model: Model) -> None:
        for given in feeds_of_blocks()[:3]:
            model.execute(*(array.copy() for array in given))

    assert trace(build_blocks(body), run) == []


@pytest.mark.parametrize("batch", range(4))
def test_random_programs(batch: int) -> None:
    pairs = 0
    for seed in range(batch * 25, (batch + 1) * 25):
        program = random_program(seed)
        level = "none" if seed % 4 == 0 else "all"
        run = partial(run_program, program)
        found = trace(program.graph, run, optimization=level, parallel=seed % 3 == 0, cache=False)
        assert found == [], f"program {seed}: {found[0]}"
        pairs += len(conflicts_of(lower(program.graph, optimization=level)))
    assert pairs > 50


def read_late() -> Graph:
    """The reader has no reason of its own to run before the store."""
    with Graph("late", input_types=[BufferType(DType.float32, [N, N], DeviceRef.CPU())]) as graph:
        total = graph.inputs[0].buffer
        old = total[...]
        total[...] = old + 1
        graph.output(ops.tanh(old))
    return graph


def run_late(model: Model) -> None:
    model.execute(np.zeros((N, N), np.float32))


def test_it_sees_a_plan_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the part of the rule that orders readers, onnxruntime runs one too late, and the trace shows it."""
    assert trace(read_late(), run_late, cache=False) == []
    monkeypatch.setattr(convert, "plan_buffers", partial(plan_buffers, without=frozenset({Part.READERS})))
    monkeypatch.setattr(convert, "prove_shared", lambda *_args, **_options: [])
    violations = trace(read_late(), run_late, cache=False)
    assert violations
    assert "had begun to overwrite it" in str(violations[0])
    assert violations[0].conflict.buffer == "total"


def test_a_trace_that_lacks_a_node_says_nothing() -> None:
    conflict = Conflict("b", "n1", "n2")
    assert check_trace([conflict], {"n1": [(0, 5)], "n2": [(5, 9)]}) == []
    assert [v.run for v in check_trace([conflict], {"n1": [(0, 6), (20, 22)], "n2": [(5, 9), (30, 31)]})] == [0]
    for spans in ({}, {"n1": [(0, 1)]}, {"n1": [(0, 1)], "n2": [(2, 3), (4, 5)]}):
        with pytest.raises(ValueError, match="the trace has"):
            check_trace([conflict], spans)


def test_a_graph_that_runs_nothing() -> None:
    assert trace(Graph("none", lambda: ()), lambda model: model.execute()) == []
