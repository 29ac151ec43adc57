"""Inputs that are bound under several shapes: fewer nodes, and the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from maxgraph.engine import InferenceSession
from maxgraph.graph import Graph, ops
from maxgraph.lower import lower
from tests.lower.programs import random_program
from tests.runtime.graphs import I64, buffer, counter, graph_of, store, tensor


def op_types(model: bytes) -> list[str]:
    return [node.op_type for node in onnx.ModelProto.FromString(model).graph.node]


def test_a_store_of_a_row_needs_no_reshape() -> None:
    lowered = lower(store(64))
    assert op_types(lowered.model).count("Reshape") > 0
    assert lowered.entry is not None
    assert len(op_types(lowered.entry.model)) < len(op_types(lowered.model))
    sources = {b.onnx_name for b in lowered.buffers} | {t.onnx_name for t in lowered.inputs}
    assert {view.source for view in lowered.entry.views} <= sources
    assert lower(counter()).entry is None


def reshaped(size: int) -> Graph:
    """The same input under two shapes, one of them as it is, and a buffer under two more."""

    def body(x: Any, at: Any, s: Any) -> Any:
        before = s[...].reshape([2, size // 2])
        s[at] = x.reshape([size, 1])[0, 0] + 1
        return {
            "a": x.reshape([size // 2, 2]) @ x.reshape([2, size // 2]),
            "b": x + 1,
            "before": ops.sum(before, axis=0),
            "after": ops.sum(s[...].reshape([2, size // 2]), axis=1),
        }

    return graph_of(body, tensor([size]), tensor([], I64), buffer([size]), names=["x", "at", "s"])


@pytest.mark.parametrize("size", [4, 64 * 1024])
@pytest.mark.parametrize("optimization", ["all", "none"])
def test_an_input_under_several_shapes(size: int, optimization: str) -> None:
    rng = np.random.default_rng(3)
    graph = reshaped(4) if size == 4 else _large(size)
    model = InferenceSession(optimization=optimization).load(graph)
    reference = InferenceSession().load(graph, reference=True)
    memories = [np.zeros(size, np.float32), np.zeros(size, np.float32)]
    for at in (0, 1, -1):
        x = rng.standard_normal(size).astype(np.float32)
        for one, other in zip(model.execute(x, at, memories[0]), reference.execute(x, at, memories[1]), strict=True):
            np.testing.assert_allclose(one.to_numpy(), other.to_numpy(), rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(*memories)


def _large(size: int) -> Graph:
    """Inputs that are bound where they lie."""

    def body(x: Any, at: Any, s: Any) -> Any:
        s[at] = x.reshape([size, 1])[0, 0] + 1
        return {"a": ops.sum(x.reshape([2, size // 2]), axis=0), "b": x + 1}

    return graph_of(body, tensor([size]), tensor([], I64), buffer([size]), names=["x", "at", "s"])


@pytest.mark.parametrize("seed", range(40))
def test_only_views_of_inputs_are_left_out(seed: int) -> None:
    lowered = lower(random_program(seed).graph)
    if lowered.entry is None:
        return
    whole, short = (onnx.ModelProto.FromString(m).graph for m in (lowered.model, lowered.entry.model))
    gone = {node.name for node in whole.node} - {node.name for node in short.node}
    assert len(gone) == len(lowered.entry.views)
    by_name = {node.name: node for node in whole.node}
    shapes = {view.name: (view.source, view.shape) for view in lowered.entry.views}
    inline = [t for t in whole.initializer if t.data_location != t.EXTERNAL]
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in inline}
    inputs = {info.name for info in whole.input}
    for name in gone:
        node = by_name[name]
        assert node.op_type == "Reshape"
        assert node.input[0] in inputs
        assert shapes[node.output[0]] == (node.input[0], tuple(constants[node.input[1]].tolist()))
    assert [node for node in whole.node if node.name not in gone] == list(short.node)
