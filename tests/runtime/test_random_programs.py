"""Random programs through the whole engine equal the interpreter, however the buffers are held and bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maxgraph.engine import InferenceSession, Model, State
from tests.lower.programs import Program, random_program

SESSIONS = {
    "auto": InferenceSession(),
    "copied": InferenceSession(buffers="copied"),
    "plain": InferenceSession(optimization="none", num_threads=2),
}


def run(model: Model, program: Program, *, held_by_state: bool) -> tuple[list[list[Any]], dict[str, Any]]:
    """All steps: the outputs of each, and the buffers at the end."""
    state = model.new_state()
    memories = {name: array.copy() for name, array in program.buffers.items()}
    for name, array in memories.items():
        state.set(name, array)
    results = []
    for feeds in program.steps:
        outputs = (
            model(**feeds, state=state) if held_by_state else model(**feeds, **memories)  # by name: the order is ours
        )
        results.append([output.to_numpy() for output in outputs])
    return results, state.as_dict() if held_by_state else {**_owned(model, memories), **memories}


def _owned(model: Model, memories: dict[str, Any]) -> dict[str, Any]:
    state: State = model.state
    return {name: array for name, array in state.items() if name not in memories}


@pytest.mark.parametrize("seed", range(60))
def test_a_random_program_equals_the_interpreter(seed: int) -> None:
    program = random_program(seed)
    expected: tuple[list[list[Any]], dict[str, Any]] | None
    try:
        expected = run(InferenceSession().load(program.graph, reference=True), program, held_by_state=False)
    except ValueError:
        expected = None  # an index out of range: everything else must say so too
    for session in SESSIONS.values():
        for held_by_state in (False, True):
            model = session.load(program.graph)
            if expected is None:
                with pytest.raises(ValueError, match="out of range"):
                    run(model, program, held_by_state=held_by_state)
                continue
            results, buffers = run(model, program, held_by_state=held_by_state)
            for got, wanted in zip(results, expected[0], strict=True):
                for one, other in zip(got, wanted, strict=True):
                    np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)
            assert buffers.keys() == expected[1].keys()
            for name, array in buffers.items():
                np.testing.assert_allclose(array, expected[1][name], rtol=2e-4, atol=2e-5)
