"""Lifetime: results never change later, the caller's arrays are the caller's, and nothing is left behind."""

from __future__ import annotations

import gc
import os
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maxgraph
from maxgraph.engine import InferenceSession
from maxgraph.errors import ExecutionError
from maxgraph.graph import Graph, ops
from tests.lower.programs import random_program
from tests.runtime.graphs import I64, Array, accumulator, buffer, counter, graph_of, store, tensor

LARGE = 128 * 1024  # bytes that are bound where they lie, not copied


def every_kind_of_result() -> Graph:
    """Outputs that are small, large, of a size that data decide, constant, and a buffer's old and new value."""

    def body(x: Any, big: Any, n: Any, s: Any) -> Any:
        old = s[...]
        s[...] = old + x
        return {
            "small": x * 2,
            "large": big + 1,
            "input": x,
            "large_input": big,
            "decided": ops.range(0, n, 1, out_dim="m", dtype=I64, device=s.device),
            "constant": ops.constant(np.arange(3, dtype=np.float32)),
            "old": old,
            "new": s[...],
        }

    types = [tensor([4]), tensor([LARGE // 4]), tensor([], I64), buffer([4])]
    return graph_of(body, *types, names=["x", "big", "n", "s"])


@pytest.mark.parametrize("kind", ["auto", "copied", "reference"])
@pytest.mark.parametrize("held", ["state", "caller"])
def test_results_never_change_and_arguments_neither(kind: str, held: str) -> None:
    """Sizes change from call to call, and whoever holds a result writes into it."""
    session = InferenceSession(buffers="auto" if kind == "reference" else kind)
    model = session.load(every_kind_of_result(), reference=kind == "reference")
    state, memory = model.new_state(), np.zeros(4, np.float32)
    rng = np.random.default_rng(0)
    kept: list[tuple[Array, bytes]] = []
    for step in range(12):
        x = rng.standard_normal(4).astype(np.float32)
        big = rng.standard_normal(LARGE // 4).astype(np.float32)
        given: list[Any] = [x, big, np.array(step % 5)]
        if held == "state":
            results = model.execute(*given, state=state)
        else:
            results = model.execute(*given, memory)
        arrays = [result.to_numpy() for result in results]
        kept += [(array, array.tobytes()) for array in (*arrays, *given)]
        for one in arrays:
            for other in (*given, memory, *(array for array in arrays if array is not one)):
                assert not np.shares_memory(one, other)
        arrays[0].fill(-7)  # a result is its owner's
        kept = [(array, array.tobytes() if array is arrays[0] else content) for array, content in kept]
    for array, content in kept:
        assert array.tobytes() == content


@pytest.mark.parametrize("seed", range(12))
def test_a_random_program_changes_its_buffers_only(seed: int) -> None:
    program = random_program(seed)
    model = InferenceSession().load(program.graph)
    arrays = {name: array.copy() for name, array in program.buffers.items()}
    before = [{name: array.tobytes() for name, array in feeds.items()} for feeds in program.steps]
    results: list[tuple[Array, bytes]] = []
    for feeds in (*program.steps, *program.steps):
        try:
            made = model(**feeds, **arrays)
        except ExecutionError:
            continue  # an index out of range
        results += [(one.to_numpy(), one.to_numpy().tobytes()) for one in made]
    for array, content in results:
        assert array.tobytes() == content
    for feeds, contents in zip(program.steps, before, strict=True):
        assert {name: array.tobytes() for name, array in feeds.items()} == contents


def test_read_only_arguments_are_taken_and_stay(tmp_path: Path) -> None:
    """A memory map, opened for reading, may be a tensor."""
    path = tmp_path / "row.npy"
    np.save(path, np.ones(4, np.float32))
    model = InferenceSession().load(store())
    row = np.load(path, mmap_mode="r")
    model.execute(row, 1, np.zeros((8, 4), np.float32))
    assert row.tolist() == [1] * 4


# Nothing is left behind -----------------------------------------------------------------------------------------------


def dropped(make: Callable[[], object]) -> bool:
    """Whether what is made goes away without the garbage collector's help."""
    gc.collect()
    gc.disable()
    try:
        ref = weakref.ref(make())
        return ref() is None
    finally:
        gc.enable()


def test_states_and_results_go_with_their_last_name() -> None:
    model = InferenceSession().load(accumulator())
    one = np.ones(3, np.float32)

    def used_state() -> object:
        state = model.new_state()
        model.execute(one, state=state)
        return state

    assert dropped(used_state)
    assert dropped(lambda: model.execute(one)[0])
    memory = np.zeros(4, np.float32)
    InferenceSession().load(counter()).execute(memory)
    ref = weakref.ref(memory)
    del memory
    assert ref() is None


def resident() -> int:
    """Bytes of this process in memory."""
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grows(work: Callable[[int], object], times: int) -> int:
    """By how many bytes the process grows in the second half, after the first one has warmed it up.

    Memory grows for other reasons too; what is left behind would be so each time, so the least of three counts.
    """
    least = 2**62
    for _ in range(3):
        sizes = []
        for _ in range(2):
            for number in range(times // 2):
                work(number)
            gc.collect()
            sizes.append(resident())
        least = min(least, sizes[1] - sizes[0])
        if least < 2**20:
            break
    return least


FORMS = ["state", "caller", "new array", "large", "failing", "checkpoint", "fork"]
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def runs(form: str) -> Callable[[int], object]:
    """One call of a form."""
    model = InferenceSession().load(every_kind_of_result())
    state, memory = model.new_state(), np.zeros(4, np.float32)
    x, big = np.ones(4, np.float32), np.ones(LARGE // 4, np.float32)
    rows = InferenceSession().load(store())

    def checkpoint(number: int) -> None:
        with state.checkpoint():
            model.execute(x, big, number % 7, state=state)

    def failing(_: int) -> None:
        with pytest.raises(ExecutionError):
            rows.execute(x, 100, np.zeros((8, 4), np.float32))

    return {
        "state": lambda number: model.execute(x, big, number % 7, state=state),
        "caller": lambda number: model.execute(x, big, number % 7, memory),
        "new array": lambda number: model.execute(x, big, number % 7, np.zeros(4, np.float32)),
        "large": lambda number: model.execute(x, np.ones(LARGE // 4, np.float32), number % 7, memory),
        "failing": failing,
        "checkpoint": checkpoint,
        "fork": lambda number: model.execute(x, big, number % 7, state=state.fork()),
    }[form]


def load_cycle(path: Path) -> Callable[[int], object]:
    """One model, read from its file, loaded, run and dropped."""
    one = np.ones(3, np.float32)

    def cycle(_: int) -> None:
        model = InferenceSession().load(path)
        model.execute(one)
        model.execute(one, state=model.new_state())

    return cycle


@linux
@pytest.mark.parametrize("form", FORMS)
def test_runs_leave_nothing_behind(form: str) -> None:
    assert grows(runs(form), 2_000) < 2 * 2**20


@linux
def test_loading_leaves_nothing_behind(tmp_path: Path) -> None:
    maxgraph.save(accumulator(), tmp_path / "a.maxg")
    assert grows(load_cycle(tmp_path / "a.maxg"), 60) < 4 * 2**20


@linux
@pytest.mark.nightly
@pytest.mark.parametrize("form", FORMS)
def test_a_hundred_thousand_runs_leave_nothing_behind(form: str) -> None:
    assert grows(runs(form), 200_000) < 2 * 2**20


@linux
@pytest.mark.nightly
def test_five_hundred_loads_leave_nothing_behind(tmp_path: Path) -> None:
    maxgraph.save(accumulator(), tmp_path / "a.maxg")
    assert grows(load_cycle(tmp_path / "a.maxg"), 1_000) < 4 * 2**20
