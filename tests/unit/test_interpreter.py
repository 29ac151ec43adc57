"""The interpreter: program order, symbols, weights, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.errors import ExecutionError, InputError, MaxGraphError
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, Weight, ops
from maxgraph.reference import Interpreter

CPU = DeviceRef.CPU()
F32, I64 = DType.float32, DType.int64


def counter() -> Graph:
    with Graph("counter", input_types=[BufferType(F32, [4], CPU)], input_names=["state"]) as graph:
        state = graph.inputs[0].buffer
        current = ops.buffer_load(state)
        ops.buffer_store(state, current + 1)
        graph.output(current)
    return graph


def test_loads_and_stores_are_in_program_order() -> None:
    memory = np.zeros(4, np.float32)
    interpreter = Interpreter(counter())
    for run in range(3):
        outputs = interpreter.run({}, {"state": memory})
        assert outputs["current"].tolist() == [run] * 4
    assert memory.tolist() == [3] * 4


def test_what_was_loaded_never_changes() -> None:
    with Graph("g", input_types=[BufferType(F32, [2, 2], CPU)], input_names=["b"]) as graph:
        b = graph.inputs[0].buffer
        before = b[...]
        turned, row = before.T, before[0]
        b[0] = row * 10
        b[...] = b[...].T
        graph.output(before, turned, row)
    memory = np.array([[1, 2], [3, 4]], np.float32)
    outputs = Interpreter(graph).run({}, {"b": memory})
    assert [array.tolist() for array in outputs.values()] == [[[1, 2], [3, 4]], [[1, 3], [2, 4]], [1, 2]]
    assert memory.tolist() == [[10, 3], [20, 4]]


def test_results_are_the_callers_own() -> None:
    with Graph("g", input_types=[TensorType(F32, [4], CPU)], input_names=["x"]) as graph:
        x = graph.inputs[0].tensor
        two = ops.constant(2.0, F32, CPU)
        graph.output(same=x, view=x.reshape([2, 2]), part=x[1:], number=two)
    x_array = np.arange(4, dtype=np.float32)
    for array in Interpreter(graph).run({"x": x_array}, {}).values():
        array[...] = -1
    assert x_array.tolist() == [0, 1, 2, 3]
    assert Interpreter(graph).run({"x": x_array}, {})["number"] == 2


def gathering() -> Graph:
    types = [BufferType(F32, [2], CPU), TensorType(I64, ["k"], CPU)]
    with Graph("g", input_types=types, input_names=["b", "i"]) as graph:
        b, i = graph.inputs[0].buffer, graph.inputs[1].tensor
        b[...] = b[...] + 1
        picked = ops.gather(b[...], i, 0)
        graph.output(picked)
    return graph


@pytest.mark.parametrize("index", [2, -3])
def test_a_failed_run_puts_every_buffer_back(index: int) -> None:
    memory = np.array([5, 6], np.float32)
    with pytest.raises(ExecutionError) as caught:
        Interpreter(gathering()).run({"i": np.array([0, index])}, {"b": memory})
    assert caught.value.code == "MG035"
    assert f"index {index} is out of range for axis 0 of size 2" in caught.value.summary
    assert caught.value.where is not None
    assert caught.value.where.file == __file__
    assert memory.tolist() == [5, 6]


def test_negative_indices_count_from_the_end() -> None:
    memory = np.array([5, 6], np.float32)
    picked = Interpreter(gathering()).run({"i": np.array([-1, -2, 0])}, {"b": memory})["picked"]
    assert picked.tolist() == [7, 6, 6]


def test_scratch_memory_is_zero_at_each_start() -> None:
    with Graph("g") as graph:
        scratch = ops.buffer_create(BufferType(F32, [2], CPU), name="scratch")
        kept = ops.buffer_create(BufferType(F32, [2], CPU), 0.0, name="kept")
        scratch[...] = scratch[...] + 1
        kept[...] = kept[...] + scratch[...]
        graph.output(kept[...])
    memory = np.zeros(2, np.float32)
    for run in (1, 2):
        outputs = Interpreter(graph).run({}, {"kept": memory})
        assert [v.tolist() for v in outputs.values()] == [[run, run]]


def test_symbols_are_bound_once() -> None:
    types = [TensorType(F32, ["n", 2], CPU), TensorType(F32, ["n"], CPU)]
    with Graph("g", input_types=types, input_names=["x", "y"]) as graph:
        x, y = (value.tensor for value in graph.inputs)
        graph.output(flat=x.reshape([-1]), n=ops.shape_to_tensor([x.shape[0], x.shape[0] * 2 + 1]), y=y)
    interpreter = Interpreter(graph)
    outputs = interpreter.run({"x": np.ones((3, 2), np.float32), "y": np.ones(3, np.float32)}, {})
    assert outputs["flat"].shape == (6,)
    assert outputs["n"].tolist() == [3, 7]
    assert interpreter.run({"x": np.ones((0, 2), np.float32), "y": np.ones(0, np.float32)}, {})["flat"].shape == (0,)
    with pytest.raises(InputError) as caught:
        interpreter.run({"x": np.ones((3, 2), np.float32), "y": np.ones(4, np.float32)}, {})
    assert caught.value.code == "MG034"
    assert caught.value.summary == "`n` is 3 by axis 0 of `x`, but 4 by axis 0 of `y`"


def test_a_symbol_of_a_result_is_bound_by_the_first_that_has_it() -> None:
    types = [TensorType(I64, [], CPU), TensorType(F32, [3], CPU)]
    with Graph("g", input_types=types, input_names=["stop", "x"]) as graph:
        stop, x = (value.tensor for value in graph.inputs)
        numbers = ops.range(0, stop, out_dim="k", dtype=I64, device=CPU)
        again = ops.range(1, stop + 1, out_dim="k", dtype=I64, device=CPU)
        other = x[(slice(0, stop), "k"),]
        graph.output(numbers + again, other)
    outputs = Interpreter(graph).run({"stop": np.array(2), "x": np.ones(3, np.float32)}, {})
    assert [v.tolist() for v in outputs.values()] == [[1, 3], [1, 1]]


@pytest.mark.parametrize(
    ("inputs", "code", "text"),
    [
        ({}, "MG030", "input `x` is missing"),
        ({"x": np.ones((2, 3))}, "MG032", "has dtype float64"),
        ({"x": np.ones(3, np.float32)}, "MG031", "has rank 1, but [n, 3] is wanted"),
        ({"x": np.ones((2, 4), np.float32)}, "MG031", "axis 1 of input `x` is 4, but 3 is wanted"),
    ],
)
def test_inputs_are_checked(inputs: dict[str, Any], code: str, text: str) -> None:
    with Graph("g", input_types=[TensorType(F32, ["n", 3], CPU)], input_names=["x"]) as graph:
        graph.output(graph.inputs[0].tensor)
    with pytest.raises(InputError) as caught:
        Interpreter(graph).run(inputs, {})
    assert caught.value.code == code
    assert text in caught.value.summary


def test_weights_are_given_by_name_or_held_by_the_graph() -> None:
    with Graph("g") as graph:
        large = ops.constant(np.arange(1000, dtype=np.float32))
        graph.output(sum=ops.sum(large), twice=Weight("w", F32, [2]) * 2)
    given = {"w": np.array([1, 2], np.float32)}
    outputs = Interpreter(graph, given).run({}, {})
    assert outputs["sum"].tolist() == [499500]
    assert outputs["twice"].tolist() == [2, 4]
    for weights, text in (({}, "has no elements"), ({"w": np.ones(3, np.float32)}, "does not fit")):
        with pytest.raises(MaxGraphError, match=text) as caught:
            Interpreter(graph, weights).run({}, {})
        assert caught.value.code == "MG039"


def test_prints_show_label_type_and_elements(capsys: pytest.CaptureFixture[str]) -> None:
    with Graph("g", input_types=[TensorType(I64, [2], CPU)], input_names=["x"]) as graph:
        x = graph.inputs[0].tensor
        x.print("first")
        (x * 2).print()
        graph.output()
    Interpreter(graph).run({"x": np.array([1, 2])}, {})
    assert capsys.readouterr().out == "first: int64[2] [1 2]\ndebug_tensor: int64[2] [2 4]\n"


def test_ieee_754_needs_no_warning() -> None:
    # Warnings are errors in these tests.
    with Graph("g", input_types=[TensorType(F32, [3], CPU)], input_names=["x"]) as graph:
        x = graph.inputs[0].tensor
        graph.output(x / (x - x), x * 3e38, ops.log(-x), ops.exp(x * 1000), ops.mean(x[0:0]), x.cast(I64) // 0)
    results = list(Interpreter(graph).run({"x": np.array([0, 1, 100], np.float32)}, {}).values())
    np.testing.assert_array_equal(results[0], [np.nan, np.inf, np.inf])
    np.testing.assert_array_equal(results[4], [np.nan])
    assert results[5].tolist() == [0, 0, 0]
