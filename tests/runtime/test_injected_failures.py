"""A run that fails in any node leaves every buffer as it was, or says which it may have changed and is not used on.

The failing nodes are real ones, put into the graph that onnxruntime executes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model
from maxgraph.engine.program import Program
from maxgraph.errors import ExecutionError, InternalError, MaxGraphError, StateError
from maxgraph.graph import ops
from maxgraph.lower.lowered import Risk
from tests.lower.programs import Program as Sample
from tests.lower.programs import random_program
from tests.runtime.graphs import CPU, I64, buffer, graph_of, tensor
from tests.runtime.injected import fail_after, fail_in, node_names, program_of

HOW = {"in": fail_in, "after": fail_after}


@contextmanager
def running(model: Model, program: Program) -> Iterator[None]:
    """The model runs another program meanwhile."""
    usual = model._executor
    model._executor = program
    try:
        yield
    finally:
        model._executor = usual


def changed_by(error: MaxGraphError) -> list[str]:
    """The buffers that an error says may have changed."""
    return dict(error.details).get("may have changed", "").split(", ")


def check(sample: Sample, how: Callable[[Model, str], Program], every: int) -> int:
    """Fails in every so manieth node; gives how often a buffer was left in doubt."""
    model = InferenceSession().load(sample.graph)
    lowered = program_of(model).lowered
    may_be_lost = {b.name for b in lowered.buffers if b.risk is Risk.NONE}  # no node that follows can really fail
    state = model.new_state()
    arrays = {name: array.copy() for name, array in sample.buffers.items()}
    for name, array in arrays.items():
        state.set(name, array)
    feeds = sample.steps[0]
    try:
        model(**feeds, state=state.fork())
    except ExecutionError:
        return 0  # an index of this program is out of range anyway
    before, doubts = state.as_dict(), 0
    for name in node_names(model)[::every]:
        with running(model, how(model, name)):
            with pytest.raises((InternalError, ExecutionError)) as raised:
                model(**feeds, state=state)
            lost = [n for n in changed_by(raised.value) if n]
            assert set(lost) == state.doubtful <= may_be_lost, (sample.seed, name)
            for buffer_name, array in before.items():
                if buffer_name not in lost:
                    np.testing.assert_array_equal(state.cell(buffer_name).allocate({}), array)
            if arrays and not any(info.state for info in sample.graph.buffers):
                held = {n: a.copy() for n, a in arrays.items()}
                with pytest.raises((InternalError, ExecutionError)) as raised:
                    model(**feeds, **held)
                for buffer_name, array in held.items():
                    if buffer_name not in changed_by(raised.value):
                        np.testing.assert_array_equal(array, before[buffer_name])
        if lost:
            doubts += 1
            with pytest.raises(StateError, match="half change") as refused:
                model(**feeds, state=state)
            assert refused.value.code == "MG048"
            for buffer_name in lost:
                state.set(buffer_name, before[buffer_name])
        fork = state.fork()
        wanted = model.new_state()
        for buffer_name, array in before.items():
            wanted.set(buffer_name, array)
        for one in (fork, wanted):
            model(**feeds, state=one)
        for buffer_name, array in wanted.items():
            np.testing.assert_array_equal(fork.to_numpy(buffer_name), array)
    return doubts


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("seed", range(20))
def test_a_failure_in_some_nodes_of_a_random_program(seed: int, how: str) -> None:
    check(random_program(seed, steps=1), HOW[how], every=4)


def blocks(kind: str) -> Sample:
    """Stores before, inside and after a branch or a loop; the store before is to a part, the one inside to more."""

    def body(x: Any, at: Any, flag: Any, a: Any, b: Any) -> Any:
        a[at] = x

        def change() -> Any:
            a[...] = a[...] * 2 + x
            b[1] = a[0]
            return ops.tanh(a[...] @ a[...])

        if kind == "cond":
            (shown,) = ops.cond(flag, [tensor([3, 3])], change, lambda: a[...])
        else:
            count = ops.constant(0, I64, CPU)

            def again(n: Any, _: Any) -> Any:
                return n < 3

            def step(n: Any, _: Any) -> Any:
                return n + 1, change()

            _, shown = ops.while_loop([count, a[...]], again, step)
        b[at] = x
        return {"shown": shown, "sum": ops.tanh(shown @ a[...])}

    types = [tensor([3]), tensor([], I64), tensor([], DType.bool), buffer([3, 3]), buffer([3, 3])]
    graph = graph_of(body, *types, names=["x", "at", "flag", "a", "b"])
    rng = np.random.default_rng(0)
    arrays = {name: rng.standard_normal((3, 3)).astype(np.float32) for name in "ab"}
    feeds = [{"x": np.ones(3, np.float32), "at": np.array(2), "flag": np.array(flag)} for flag in (True, False)]
    return Sample(0, graph, arrays, feeds)


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", ["cond", "while_loop"])
def test_a_failure_around_branches_and_loops(kind: str, how: str, flag: bool) -> None:
    sample = blocks(kind)
    feeds = next(feeds for feeds in sample.steps if bool(feeds["flag"]) is flag)
    check(Sample(0, sample.graph, sample.buffers, [feeds]), HOW[how], every=1)


@pytest.mark.nightly
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("seed", range(100, 400))
def test_a_failure_in_every_node_of_a_random_program(seed: int, how: str) -> None:
    check(random_program(seed, steps=1), HOW[how], every=1)
