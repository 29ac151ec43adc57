"""Executions that fail: nothing has changed, and no text of onnxruntime's is seen."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

import numpy as np
import pytest

from maxgraph.engine import InferenceSession, Model
from maxgraph.engine.failures import explain
from maxgraph.engine.program import Program
from maxgraph.errors import ExecutionError, InternalError
from tests.runtime.graphs import I64, buffer, graph_of, tensor


def guarded() -> Any:
    """`a` is stored first, then `b` at a computed index, which only a check inside the graph can see."""

    def body(x: Any, at: Any, a: Any, b: Any) -> Any:
        a[...] = a[...] + x
        b[at * 2] = x
        return {"a": a[...], "b": b[...]}

    types = [tensor([3]), tensor([], I64), buffer([3]), buffer([4, 3])]
    return graph_of(body, *types, names=["x", "at", "a", "b"])


ONE = np.ones(3, np.float32)


@pytest.mark.parametrize("kind", ["auto", "copied", "reference"])
def test_a_failed_run_changes_nothing(kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    session = InferenceSession(buffers="auto" if kind == "reference" else kind)
    model = session.load(guarded(), reference=kind == "reference")
    a, b = np.zeros(3, np.float32), np.zeros((4, 3), np.float32)
    state = model.new_state()
    for bad in (2, -3, 1000):
        with pytest.raises(ExecutionError, match="out of range for axis 0 of size 4") as raised:
            model.execute(ONE, bad, a, b)
        assert raised.value.code == "MG035"
        assert raised.value.where is not None
        assert raised.value.where.file.endswith("test_failures.py")
        assert raised.value.__cause__ is None
        with pytest.raises(ExecutionError):
            model.execute(ONE, bad, state=state)
    assert a.max() == b.max() == 0
    assert state.to_numpy("a").max() == state.to_numpy("b").max() == 0
    model.execute(ONE, 1, a, b)
    model.execute(ONE, 1, state=state)
    assert a.tolist() == state.to_numpy("a").tolist() == [1, 1, 1]
    assert b[:, 0].tolist() == state.to_numpy("b")[:, 0].tolist() == [0, 0, 1, 0]
    assert "onnxruntime" not in "".join(capfd.readouterr())


def test_a_graph_of_which_only_checks_are_left() -> None:
    """A store of no elements at a computed place still checks it."""

    def body(at: Any, s: Any) -> Any:
        s[at * 2, 0:0] = s[0, 0:0]
        return {}

    model = InferenceSession().load(graph_of(body, tensor([], I64), buffer([4, 3]), names=["at", "s"]))
    model.execute(1, np.zeros((4, 3), np.float32))
    with pytest.raises(ExecutionError, match="out of range"):
        model.execute(2, np.zeros((4, 3), np.float32))


def unguarded() -> Model:
    """A model that has forgotten what its checks mean."""
    model = InferenceSession().load(guarded())
    program = model._executor
    assert isinstance(program, Program)
    program.lowered = dataclasses.replace(program.lowered, guards={})
    return model


def test_any_other_failure_is_ours(caplog: pytest.LogCaptureFixture) -> None:
    model = unguarded()
    a, b = np.zeros(3, np.float32), np.zeros((4, 3), np.float32)
    with (
        caplog.at_level(logging.DEBUG, "maxgraph.engine"),
        pytest.raises(InternalError, match="onnxruntime failed while it ran Gather of graph `g`") as raised,
    ):
        model.execute(ONE, 2, a, b)
    assert raised.value.code == "MG043"
    for name, memory in (("a", a), ("b", b)):
        assert not memory.any() or name in dict(raised.value.details)["may have changed"]
    assert "indices element" not in str(raised.value)
    assert "indices element out of data bounds" in caplog.text


def test_a_model_can_be_used_after_any_failure() -> None:
    model = unguarded()
    state = model.new_state()
    with pytest.raises(InternalError):
        model.execute(ONE, 2, state=state)
    state.reset()
    assert model.execute(ONE, 1, state=state)[0].to_numpy().tolist() == [1, 1, 1]


def test_memory_that_runs_out_is_named() -> None:
    program = unguarded()._executor
    assert isinstance(program, Program)
    text = "running Add node. Name:'n' Status Message: Failed to allocate memory for requested buffer of size 1234567"
    error, _ = explain(text, program.lowered, restored=True)
    assert isinstance(error, ExecutionError)
    assert "1,234,567 bytes" in str(error)
    assert "while it ran graph" in str(explain("no node at all", program.lowered, restored=True)[0])


def test_an_interrupt_leaves_no_buffer_behind() -> None:
    """Python raises it when onnxruntime is done: all buffers have changed, whether they have one memory or two."""

    def body(x: Any, a: Any, b: Any) -> Any:
        a[...] = a[...] + x
        b[...] = b[::-1] + x
        return {}

    for held in ("state", "caller"):
        model = InferenceSession(buffers="copied" if held == "caller" else "auto").load(
            graph_of(body, tensor([3]), buffer([3]), buffer([3]), names=["x", "a", "b"])
        )
        state = model.new_state()
        arrays = [np.zeros(3, np.float32), np.zeros(3, np.float32)]
        arguments: tuple[Any, ...] = () if held == "state" else tuple(arrays)

        def run(model: Model = model, arguments: Any = arguments, state: Any = state) -> None:
            model.execute(ONE, *arguments, **({} if arguments else {"state": state}))

        run()
        (pool,) = (state if held == "state" else model.state).pools.values()
        (bound,) = pool.free
        usual = bound._run

        def interrupted(usual: Any = usual) -> None:
            usual()
            raise KeyboardInterrupt

        bound._run = interrupted
        with pytest.raises(KeyboardInterrupt):
            run()
        bound._run = usual
        run()
        found = list(state.as_dict().values()) if held == "state" else arrays
        assert [array.tolist() for array in found] == [[3] * 3, [3] * 3]
