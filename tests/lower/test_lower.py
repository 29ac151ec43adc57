"""The arguments of `lower`, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.errors import InputError, LoweringError
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, Weight
from maxgraph.lower import lower

CPU = DeviceRef.CPU()


def weighted() -> Graph:
    with Graph("weighted", input_types=[TensorType(DType.float32, [2], CPU)], input_names=["x"]) as graph:
        graph.output(y=graph.inputs[0].tensor * Weight("w", DType.float32, [2]))
    return graph


def test_weights_that_are_given_do_not_stay_in_the_graph() -> None:
    graph = weighted()
    lower(graph, weights={"w": np.ones(2, np.float32)})
    assert graph.weights["w"].data is None
    with pytest.raises(InputError) as raised:
        lower(graph)
    assert raised.value.code == "MG039"


def test_a_graph_without_output_is_refused() -> None:
    graph = Graph("open", input_types=[BufferType(DType.float32, [2], CPU)])
    with pytest.raises(LoweringError) as raised:
        lower(graph)
    assert raised.value.code == "MG005"


@pytest.mark.parametrize("argument", ["optimization", "buffers"])
def test_an_unknown_setting_is_refused(argument: str) -> None:
    with pytest.raises(LoweringError, match="no value 'fast'"):
        lower(weighted(), weights={"w": np.ones(2, np.float32)}, **{argument: "fast"})


def test_a_buffer_that_needs_a_second_memory_is_refused_on_demand() -> None:
    types = [BufferType(DType.float32, [8], CPU), TensorType(DType.float32, [8], CPU)]
    with Graph("late", input_types=types, input_names=["a", "x"]) as graph:
        a, x = graph.inputs[0].buffer, graph.inputs[1].tensor
        a[...] = x * 2
        # The index is computed from what was stored, so its check cannot come before the store.
        row = a[0].cast(DType.int64)
        graph.output(y=x[row])
    assert lower(graph).plan["a"].mode.value == "copied back"
    with pytest.raises(LoweringError, match="`a` cannot be changed in place") as raised:
        lower(graph, buffers="in_place")
    assert raised.value.code == "MG041"
