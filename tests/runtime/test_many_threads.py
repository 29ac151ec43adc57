"""Eight threads: different states run at once and right; one state is refused at once; nothing is lost on the way."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maxgraph.engine import InferenceSession, Model
from maxgraph.errors import StateInUseError
from maxgraph.graph import Graph
from tests.runtime.graphs import Array, accumulator, buffer, graph_of, product, store, tensor

THREADS = 8
RUNS = 10_000


def together(work: Callable[[int], Any]) -> list[Any]:
    """Runs work(0), work(1), ... in threads that start at once."""
    start = threading.Barrier(THREADS)

    def begin(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


def feeds(graph: Graph, number: int) -> list[Any]:
    """Arguments that differ from thread to thread."""
    rng = np.random.default_rng(number)
    shapes = [[int(dim) for dim in i.value.type.shape] for i in graph.signature if i.name in ("x", "w", "row")]
    values: list[Any] = [rng.standard_normal(shape).astype(np.float32) * 0.5 for shape in shapes]
    return [*values, number] if any(info.name == "at" for info in graph.signature) else values


@pytest.mark.parametrize("kind", ["auto", "copied"])
def test_ten_thousand_runs_on_states_of_their_own(kind: str) -> None:
    """Three programs: stores in place, a store of a row, and a buffer of two memories that are exchanged."""
    models = [InferenceSession(buffers=kind).load(graph()) for graph in (accumulator, store, product)]
    steps = RUNS // THREADS // len(models) + 1

    def work(number: int, steps: int = steps) -> list[dict[str, Array]]:
        states = [model.new_state() for model in models]
        if "s" in states[2].names:
            states[2].set("s", np.eye(3, dtype=np.float32))
        arguments = [feeds(model.graph, number) for model in models]
        for _ in range(steps):
            for model, state, given in zip(models, states, arguments, strict=True):
                model.execute(*given, state=state)
        return [state.as_dict() for state in states]

    found = together(work)
    for number, states in enumerate(found):
        for one, alone in zip(states, work(number), strict=True):
            for name, array in alone.items():
                np.testing.assert_array_equal(one[name], array)


def test_one_state_for_everybody(tmp_path: Path) -> None:
    """Whatever eight threads do with one state is done whole, or refused; every value in it is one that was made."""
    model = InferenceSession().load(accumulator())
    reference = InferenceSession().load(accumulator(), reference=True)
    state = model.new_state()
    one = np.ones(3, np.float32)
    seen: list[Array] = []

    def replace() -> None:
        with state.checkpoint():
            state.set("count", 0)

    def calls(number: int) -> dict[str, Callable[[], object]]:
        path = tmp_path / f"{number}.safetensors"
        state_of_its_own = model.new_state()
        state_of_its_own.save(path)
        return {
            "execute": lambda: model.execute(one, state=state),
            "reference": lambda: reference.execute(one, state=state),
            "read": lambda: seen.append(state.to_numpy("total")),
            "fork": lambda: seen.append(state.fork().to_numpy("total")),
            "save": lambda: state.save(path),
            "load": lambda: state.load(path),
            "set": lambda: state.set("total", one * 100),
            "reset": state.reset,
            "checkpoint": replace,
        }

    def work(number: int) -> Counter[str]:
        done: Counter[str] = Counter()
        rng = random.Random(number)
        kinds = calls(number)
        for _ in range(RUNS // THREADS // 4):
            kind = rng.choice([*kinds, "execute", "execute"])
            try:
                kinds[kind]()
                done[kind] += 1
            except StateInUseError:
                done["refused"] += 1
        return done

    total = sum(together(work), Counter())
    assert sum(total.values()) == RUNS // 4 // THREADS * THREADS
    assert all(total[kind] for kind in calls(0)), total
    for array in [*seen, state.to_numpy("total")]:
        # From 0, 1, 2 or from 100, 100, 100 the same has been added to each.
        assert (np.diff(array) == array[1] - array[0]).all()
        assert array[1] - array[0] in (0, 1)
    assert not state.doubtful


def slow() -> Graph:
    """A step of some milliseconds."""

    def body(x: Any, s: Any) -> Any:
        value = s[...]
        for _ in range(6):
            value = (value @ x) * 0.5
        s[...] = value
        return {"y": value}

    return graph_of(body, tensor([256, 256]), buffer([256, 256]), names=["x", "s"])


@pytest.mark.parametrize("held", ["state", "caller"])
def test_a_state_in_use_is_refused_at_once_whatever_is_wanted(held: str, tmp_path: Path) -> None:
    """The run is really on: onnxruntime works meanwhile in another thread."""
    model = InferenceSession().load(slow())
    state = model.new_state()
    memory, x = np.ones((256, 256), np.float32), np.eye(256, dtype=np.float32)
    other = model.new_state()
    other.save(tmp_path / "o.safetensors")
    stop, failed = threading.Event(), []

    def run() -> None:
        while not stop.is_set():
            try:
                if held == "state":
                    model.execute(x, state=state)
                else:
                    model.execute(x, memory)
            except StateInUseError:
                failed.append("lost the race")

    uses: list[Callable[[], object]] = [lambda: model.execute(x, memory)]
    if held == "state":
        uses = [
            lambda: model.execute(x, state=state),
            lambda: state.to_numpy("s"),
            lambda: state.set("s", memory),
            lambda: state.load(tmp_path / "o.safetensors"),
            lambda: state.save(tmp_path / "s.safetensors"),
            state.reset,
            state.fork,
            state.as_dict,
        ]
    thread = threading.Thread(target=run)
    thread.start()
    try:
        for use in uses:
            for _ in range(2000):
                try:
                    use()
                except StateInUseError:
                    break
            else:
                pytest.fail("it was never refused")
            model.execute(x, state=other)  # another state is free all the time
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("held", ["state", "caller"])
def test_everything_may_be_dropped_while_a_run_is_on(held: str) -> None:
    def start() -> tuple[threading.Thread, list[Array], weakref.ref[Model]]:
        session = InferenceSession()
        model = session.load(slow())
        state = model.new_state()
        state.set("s", np.eye(256, dtype=np.float32) * 64)
        memory = np.eye(256, dtype=np.float32) * 64
        x = np.eye(256, dtype=np.float32)
        results: list[Array] = []
        begun = threading.Event()

        def run(model: Model | None, state: Any, memory: Array) -> None:
            begun.set()
            assert model is not None
            made = model.execute(x, state=state) if held == "state" else model.execute(x, memory)
            del model, state, memory
            results.append(made[0].to_numpy())

        thread = threading.Thread(target=run, args=(model, state, memory))
        thread.start()
        begun.wait()
        return thread, results, weakref.ref(model)

    for _ in range(5):
        thread, results, model = start()
        gc.collect()
        thread.join()
        del thread
        gc.collect()
        assert model() is None
        np.testing.assert_array_equal(results[0], np.eye(256, dtype=np.float32))
