"""Outputs: right, the caller's own, and never changed by a later call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model
from maxgraph.graph import ops
from tests.runtime.graphs import F32, buffer, counter, graph_of, tensor

SESSIONS = {
    "auto": InferenceSession(),
    "copied": InferenceSession(buffers="copied"),
    "plain": InferenceSession(optimization="none", num_threads=2),
}


@pytest.fixture(params=[*SESSIONS, "reference"])
def session(request: pytest.FixtureRequest) -> Any:
    """`load` of one of the sessions."""

    def load(graph: Any) -> Model:
        if request.param == "reference":
            return SESSIONS["auto"].load(graph, reference=True)
        return SESSIONS[request.param].load(graph)

    return load


#: Elements of a tensor that is copied in and out, and of one that is bound where it lies.
SIZES = [4, 100_000]


@pytest.mark.parametrize("size", SIZES)
def test_returned_arrays_never_change_and_share_nothing(session: Any, size: int) -> None:
    def body(x: Any, s: Any) -> Any:
        old = s[...]
        s[...] = old + x
        return {"x": x, "old": old, "new": s[...], "twice": x, "sum": old + x}

    model = session(graph_of(body, tensor([size]), buffer([size]), names=["x", "s"]))
    memory = np.zeros(size, np.float32)
    kept: list[tuple[Any, Any]] = []
    for step in range(3):
        x = np.full(size, step + 1, np.float32)
        for result in model.execute(x, memory):
            array = result.to_numpy()
            assert not np.shares_memory(array, x)
            assert not np.shares_memory(array, memory)
            assert not any(np.shares_memory(array, other) for other, _ in kept)
            kept.append((array, array.copy()))
        x[...] = -1
    for array, copy in kept:
        np.testing.assert_array_equal(array, copy)
    assert [array[0] for array, _ in kept] == [1, 0, 1, 1, 1, 2, 1, 3, 2, 3, 3, 3, 6, 3, 6]
    kept[0][0][...] = 5  # what is returned is the caller's to change
    assert model.execute(np.zeros(size, np.float32), memory)[0].to_numpy()[0] == 0


def test_constants_pass_and_buffers_that_are_only_read(session: Any) -> None:
    def body(x: Any, s: Any) -> Any:
        constant = ops.constant(np.arange(3, dtype=np.float32), F32, x.device)
        return {"x": x, "c": constant, "s": s[...], "s2": s[...], "d": constant}

    model = session(graph_of(body, tensor([2]), buffer([2]), names=["x", "s"]))
    memory = np.array([3, 4], np.float32)
    for _ in range(2):
        results = [r.to_numpy() for r in model.execute(np.array([1, 2], np.float32), memory)]
        assert [r.tolist() for r in results] == [[1, 2], [0, 1, 2], [3, 4], [3, 4], [0, 1, 2]]
        for result in results:
            result[...] = 9  # must not reach the constant
    assert memory.tolist() == [3, 4]


def test_a_graph_without_outputs(session: Any) -> None:
    def body(s: Any) -> Any:
        s[...] = s[...] + 1
        return {}

    model = session(graph_of(body, buffer([2]), names=["s"]))
    memory = np.zeros(2, np.float32)
    assert model.execute(memory) == []
    assert memory.tolist() == [1, 1]


def test_a_graph_that_does_nothing(session: Any) -> None:
    model = session(graph_of(lambda x, s: {}, tensor([2]), buffer([2]), names=["x", "s"]))
    assert model.execute(np.zeros(2, np.float32), np.zeros(2, np.float32)) == []


def test_an_input_that_nothing_reads(session: Any) -> None:
    model = session(graph_of(lambda x, y: {"z": x + 1}, tensor([2]), tensor([2]), names=["x", "y"]))
    assert model.execute(np.zeros(2, np.float32), np.zeros(2, np.float32))[0].to_numpy().tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [DType.float16, DType.bfloat16, DType.float64, DType.int8, DType.uint64, DType.bool])
@pytest.mark.parametrize("size", SIZES)
def test_element_types(session: Any, dtype: DType, size: int) -> None:
    def body(x: Any, s: Any) -> Any:
        old = s[...]
        s[...] = x
        return {"old": old}

    model = session(graph_of(body, tensor([size], dtype), buffer([size], dtype), names=["x", "s"]))
    memory = np.zeros(size, dtype.to_numpy())
    one = np.ones(size, dtype.to_numpy())
    assert model.execute(one, memory)[0].to_numpy()[-1] == 0
    old = model.execute(one, memory)[0]
    assert old.dtype is dtype
    assert old.to_numpy()[-1] == 1
    assert memory[-1] == 1


def test_rank_0_everywhere(session: Any) -> None:
    def body(x: Any, s: Any) -> Any:
        s[...] = s[...] + x
        return {"y": s[...]}

    model = session(graph_of(body, tensor([]), buffer([]), names=["x", "s"]))
    memory = np.array(1, np.float32)
    assert model.execute(2, memory)[0].item() == 3
    assert memory == 3


def test_large_inputs_of_any_strides(session: Any) -> None:
    model = session(graph_of(lambda x: {"y": x + 1}, tensor([300, 300])))
    x = np.arange(90_000, dtype=np.float32).reshape(300, 300)
    for given in (x, x.T, x[::-1], np.asfortranarray(x), x.astype(">f4")):
        np.testing.assert_array_equal(model.execute(given)[0].to_numpy(), given + 1)


def test_prints_come_in_order(session: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def body(x: Any) -> Any:
        ops.print(x, "first")
        ops.print(x + 1, "second")
        return {"y": x + 2}

    model = session(graph_of(body, tensor([2])))
    for step in range(2):
        model.execute(np.full(2, step, np.float32))
        shown = capsys.readouterr().out
        assert shown.index("first") < shown.index("second")
        assert str(step + 1) in shown[shown.index("second") :]


def test_the_counter_in_each_mode() -> None:
    for name, session in SESSIONS.items():
        model = session.load(counter())
        memory = np.zeros(4, np.float32)
        assert [model.execute(memory)[0].to_numpy()[0] for _ in range(3)] == [0, 1, 2]
        assert memory.tolist() == [3] * 4
        assert model.plan is not None
        assert model.plan["s"].mode.shares_memory == (name != "copied")
