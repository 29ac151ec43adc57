"""Random programs with branches and loops inside one another: the engine equals the interpreter, through a file too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maxgraph
from maxgraph.engine import InferenceSession, Model
from maxgraph.errors import ExecutionError, InputError
from maxgraph.graph import Graph
from tests.lower.block_programs import BlockBuilder
from tests.lower.programs import Program, random_program

SESSIONS = {
    "auto": {"num_threads": 1},
    "copied": {"buffers": "copied", "num_threads": 2},
    "plain": {"optimization": "none", "num_threads": 2},
}
OUT_OF_RANGE = ("MG035", "MG038")
#: The outputs of a step, or None where it fails; and all buffers after it.
Step = tuple[list[Any] | None, dict[str, Any]]


def run(model: Model, program: Program) -> list[Step]:
    """All steps."""
    memories = {name: array.copy() for name, array in program.buffers.items()}
    steps: list[Step] = []
    for feeds in program.steps:
        outputs: list[Any] | None = None
        try:
            outputs = [output.to_numpy() for output in model(**feeds, **memories)]
        except (ExecutionError, InputError) as error:
            if error.code not in OUT_OF_RANGE:
                raise
        owned = {name: array.copy() for name, array in model.state.items() if name not in memories}
        steps.append((outputs, {name: array.copy() for name, array in memories.items()} | owned))
    return steps


def check(seed: int, folder: Path) -> None:
    """Whether everything that runs a program gives the same."""
    program = random_program(seed, kind=BlockBuilder)
    path = folder / "program.maxg"
    maxgraph.save(program.graph, path)
    graph: Graph = maxgraph.load(path)
    assert repr(graph) == repr(program.graph)
    wanted = run(InferenceSession().load(program.graph, reference=True), program)
    for name, options in SESSIONS.items():
        found = run(InferenceSession(cache=False, **options).load(graph), program)  # type: ignore[arg-type]  # they fit
        for step, ((outputs, buffers), (expected, memories)) in enumerate(zip(found, wanted, strict=True)):
            where = f"program {seed}, {name}, step {step}"
            assert (outputs is None) == (expected is None), where
            for got, other in zip(outputs or [], expected or [], strict=True):
                np.testing.assert_allclose(got, other, rtol=2e-3, atol=2e-4, err_msg=where)
            assert buffers.keys() == memories.keys()
            for buffer, array in buffers.items():
                np.testing.assert_allclose(array, memories[buffer], rtol=2e-3, atol=2e-4, err_msg=f"{where}, {buffer}")


@pytest.mark.parametrize("batch", range(20))
def test_random_programs_with_blocks(batch: int, tmp_path: Path) -> None:
    for seed in range(batch * 5, batch * 5 + 5):
        check(seed, tmp_path)


def test_branches_in_branches_that_onnxruntime_cannot_optimise(tmp_path: Path) -> None:
    """Predicates that it could compute, in branches in branches: it would crash."""
    check(2059, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("batch", range(100))
def test_many_random_programs_with_blocks(batch: int, tmp_path: Path) -> None:
    for seed in range(10_000 + batch * 50, 10_000 + batch * 50 + 50):
        check(seed, tmp_path)
