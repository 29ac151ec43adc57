"""Random programs: the plan, run straight on onnxruntime, equals the interpreter."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from maxgraph.lower import Lowered, Mode, lower
from maxgraph.reference import Interpreter
from tests.lower.programs import Program, random_program
from tests.lower.runner import Runner

BATCHES = 20
PROGRAMS_IN_A_BATCH = 10


def initial(program: Program) -> dict[str, np.ndarray]:
    memory = {name: array.copy() for name, array in program.buffers.items()}
    for info in program.graph.buffers:
        if info.state is not None:
            shape = info.value.type.shape.evaluate({})
            start = np.zeros(shape, info.value.type.dtype.to_numpy())
            if info.state.initial is not None:
                weight = program.graph.weights[info.state.initial]
                assert weight.data is not None
                start[...] = weight.data.numpy()
            memory[info.name] = start
    return memory


def check(program: Program, lowered: Lowered, *, threads: int = 1) -> None:
    expected, actual = initial(program), initial(program)
    interpreter, runner = Interpreter(program.graph), Runner(lowered, threads=threads)
    for step, feed in enumerate(program.steps):
        wanted, given = interpreter.run(feed, expected), runner.run(feed, actual)
        for name, array in [*wanted.items(), *expected.items()]:
            found = given[name] if name in wanted else actual[name]
            np.testing.assert_allclose(
                found, array, rtol=2e-3, atol=2e-3, err_msg=f"program {program.seed}, step {step}, {name}"
            )


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_on_onnxruntime_alone(batch: int) -> None:
    for seed in range(batch * PROGRAMS_IN_A_BATCH, (batch + 1) * PROGRAMS_IN_A_BATCH):
        program = random_program(seed)
        check(program, lower(program.graph, optimization="none" if seed % 4 == 0 else "all"), threads=1 + seed % 2)


if __name__ == "__main__":
    import sys

    modes: Counter[Mode] = Counter()
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        program = random_program(seed)
        lowered = lower(program.graph, optimization="none" if seed % 4 == 0 else "all")
        modes.update(row.mode for row in lowered.plan.buffers)
        try:
            check(program, lowered)
        except AssertionError as error:
            print(seed, str(error)[:300])
    print(modes)
