"""Sizes that are known only when the graph runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model
from maxgraph.errors import ExecutionError, InputError, StateError
from maxgraph.graph import ops
from tests.runtime.graphs import CPU, I64, buffer, graph_of, tensor


def load(graph: Any, kind: str) -> Model:
    return InferenceSession().load(graph, reference=kind == "reference")


@pytest.fixture(params=["onnxruntime", "reference"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def adder(kind: str) -> Model:
    def body(x: Any, s: Any) -> Any:
        s[...] = s[...] + x
        return {"y": s[...], "wide": ops.concat([x, x], axis=0)}

    return load(graph_of(body, tensor(["n", 2]), buffer(["n", 2]), names=["x", "s"]), kind)


def test_sizes_change_from_call_to_call(kind: str) -> None:
    model = adder(kind)
    for size in (32, 1, 7, 0, 32, 40_000):
        memory, x = np.ones((size, 2), np.float32), np.full((size, 2), 2, np.float32)
        y, wide = model.execute(x, memory)
        assert wide.shape == (2 * size, 2)
        np.testing.assert_array_equal(y.to_numpy(), memory)
        np.testing.assert_array_equal(memory, np.full((size, 2), 3, np.float32))


def test_a_symbol_has_one_size(kind: str) -> None:
    model = adder(kind)
    memory = np.zeros((4, 2), np.float32)
    with pytest.raises(InputError, match="`n` is 3 by axis 0 of `x`, but 4 by axis 0 of `s`") as raised:
        model.execute(np.ones((3, 2), np.float32), memory)
    assert raised.value.code == "MG034"
    with pytest.raises(InputError, match="axis 1 of input `x` is 3, but 2 is wanted"):
        model.execute(np.ones((4, 3), np.float32), memory)
    with pytest.raises(InputError, match="input `x` has rank 1"):
        model.execute(np.ones(4, np.float32), memory)
    assert memory.max() == 0


def test_a_size_that_is_computed_is_checked_too(kind: str) -> None:
    model = load(graph_of(lambda x, y: {"z": x, "w": y}, tensor([4 * _n()]), tensor(["n"]), names=["x", "y"]), kind)
    model.execute(np.zeros(8, np.float32), np.zeros(2, np.float32))
    with pytest.raises(InputError, match="axis 0 of input `x` is 8, but 12 is wanted"):
        model.execute(np.zeros(8, np.float32), np.zeros(3, np.float32))


def _n() -> Any:
    from maxgraph.graph import Dim

    return Dim("n")


def test_a_condition_on_sizes_is_checked_before_anything_changes(kind: str) -> None:
    def body(x: Any, s: Any) -> Any:
        s[...] = s[...] + 1
        s[0:2] = x[0:2]
        return {}

    model = load(graph_of(body, tensor(["n"]), buffer(["n"]), names=["x", "s"]), kind)
    memory = np.zeros(1, np.float32)
    with pytest.raises(ExecutionError) as raised:
        model.execute(np.zeros(1, np.float32), memory)
    assert raised.value.code == "MG035"
    assert memory[0] == 0
    large = np.zeros(3, np.float32)
    model.execute(np.full(3, 5, np.float32), large)
    assert large.tolist() == [5, 5, 1]


def test_an_index_is_checked_against_the_size_of_the_call(kind: str) -> None:
    def body(at: Any, s: Any) -> Any:
        return {"row": s[at]}

    model = load(graph_of(body, tensor([], I64), buffer(["n", 2]), names=["at", "s"]), kind)
    for size in (3, 5):
        memory = np.arange(2 * size, dtype=np.float32).reshape(size, 2)
        assert model.execute(size - 1, memory)[0].to_numpy().tolist() == memory[-1].tolist()
        assert model.execute(-size, memory)[0].to_numpy().tolist() == memory[0].tolist()
        with pytest.raises(ExecutionError, match=f"size {size}"):
            model.execute(size, memory)


def test_an_output_whose_length_depends_on_data(kind: str) -> None:
    def body(stop: Any) -> Any:
        return {"r": ops.range(0, stop, 1, out_dim="len", dtype=DType.int64, device=CPU)}

    model = load(graph_of(body, tensor([], I64), names=["stop"]), kind)
    kept = [(size, model.execute(size)[0]) for size in (3, 0, 5, 1, 20_000)]
    for size, result in kept:
        assert result.to_numpy().tolist() == list(range(size))


# States -------------------------------------------------------------------------------------------------------------


def test_a_state_takes_its_size_from_the_first_call(kind: str) -> None:
    model = adder(kind)
    state = model.new_state()
    with pytest.raises(StateError, match="not known yet"):
        state.to_numpy("s")
    assert state.as_dict() == {}
    x = np.ones((3, 2), np.float32)
    for step in range(4):
        assert model.execute(x, state=state)[0].to_numpy()[0, 0] == step + 1
    with pytest.raises(InputError, match="`n` is 4 by axis 0 of `x`, but 3 by axis 0 of `s`"):
        model.execute(np.ones((4, 2), np.float32), state=state)
    assert state.to_numpy("s").shape == (3, 2)


def test_set_gives_another_size(kind: str) -> None:
    model = adder(kind)
    state = model.new_state()
    for size in (32, 1, 7):
        state.set("s", np.full((size, 2), size, np.float32))
        for step in range(3):
            y = model.execute(np.ones((size, 2), np.float32), state=state)[0]
            assert y.to_numpy().tolist() == [[size + step + 1] * 2] * size
    with pytest.raises(StateError, match="does not fit"):
        state.set("s", np.zeros((3, 3), np.float32))


def test_a_size_that_no_input_gives_must_be_set(kind: str) -> None:
    def body(s: Any) -> Any:
        s[...] = s[...] + 1
        return {}

    model = load(graph_of(body, buffer(["n"]), names=["s"]), kind)
    state = model.new_state()
    with pytest.raises(StateError, match=r"state\.set\('s', array\)"):
        model.execute(state=state)
    state.set("s", np.zeros(3, np.float32))
    model.execute(state=state)
    assert state.to_numpy("s").tolist() == [1, 1, 1]


def test_files_of_states_with_symbolic_sizes(kind: str, tmp_path: Path) -> None:
    model = adder(kind)
    state = model.new_state()
    state.save(tmp_path / "empty.safetensors")
    model.execute(np.ones((3, 2), np.float32), state=state)
    state.save(tmp_path / "three.safetensors")
    other = model.new_state()
    other.load(tmp_path / "empty.safetensors")
    other.load(tmp_path / "three.safetensors")
    assert model.execute(np.ones((3, 2), np.float32), state=other)[0].to_numpy()[0, 0] == 2


@pytest.mark.parametrize("indexed", [False, True], ids=["plain", "indexed"])
def test_a_buffer_whose_size_nothing_tells_is_refused(kind: str, indexed: bool) -> None:
    def body(at: Any, s: Any) -> Any:
        s[...] = s[...] + 1
        return {"y": s[at] if indexed else s[...]}

    model = load(graph_of(body, tensor([], I64), buffer(["n", 2]), names=["at", "s"]), kind)
    state = model.new_state()
    for _ in range(2):
        with pytest.raises(StateError, match="the size of buffer `s` is not known yet"):
            model.execute(0, state=state)
    assert state.as_dict() == {}
    state.set("s", np.ones((3, 2), np.float32))
    model.execute(0, state=state)
    assert state.to_numpy("s")[0, 0] == 2
