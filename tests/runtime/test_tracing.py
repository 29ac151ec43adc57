"""Values in between: the same on onnxruntime and in the interpreter, and the first wrong one is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from maxgraph.compare import Running, Tolerances, compare_steps, difference, trace
from maxgraph.compare.probes import Probe, probes
from maxgraph.compare.tracing import step_values
from maxgraph.engine import InferenceSession
from maxgraph.errors import ExecutionError
from maxgraph.graph import Graph, ops

from ..lower.block_programs import BlockBuilder
from ..lower.programs import Builder, Program, random_program

TOLERANCES = Tolerances(rtol=1e-3, atol=1e-3)


def side(graph: Graph, buffers: Mapping[str, Any], *, reference: bool) -> Running:
    session = InferenceSession(cache=False)

    def load(made: Graph) -> Any:
        return session.load(made, reference=reference)

    model = load(graph)
    state = model.new_state()
    for name, array in buffers.items():
        state.set(name, array)
    return Running("reference" if reference else "cpu", model, state, load)


def sides(program: Program) -> tuple[Running, Running]:
    return tuple(side(program.graph, program.buffers, reference=reference) for reference in (False, True))  # type: ignore[return-value]


@pytest.mark.parametrize("kind", [Builder, BlockBuilder])
@pytest.mark.parametrize("batch", range(4))
def test_all_values_of_random_programs_agree(kind: type[Builder], batch: int) -> None:
    seen = 0
    for seed in range(batch * 6, batch * 6 + 6):
        program = random_program(seed, kind=kind)
        ours, theirs = sides(program)
        before = theirs.buffers()
        try:
            report = compare_steps(ours, theirs, program.steps, TOLERANCES)
        except ExecutionError:
            continue  # both fail alike
        assert report.ok, (seed, report.failure, [e for e in report.entries if not e.ok])
        wanted = list(probes(program.graph))
        values = [step_values(s, wanted, program.steps[0], before) for s in (ours, theirs)]
        for probe, a, b in zip(wanted, *values, strict=True):
            assert difference(a, b, TOLERANCES.of("", a.dtype.name)).ok, (seed, probe.node)
        seen += len(wanted)
    assert seen > 20


@pytest.mark.parametrize("seed", range(12))
def test_the_first_node_that_is_wrong_is_named(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = random_program(seed)
    first = next((p for p in probes(program.graph) if p.node.op is ops.tanh), None)
    right = ops.tanh.lowering
    monkeypatch.setattr(ops.tanh, "_lowering", lambda b, x: b.node("Add", right(b, x), b.constant([0.25], x.dtype)))
    ours, theirs = sides(program)
    start = (ours.buffers(), theirs.buffers())
    found = trace(ours, theirs, program.steps[0], start, TOLERANCES)
    if first is None:
        assert found.number is None
        return
    assert (found.number, found.op, found.value) == (first.number, "tanh", "result")
    assert found.where == first.node.location
    assert found.difference is not None
    assert found.difference.most is not None
    assert found.difference.most.amount == pytest.approx(0.25, abs=0.01)
    assert found.operands is None or found.operands < 1e-3


def test_a_trace_leaves_the_states_alone() -> None:
    program = random_program(3)
    ours, theirs = sides(program)
    start = (ours.buffers(), theirs.buffers())
    trace(ours, theirs, program.steps[0], start)
    for running, before in zip((ours, theirs), start, strict=True):
        for name, array in running.buffers().items():
            np.testing.assert_array_equal(array, before[name])


def test_a_probe_is_a_value_by_itself() -> None:
    """A graph whose node stores and yields has a probe for each; none is asked for twice."""
    for seed in range(10):
        found = list(probes(random_program(seed, kind=BlockBuilder).graph))
        assert len(set(found)) == len(found)
        assert all(isinstance(p, Probe) and (p.result is None) != (p.buffer is None) for p in found)
