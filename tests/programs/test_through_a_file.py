"""Random programs: built, saved, loaded, run three steps by the engine; equal to the interpreter in every buffer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import maxgraph
from maxgraph.engine import InferenceSession
from maxgraph.lower import Mode
from maxgraph.reference import Interpreter
from tests.lower.programs import Program, random_program
from tests.lower.test_random_programs import initial

BATCHES, IN_A_BATCH = 12, 250
#: In each batch, so that 3,000 programs reach each mode at least 25 times.
LEAST = 7


def run(program: Program, folder: Path) -> list[Mode]:
    path = folder / f"{program.seed}.maxg"
    maxgraph.save(program.graph, path)
    session = InferenceSession(
        num_threads=1 + program.seed % 2, optimization="none" if program.seed % 4 == 0 else "all"
    )
    model = session.load(path)
    expected = initial(program)
    interpreter = Interpreter(program.graph)
    state = model.new_state()
    memory = {name: array.copy() for name, array in program.buffers.items()}
    for name, array in memory.items():
        state.set(name, array)
    for step, feed in enumerate(program.steps):
        wanted = interpreter.run(feed, expected)
        # Every other program passes its buffers as MAX does, the rest lie in a state.
        if program.seed % 2:
            outputs = model(**feed, **memory)
            held = {**model.state.as_dict(), **memory}
        else:
            outputs = model(**feed, state=state)
            held = state.as_dict()
        given = {spec.name: b.to_numpy() for spec, b in zip(model.output_metadata, outputs, strict=True)}
        for name, array in [*wanted.items(), *expected.items()]:
            found = given[name] if name in wanted else held[name]
            message = f"program {program.seed}, step {step}, {name}"
            np.testing.assert_allclose(found, array, rtol=2e-3, atol=2e-3, err_msg=message)
    path.unlink()
    return [row.mode for row in model.plan.buffers] if model.plan else []


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs(batch: int, tmp_path: Path) -> None:
    modes: Counter[Mode] = Counter()
    for seed in range(batch * IN_A_BATCH, (batch + 1) * IN_A_BATCH):
        modes.update(run(random_program(seed), tmp_path))
    assert all(modes[mode] >= LEAST for mode in Mode), modes


@pytest.mark.nightly
@pytest.mark.parametrize("batch", range(100))
def test_many_random_programs(batch: int, tmp_path: Path) -> None:
    for seed in range(10_000 + batch * 200, 10_000 + (batch + 1) * 200):
        run(random_program(seed), tmp_path)
