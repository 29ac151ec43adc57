"""Threads: one state serves one execution at a time, different states run at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from maxgraph.engine import InferenceSession
from maxgraph.engine.memory import Claim
from maxgraph.errors import StateInUseError
from tests.runtime.graphs import accumulator, buffer, counter, graph_of, tensor

THREADS = 4


def together(work: Callable[[int], Any]) -> list[Any]:
    """Runs work(0), work(1), ... in threads that start at once."""
    start = threading.Barrier(THREADS)

    def begin(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


@pytest.mark.parametrize("owned", [True, False])
def test_one_state_counts_right_or_says_that_it_is_in_use(owned: bool) -> None:
    def body(s: Any) -> Any:
        s[...] = s[...] + 1
        return {}

    size = 50_000
    model = InferenceSession().load(graph_of(body, buffer([size]), names=["s"]))
    state, memory = model.new_state(), np.zeros(size, np.float32)

    def work(_: int) -> int:
        done = 0
        while done < 50:
            try:
                if owned:
                    model.execute(state=state)
                else:
                    model.execute(memory)
                done += 1
            except StateInUseError:
                continue
        return done

    assert sum(together(work)) == 200
    total = state.to_numpy("s") if owned else memory
    assert total.min() == total.max() == 200


def test_states_of_their_own_run_at_once() -> None:
    model = InferenceSession().load(accumulator())
    states = [model.new_state() for _ in range(THREADS)]

    def work(number: int) -> None:
        for _ in range(100):
            model.execute(np.full(3, number, np.float32), state=states[number])

    together(work)
    assert [s.to_numpy("total")[0] for s in states] == [100 * n for n in range(THREADS)]
    assert [s.to_numpy("count") for s in states] == [100] * THREADS


def test_buffers_of_their_own_run_at_once() -> None:
    model = InferenceSession().load(counter())
    memories = [np.full(4, number, np.float32) for number in range(THREADS)]

    def work(number: int) -> list[float]:
        return [model.execute(memories[number])[0].to_numpy()[0] for _ in range(100)]

    assert together(work) == [list(range(n, n + 100)) for n in range(THREADS)]


def test_a_model_without_buffers_runs_at_once() -> None:
    model = InferenceSession().load(graph_of(lambda x: {"y": x * 2}, tensor([64])))

    def work(number: int) -> bool:
        x = np.full(64, number, np.float32)
        return all((model.execute(x)[0].to_numpy() == 2 * number).all() for _ in range(200))

    assert together(work) == [True] * THREADS


def test_a_state_in_use_can_neither_be_read_nor_changed() -> None:
    model = InferenceSession().load(accumulator())
    with model.state.exclusive():
        for call in (
            lambda: model.execute(np.zeros(3, np.float32)),
            lambda: model.state.to_numpy("total"),
            lambda: model.state.set("count", 1),
            model.state.reset,
            model.state.as_dict,
        ):
            with pytest.raises(StateInUseError, match="new_state"):
                call()
    assert model.state.to_numpy("count") == 0


def test_memory_in_use_is_known_to_every_model() -> None:
    model, reference = InferenceSession().load(counter()), InferenceSession().load(counter(), reference=True)
    memory = np.zeros(12, np.float32)
    start = memory.ctypes.data
    claim = Claim(((start + 24, start + 40),))
    claim.take()
    try:
        for one in (model, reference):
            one.execute(memory[:4])
            with pytest.raises(StateInUseError, match="memory of a buffer"):
                one.execute(memory[4:8])
    finally:
        claim.release()
    model.execute(memory[4:8])
    assert memory.tolist() == [2] * 4 + [1] * 4 + [0] * 4
