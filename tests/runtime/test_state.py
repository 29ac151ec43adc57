"""States: what they begin with, whose they are, reset, saved and restored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from maxgraph.driver import Buffer
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model, State
from maxgraph.errors import InputError, InputTypeError, StateError
from maxgraph.graph import ops
from tests.runtime.graphs import F32, I64, accumulator, buffer, counter, graph_of, product, store, tensor

ONE = np.ones(3, np.float32)


def load(graph: Any, kind: str) -> Model:
    if kind == "reference":
        return InferenceSession().load(graph, reference=True)
    return InferenceSession(buffers=kind).load(graph)


@pytest.fixture(params=["auto", "copied", "reference"])
def model(request: pytest.FixtureRequest) -> Model:
    return load(accumulator(), request.param)


def sums(model: Model, steps: int, state: State | None = None) -> list[list[float]]:
    return [model.execute(ONE, state=state)[0].to_numpy().tolist() for _ in range(steps)]


def test_buffers_that_the_model_owns_live_on(model: Model) -> None:
    assert sums(model, 2) == [[1, 2, 3], [2, 3, 4]]
    assert model.state.to_numpy("total").tolist() == [2, 3, 4]
    assert model.state.to_numpy("count") == 2
    model.state.reset("total")
    assert sums(model, 1) == [[1, 2, 3]]
    assert model.state.to_numpy("count") == 3
    model.state.reset()
    assert model.state.as_dict()["count"] == 0
    assert sums(model, 1) == [[1, 2, 3]]


def test_reset_before_the_first_run(model: Model) -> None:
    model.state.reset()
    assert sums(model, 1) == [[1, 2, 3]]


def test_states_are_apart(model: Model) -> None:
    a, b = model.new_state(), State(model)
    assert sums(model, 3, a)[-1] == [3, 4, 5]
    assert sums(model, 1, b) == [[1, 2, 3]]
    assert sums(model, 1) == [[1, 2, 3]]
    assert sums(model, 1, a) == [[4, 5, 6]]


def test_two_models_of_one_graph_are_apart() -> None:
    graph = accumulator()
    a, b = InferenceSession().load(graph), InferenceSession().load(graph)
    sums(a, 3)
    assert sums(b, 1) == [[1, 2, 3]]
    assert sums(a, 1) == [[4, 5, 6]]


def test_initial_bits_are_kept() -> None:
    first = np.array([np.nan, -0.0, np.inf, 1e-45], np.float32)

    def body() -> Any:
        s = ops.buffer_create(buffer([4]), first, name="s")
        return {"y": s[...]}

    model = InferenceSession().load(graph_of(body))
    assert model.execute()[0].to_numpy().tobytes() == first.tobytes()
    assert State(model).to_numpy("s").tobytes() == first.tobytes()


def test_scratch_is_zero_at_each_start_and_no_state() -> None:
    for kind in ("auto", "copied", "reference"):

        def body(x: Any) -> Any:
            scratch = ops.buffer_create(buffer([3]), name="scratch")
            before = scratch[...]
            scratch[0:2] = x[0:2]
            return {"before": before, "after": scratch[...]}

        model = load(graph_of(body, tensor([3])), kind)
        assert model.buffers == model.state.names == []
        for _ in range(2):
            before, after = model.execute(ONE)
            assert before.to_numpy().tolist() == [0, 0, 0]
            assert after.to_numpy().tolist() == [1, 1, 0]


@pytest.mark.parametrize("kind", ["auto", "copied", "reference"])
def test_a_state_holds_the_callers_buffers_too(kind: str) -> None:
    model = load(store(), kind)
    state = model.new_state()
    row = np.ones(4, np.float32)
    assert state.names == ["cache"]
    assert model.execute(row, 1, state=state)[0].to_numpy().tolist() == [0, 0, 0, 0]
    assert model.execute(row * 2, 1, state=state)[0].to_numpy().tolist() == [1, 1, 1, 1]
    assert model(row * 3, state=state, at=-7)[0].to_numpy().tolist() == [2, 2, 2, 2]
    assert state.to_numpy("cache")[:, 0].tolist() == [0, 3, 0, 0, 0, 0, 0, 0]
    assert model.state.to_numpy("cache").max() == 0
    with pytest.raises(InputError, match="takes 2 arguments, but 3 were given"):
        model.execute(row, 1, np.zeros((8, 4), np.float32), state=state)


@pytest.mark.parametrize("kind", ["auto", "copied", "reference"])
def test_a_state_of_a_buffer_that_cannot_be_changed_in_place(kind: str) -> None:
    model = load(product(), kind)
    w = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.float32)
    state = model.new_state()
    state.set("s", np.arange(9, dtype=np.float32).reshape(3, 3))
    expected = np.arange(9, dtype=np.float32).reshape(3, 3)
    for step in range(5):
        model.execute(w, state=state)
        expected = expected @ w
        np.testing.assert_array_equal(state.to_numpy("s"), expected)
        if step == 2:
            state.set("s", expected + 1)  # in whichever of the two memories it lies
            expected = expected + 1


def test_a_state_moves_between_models_of_one_graph() -> None:
    models = [load(product(), kind) for kind in ("auto", "copied", "reference")]
    w = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.float32)
    expected = np.arange(9, dtype=np.float32).reshape(3, 3)
    state = models[0].new_state()
    state.set("s", expected)
    for step in range(9):
        models[step % 3].execute(w, state=state)
        expected = expected @ w
    np.testing.assert_array_equal(state.to_numpy("s"), expected)


# What is set and read -----------------------------------------------------------------------------------------------


def test_what_is_read_and_set_is_a_copy(model: Model) -> None:
    state = model.new_state()
    array = np.array([5, 6, 7], np.float32)
    state.set("total", array)
    array[...] = 0
    seen = state.to_numpy("total")
    seen[...] = 0
    assert dict(state.items())["total"].tolist() == [5, 6, 7]
    state.set("total", Buffer.from_numpy(ONE.copy()))
    state.set("count", 7)
    state.set("total", np.array([1, 2, 3, 4, 5, 6], np.float32)[::2])
    assert state.as_dict()["total"].tolist() == [1, 3, 5]
    assert state.as_dict()["count"] == 7
    assert "total" in state
    assert "total: buffer float32[3]" in repr(state)


@pytest.mark.parametrize(
    "value", [np.zeros(3), np.zeros(4, np.float32), np.zeros((3, 1), np.float32), np.zeros(3, ">f4")]
)
def test_a_value_that_does_not_fit_is_refused(model: Model, value: Any) -> None:
    with pytest.raises(StateError, match="does not fit buffer `total`") as raised:
        model.state.set("total", value)
    assert raised.value.code == "MG037"
    assert model.state.to_numpy("total").tolist() == [0, 1, 2]


def test_unknown_names_are_refused(model: Model) -> None:
    for call in (
        lambda: model.state.reset("totl"),
        lambda: model.state.to_numpy("totl"),
        lambda: model.state.set("totl", ONE),
    ):
        with pytest.raises(StateError, match=r"no buffer `totl`[\s\S]*did you mean `total`"):
            call()


def test_a_state_of_another_graph_is_refused(model: Model) -> None:
    with pytest.raises(StateError, match="buffer `total` differs") as raised:
        model.execute(ONE, state=State(counter()))
    assert raised.value.code == "MG037"
    with pytest.raises(InputTypeError, match="not dict"):
        model.execute(ONE, state={})  # type: ignore[arg-type]  # the mistake that is tested
    other = InferenceSession().load(counter(DType.int32))
    with pytest.raises(StateError, match=r"the state has\s+buffer float32\[4\]"):
        other.execute(state=State(counter()))


def test_pairing_is_by_identity() -> None:
    """Names that sort otherwise than they are declared, and outputs that sort otherwise than the buffers."""
    names = ["z", "cache_len", "cache", "b/s", "a"]

    def body(*buffers: Any) -> Any:
        outputs = {}
        for number, (name, s) in enumerate(zip(names, buffers, strict=True)):
            s[...] = s[...] * 2 + number
            outputs[f"o{9 - number}{name[0]}"] = s[...]
        return outputs

    model = InferenceSession().load(graph_of(body, *(buffer([2]) for _ in names), names=names))
    arrays = [np.full(2, number, np.float32) for number in range(5)]
    for _ in range(3):
        model.execute(*arrays)
    assert [array[0] for array in arrays] == [8 * n + 7 * n for n in range(5)]


def test_a_buffer_is_never_folded() -> None:
    """One element, an initial value, changed only by a slice: the second run sees the first one's store."""

    def body(x: Any) -> Any:
        s = ops.buffer_create(buffer([1]), 0.0, name="s")
        old = s[...]
        s[0:1] = s[0:1] + x
        return {"old": old}

    for optimization in ("all", "none"):
        model = InferenceSession(optimization=optimization).load(graph_of(body, tensor([1])))
        one = np.ones(1, np.float32)
        assert [model.execute(one)[0].item() for _ in range(3)] == [0, 1, 2]


# Files --------------------------------------------------------------------------------------------------------------


def test_a_state_restored_goes_on_bit_for_bit(model: Model, tmp_path: Path) -> None:
    straight = sums(model, 4, model.new_state())
    state = model.new_state()
    sums(model, 3, state)
    state.save(tmp_path / "s.safetensors")
    again = model.new_state()
    again.load(tmp_path / "s.safetensors")
    assert sums(model, 1, again)[0] == straight[3]
    assert list(tmp_path.iterdir()) == [tmp_path / "s.safetensors"]
    with safe_open(tmp_path / "s.safetensors", "np") as file:
        assert file.metadata()["graph"] == "g"
        assert file.metadata()["producer"].startswith("maxgraph ")


def test_npz_is_read_and_not_written(model: Model, tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", total=ONE * 9, count=np.array(4))
    model.state.load(tmp_path / "s.npz")
    assert model.state.as_dict()["total"].tolist() == [9, 9, 9]
    with pytest.raises(StateError, match=r"name it s\.safetensors"):
        model.state.save(tmp_path / "s.npz")


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"total": ONE}, r"has no buffer `count`"),
        ({"total": ONE, "conut": np.array(1)}, r"no buffer `conut`[\s\S]*did you mean `count`"),
        ({"total": ONE, "count": np.array(1.5)}, r"`count`[\s\S]*wanted\s+buffer int64\[\][\s\S]*given\s+float64"),
        ({"total": np.ones(4, np.float32), "count": np.array(1)}, r"`total`[\s\S]*given\s+float32\[4\]"),
    ],
)
def test_a_file_that_does_not_fit_changes_nothing(model: Model, tmp_path: Path, arrays: Any, text: str) -> None:
    save_file(arrays, tmp_path / "s.safetensors")
    with pytest.raises(StateError, match=text):
        model.state.load(tmp_path / "s.safetensors")
    assert model.state.to_numpy("total").tolist() == [0, 1, 2]


@pytest.mark.parametrize("content", [b"", b"PK", b"junk", b"\x08\0\0\0\0\0\0\0{}", b"PK\3\4" + bytes(60)])
def test_a_file_of_another_kind_is_refused(model: Model, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(StateError):
        model.state.load(tmp_path / "s")


def test_pickles_are_never_loaded(model: Model, tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", total=np.array([object()], object), count=np.array(1))
    with pytest.raises(StateError, match="no state file"):
        model.state.load(tmp_path / "s.npz")


def test_files_that_cannot_be_opened(model: Model, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="No such file"):
        model.state.load(tmp_path / "none")
    with pytest.raises(StateError, match="cannot write"):
        model.state.save(tmp_path / "no folder" / "s.safetensors")


@pytest.mark.parametrize("dtype", [DType.bfloat16, DType.float16, DType.float8_e4m3fn, DType.bool, DType.uint8])
def test_files_keep_every_element_type(dtype: DType, tmp_path: Path) -> None:
    graph = graph_of(lambda s: {}, buffer([2, 3], dtype), names=["s"])
    state = State(graph)
    state.set("s", np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype.to_numpy()))
    state.save(tmp_path / "s.safetensors")
    other = State(graph)
    other.load(tmp_path / "s.safetensors")
    np.testing.assert_array_equal(other.to_numpy("s"), state.to_numpy("s"))


def test_rank_0_and_no_elements_in_files(tmp_path: Path) -> None:
    graph = graph_of(lambda a, b: {}, buffer([], I64), buffer([0, 4], F32), names=["a", "b"])
    state = State(graph)
    state.set("a", 5)
    state.save(tmp_path / "s.safetensors")
    state.reset()
    state.load(tmp_path / "s.safetensors")
    assert state.to_numpy("a") == 5
    assert state.to_numpy("b").shape == (0, 4)
