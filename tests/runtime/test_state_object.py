"""States as objects: whose program they are, forks, checkpoints, and changes that happen whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import maxgraph
from maxgraph.engine import InferenceSession, Model, State
from maxgraph.errors import StateError
from maxgraph.format import open_file
from maxgraph.graph import Graph, ops
from tests.runtime.graphs import F32, I64, accumulator, buffer, graph_of, product, tensor

ONE = np.ones(3, np.float32)


def load(graph: Graph, kind: str) -> Model:
    if kind == "reference":
        return InferenceSession().load(graph, reference=True)
    return InferenceSession(buffers=kind).load(graph)


@pytest.fixture(params=["auto", "copied", "reference"])
def model(request: pytest.FixtureRequest) -> Model:
    return load(accumulator(), request.param)


def growing() -> Graph:
    """Two buffers of one symbolic size, and one of a fixed size."""

    def body(x: Any, a: Any, b: Any, c: Any) -> Any:
        a[...] = a[...] + x
        b[...] = b[...] * 2 + a[...]
        c[...] = c[...] + 1
        return {}

    types = [tensor(["n"]), buffer(["n"]), buffer(["n"]), buffer([2])]
    return graph_of(body, *types, names=["x", "a", "b", "c"])


def contents(state: State) -> dict[str, list[Any]]:
    return {name: array.tolist() for name, array in state.as_dict().items()}


# Programs -----------------------------------------------------------------------------------------------------------


def trained(initial: float, *, comment: bool = False) -> Graph:
    def body(x: Any) -> Any:
        total = ops.buffer_create(buffer([3]), np.full(3, initial, np.float32), name="total")
        if comment:  # the same program from another line
            total[...] = total[...] + x
        else:
            total[...] = total[...] + x
        return {"sum": total[...]}

    return graph_of(body, tensor([3]), names=["x"])


def scaled() -> Graph:
    def body(x: Any) -> Any:
        total = ops.buffer_create(buffer([3]), np.zeros(3, np.float32), name="total")
        total[...] = total[...] * 2 + x
        return {"sum": total[...]}

    return graph_of(body, tensor([3]), names=["x"])


@pytest.mark.parametrize("strip_debug", [True, False])
@pytest.mark.parametrize("make", [accumulator, growing, product, scaled])
def test_a_graph_has_the_hash_of_its_file(make: Any, strip_debug: bool, tmp_path: Path) -> None:
    path = tmp_path / "g.maxg"
    maxgraph.save(make(), path, strip_debug=strip_debug, metadata={"license": "MIT"})
    wanted = maxgraph.program_hash(make())
    assert wanted == open_file(path).program_hash
    assert wanted == maxgraph.program_hash(maxgraph.load(path))
    assert len(wanted) == 64


def test_weights_and_lines_are_no_part_of_the_program_and_ops_are() -> None:
    assert maxgraph.program_hash(trained(0.0)) == maxgraph.program_hash(trained(7.0, comment=True))
    assert maxgraph.program_hash(trained(0.0)) != maxgraph.program_hash(scaled())


def test_a_state_of_another_program_is_refused_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "s.safetensors"
    state = State(scaled())
    state.set("total", ONE * 4)
    state.save(path)
    with safe_open(path, "np") as file:
        assert file.metadata()["program"] == maxgraph.program_hash(scaled()) == state.program
    other = InferenceSession().load(trained(1.0)).new_state()
    with pytest.raises(StateError, match="is a state of another program") as raised:
        other.load(path)
    assert raised.value.code == "MG038"
    assert "any_program=True" in str(raised.value)
    assert other.to_numpy("total").tolist() == [1, 1, 1]
    other.load(path, any_program=True)
    assert other.to_numpy("total").tolist() == [4, 4, 4]
    same = State(scaled())
    same.load(path)
    assert same.to_numpy("total").tolist() == [4, 4, 4]


def test_told_or_not_every_buffer_must_fit(tmp_path: Path) -> None:
    path = tmp_path / "s.safetensors"
    State(accumulator()).save(path)
    state = State(trained(3.0))
    with pytest.raises(StateError, match="no buffer `count`"):
        state.load(path, any_program=True)
    assert state.to_numpy("total").tolist() == [3, 3, 3]


@pytest.mark.parametrize("bad", ["a", "b", "c"])
@pytest.mark.parametrize("fault", ["dtype", "rank", "size"])
def test_a_load_with_one_bad_buffer_changes_none(bad: str, fault: str, tmp_path: Path) -> None:
    values = {name: np.arange(2, dtype=np.float32) + 5 for name in "abc"}
    values[bad] = {
        "dtype": values[bad].astype(np.float64),
        "rank": values[bad].reshape(1, 2),
        "size": np.zeros(3, np.float32),
    }[fault]
    save_file(values, tmp_path / "s.safetensors")
    state = State(growing())
    state.set("a", np.ones(4, np.float32))
    before = contents(state)
    with pytest.raises(StateError) as raised:
        state.load(tmp_path / "s.safetensors")
    assert raised.value.code == "MG037"
    assert contents(state) == before


def test_a_restored_state_knows_no_more_than_the_saved_one(tmp_path: Path) -> None:
    """A buffer whose size was not known is without one again, though it had grown in the meantime."""
    model = InferenceSession().load(growing())
    state = model.new_state()
    state.save(tmp_path / "s.safetensors")
    model.execute(np.ones(3, np.float32), state=state)
    state.load(tmp_path / "s.safetensors")
    assert contents(state) == {"c": [0, 0]}
    model.execute(np.ones(5, np.float32), state=state)
    assert contents(state) == {"a": [1] * 5, "b": [1] * 5, "c": [1, 1]}


# Forks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [accumulator, growing])
@pytest.mark.parametrize("kind", ["auto", "copied", "reference"])
def test_a_fork_goes_its_own_way(graph: Any, kind: str) -> None:
    model = load(graph(), kind)
    state = model.new_state()
    early = state.fork()  # before any memory is there
    model.execute(ONE, state=state)
    fork = state.fork()
    there = contents(state)
    assert contents(fork) == there
    model.execute(ONE * 2, state=fork)
    assert contents(state) == there
    moved = contents(fork)
    assert moved != there
    model.execute(ONE, state=state)
    assert contents(fork) == moved
    model.execute(ONE, state=early)
    assert contents(early) == there
    fork.reset()
    assert contents(fork)["count" if graph is accumulator else "c"] in (0, [0, 0])


def test_a_fork_keeps_the_initial_values_and_the_program() -> None:
    weights = {"total": ONE * 9}
    graph = accumulator()
    name = next(i.state.initial for i in graph.buffers if i.state and i.name == "total")
    model = InferenceSession().load(graph, weights_registry={str(name): weights["total"]})
    fork = model.state.fork()
    fork.set("total", ONE)
    fork.reset("total")
    assert fork.to_numpy("total").tolist() == [9, 9, 9]
    assert fork.program == model.state.program == maxgraph.program_hash(graph)


# Checkpoints --------------------------------------------------------------------------------------------------------


class Stop(BaseException):
    """Not even an Exception."""


def broken_off(state: State, work: Callable[[], object], stop: type[BaseException] = ZeroDivisionError) -> None:
    """A checkpoint whose block does some work and then ends by an exception."""

    def block() -> None:
        with state.checkpoint() as same:
            assert same is state
            work()
            raise stop

    with pytest.raises(stop):
        block()


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt, Stop])
@pytest.mark.parametrize("graph", [accumulator, growing, product])
@pytest.mark.parametrize("kind", ["auto", "copied", "reference"])
def test_a_checkpoint_restores_everything(graph: Any, kind: str, stop: type[BaseException]) -> None:
    model = load(graph(), kind)
    x = np.eye(3, dtype=np.float32) * 2 if graph is product else ONE
    for steps_before in (0, 1, 2):
        state = model.new_state()
        for _ in range(steps_before):
            model.execute(x, state=state)
        before = contents(state)

        def work(state: State = state) -> None:
            model.execute(x, state=state)
            for name in state.names:
                state.set(name, state.to_numpy(name) + 1)
            model.execute(x, state=state)

        broken_off(state, work, stop)
        assert contents(state) == before
        other = state.fork()
        model.execute(x, state=state)
        model.execute(x, state=other)
        assert contents(state) == contents(other)


def test_a_checkpoint_that_ends_well_changes_nothing(model: Model) -> None:
    state = model.new_state()
    with state.checkpoint():
        model.execute(ONE, state=state)
    assert contents(state) == {"total": [1, 2, 3], "count": 1}


def test_sizes_that_grew_inside_a_checkpoint_are_forgotten() -> None:
    model = InferenceSession().load(growing())
    state = model.new_state()
    broken_off(state, lambda: model.execute(np.ones(3, np.float32), state=state))
    assert contents(state) == {"c": [0, 0]}
    model.execute(np.ones(7, np.float32), state=state)
    state.set("a", np.zeros(4, np.float32))
    state.set("b", np.zeros(4, np.float32))
    broken_off(state, lambda: state.set("a", np.zeros(9, np.float32)))
    assert len(state.to_numpy("a")) == 4


def test_checkpoints_nest(model: Model) -> None:
    state = model.new_state()
    with state.checkpoint():
        model.execute(ONE, state=state)
        broken_off(state, lambda: model.execute(ONE, state=state))
        model.execute(ONE, state=state)
    assert state.to_numpy("count") == 2


# Changes that run out of memory ---------------------------------------------------------------------------------------


def test_a_load_that_runs_out_of_memory_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = State(growing())
    for name in "ab":
        other.set(name, np.ones(6, np.float32))
    other.save(tmp_path / "s.safetensors")
    state = State(growing())
    for name in "ab":
        state.set(name, np.zeros(4, np.float32))
    before = contents(state)
    made = []

    def copy(value: Any) -> Any:
        made.append(value)
        if len(made) == 2:
            raise MemoryError
        return np.array(value)

    monkeypatch.setattr("maxgraph.engine.state.own_copy", copy)
    with pytest.raises(MemoryError):
        state.load(tmp_path / "s.safetensors")
    assert contents(state) == before


def test_every_element_type_and_bit_is_kept_by_a_fork_and_a_checkpoint() -> None:
    bits = np.array([0x7FC00001, 0x80000000, 0x00000001], np.uint32).view(np.float32)
    state = State(graph_of(lambda s, t: {}, buffer([3], F32), buffer([], I64), names=["s", "t"]))
    state.set("s", bits)
    broken_off(state, state.reset)
    assert state.to_numpy("s").tobytes() == state.fork().to_numpy("s").tobytes() == bits.tobytes()
