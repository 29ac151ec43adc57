"""Weights: tensors that join a graph where they are first used."""

from __future__ import annotations

import pytest

from maxgraph.dtype import DType
from maxgraph.errors import MaxGraphError, NoGraphError
from maxgraph.graph import DeviceRef, Graph, TensorType, TensorValue, Weight, ops

X = TensorType(DType.float32, ["n", 4], DeviceRef.CPU())


def test_a_weight_is_a_tensor() -> None:
    w = Weight("proj.w", DType.float32, [8, 4])
    assert isinstance(w, TensorValue)
    assert (str(w.type), w.rank, repr(w)) == ("float32[8, 4]", 2, "Weight('proj.w', float32[8, 4])")
    with Graph("g", input_types=[X]) as graph:
        x = graph.inputs[0].tensor
        results = [x @ w.T, w * 2, 1 - w, w[0], w.reshape([-1]), -w, ops.concat([w, w]), w]
        graph.output(*results)
    assert [str(t) for t in graph.output_types] == [
        "float32[n, 8]",
        "float32[8, 4]",
        "float32[8, 4]",
        "float32[4]",
        "float32[32]",
        "float32[8, 4]",
        "float32[16, 4]",
        "float32[8, 4]",
    ]
    assert list(graph.weights) == ["proj.w"]
    assert sum(node.op.name == "weight" for node in graph.nodes()) == 1


def test_a_weight_joins_only_the_graphs_that_use_it() -> None:
    used, unused = Weight("used", DType.float32, [4]), Weight("unused", DType.float32, [4])
    for _ in range(2):
        with Graph("g", input_types=[X]) as graph:
            x = graph.inputs[0].tensor
            with pytest.raises(MaxGraphError):  # naming the operands looks at all variables here
                ops.concat([x, used])
            graph.output(x + used)
        assert list(graph.weights) == ["used"]
    assert unused.name == "unused"


def test_a_weight_outside_a_graph_can_only_be_looked_at() -> None:
    w = Weight("w", DType.float32, [4])
    assert w.shape == [4]
    for use in (lambda: w + 1, lambda: w.T, lambda: w[0], lambda: TensorValue(w)):
        with pytest.raises(NoGraphError, match="MG001"):
            use()
    with pytest.raises(TypeError, match="MG024"):
        bool(w)
