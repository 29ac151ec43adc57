"""A run that fails in a node of a branch or a loop leaves every buffer as it was, or says which it may have changed."""

from __future__ import annotations

import numpy as np
import pytest

from maxgraph.engine import InferenceSession, Model, State
from maxgraph.errors import ExecutionError, InternalError
from maxgraph.lower.lowered import Risk
from tests.lower.block_programs import BlockBuilder
from tests.lower.programs import Program, random_program
from tests.runtime.injected import fail_inside, inner_places, program_of
from tests.runtime.test_injected_failures import changed_by, running


def fresh(model: Model, sample: Program) -> State:
    state = model.new_state()
    for name, array in sample.buffers.items():
        state.set(name, array.copy())
    return state


def check(seed: int, every: int) -> int:
    """Fails in every so manieth node; gives how often one was reached."""
    sample = random_program(seed, steps=1, kind=BlockBuilder)
    model = InferenceSession().load(sample.graph)
    buffers = program_of(model).lowered.buffers
    may_be_lost = {buffer.name for buffer in buffers if buffer.risk is Risk.NONE}  # nothing can really fail there
    feeds, reached = sample.steps[0], 0
    try:
        model(**feeds, state=fresh(model, sample))
    except ExecutionError:
        return 0  # an index of this program is out of range anyway
    for place in inner_places(model)[::every]:
        state = fresh(model, sample)
        before = state.as_dict()
        with running(model, fail_inside(model, place)):
            try:
                model(**feeds, state=state)
                continue  # the branch is not taken
            except (InternalError, ExecutionError) as error:
                lost = {name for name in changed_by(error) if name}
        reached += 1
        assert lost == state.doubtful <= may_be_lost, (seed, place)
        for name in before.keys() - lost:
            np.testing.assert_array_equal(state.cell(name).allocate({}), before[name], err_msg=f"{seed} {place}")
    return reached


def test_a_failure_in_some_nodes_of_branches_and_loops() -> None:
    assert sum(check(seed, every=4) for seed in range(16)) > 20


@pytest.mark.nightly
@pytest.mark.parametrize("batch", range(20))
def test_a_failure_in_every_node_of_branches_and_loops(batch: int) -> None:
    assert sum(check(seed, every=1) for seed in range(100 + batch * 10, 110 + batch * 10)) > 20
