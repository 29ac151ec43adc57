"""Graphs that are called by others: their nodes in program order, their dims bound, their weights and states named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import TypeRuleError, UnsupportedError
from maxgraph.graph import BufferType, DeviceRef, Dim, Graph, Module, TensorType, Weight, ops

Array = np.ndarray[Any, Any]
CPU = DeviceRef.CPU()
F, INT = DType.float32, DType.int64


def tensor(*dims: int | str | Dim) -> TensorType:
    return TensorType(F, dims, CPU)


def buffer(*dims: int | str) -> BufferType:
    return BufferType(F, dims, CPU)


def run(graph: Graph, *feeds: Array, weights: dict[str, Array] | None = None) -> list[Array]:
    """On onnxruntime, and with the interpreter; both must agree, in the results and in the buffers."""
    session = InferenceSession()
    found = []
    for reference in (False, True):
        given = [feed.copy() for feed in feeds]
        model = session.load(graph, weights_registry=weights, reference=reference)
        results = [result.to_numpy() for _ in range(2) for result in model.execute(*given)]
        found.append([*results, *given])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    return found[0]


def adder(*dims: int | str) -> Graph:
    """Adds to a buffer, and gives what was there before."""
    with Graph("adder", input_types=[buffer(*dims), tensor(*dims)]) as graph:
        total, x = graph.inputs[0].buffer, graph.inputs[1].tensor
        old = total[...]
        total[...] = old + x
        graph.output(old)
    return graph


def test_stores_and_calls_are_in_program_order() -> None:
    add = adder(3)
    with Graph("main", input_types=[buffer(3), tensor(3)]) as graph:
        total, x = graph.inputs[0].buffer, graph.inputs[1].tensor
        total[...] = total[...] * 2
        (first,) = ops.call(add, total, x)
        between = total[...]
        (second,) = ops.call(add, total, first.tensor)
        total[...] = total[...] - 1
        graph.output(first.tensor, between, second.tensor)
    total, x = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
    first, between, second, *_, after, _ = run(graph, total, x)
    np.testing.assert_array_equal(first, [2, 4, 6])
    np.testing.assert_array_equal(between, [12, 24, 36])
    np.testing.assert_array_equal(second, [12, 24, 36])
    np.testing.assert_array_equal(after, [61, 127, 193])  # of two executions; after the first it was [13, 27, 41]


def test_symbols_take_the_sizes_of_the_values() -> None:
    with Graph("double", input_types=[tensor("n", "m"), tensor("m")]) as double:
        x, y = (value.tensor for value in double.inputs)
        double.output(ops.concat([x, x], axis=0) + y, x.reshape([Dim("n") * Dim("m")]))
    with Graph("main", input_types=[tensor("k", 4), tensor(4)]) as graph:
        x, y = (value.tensor for value in graph.inputs)
        joined, flat = ops.call(double, x, y)
        assert joined.type == tensor(Dim("k") * 2, 4)
        assert flat.type == tensor(Dim("k") * 4)
        (again, _) = ops.call(double, joined.tensor, y)
        graph.output(again.tensor)
    (result, _, *_) = run(graph, np.ones((3, 4), np.float32), np.arange(4, dtype=np.float32))
    np.testing.assert_array_equal(result, np.ones((12, 4)) + 2 * np.arange(4))


def test_sizes_that_a_graph_makes_itself_differ_from_call_to_call() -> None:
    with Graph("count", input_types=[TensorType(INT, [], CPU)]) as count:
        count.output(ops.range(0, count.inputs[0].tensor, 1, out_dim="length", dtype=INT, device=CPU))
    with Graph("main", input_types=[TensorType(INT, [], CPU)]) as graph:
        stop = graph.inputs[0].tensor
        (one,), (two,) = ops.call(count, stop), ops.call(count, stop + 1)
        graph.output(one.tensor, two.tensor)
    one, two, *_ = run(graph, np.array(3))
    assert (one.tolist(), two.tolist()) == ([0, 1, 2], [0, 1, 2, 3])


def test_a_call_has_its_own_weights_under_a_prefix() -> None:
    with Graph("linear", input_types=[tensor(2)]) as linear:
        shared = Weight("shared", F, [2])
        own = ops.constant_external("w", tensor(2), is_placeholder=True)
        large = ops.constant(np.full((2, 300), 0.5, np.float32))
        linear.output(linear.inputs[0].tensor * own + shared + ops.sum(large)[:, 0])
    with Graph("main", input_types=[tensor(2)]) as graph:
        x = graph.inputs[0].tensor
        for layer in range(3):
            x = ops.call(linear, x, prefix=f"layers.{layer}.")[0].tensor
        graph.output(x)
    assert sorted(graph.weights) == ["constant0", "layers.0.w", "layers.1.w", "layers.2.w", "shared"]
    weights = {f"layers.{k}.w": np.full(2, k + 1, np.float32) for k in range(3)}
    result, *_ = run(graph, np.ones(2, np.float32), weights={**weights, "shared": np.ones(2, np.float32)})
    np.testing.assert_array_equal(result, np.full(2, ((1 + 151) * 2 + 151) * 3 + 151))


def test_a_call_has_its_own_buffers() -> None:
    with Graph("counter") as counter:
        count = ops.buffer_create(BufferType(INT, [], CPU), 5, name="count")
        count[...] = count[...] + 1
        counter.output(count[...])
    with Graph("main") as graph:
        (one,), (two,) = ops.call(counter), ops.call(counter)
        graph.output(one.tensor, two.tensor)
    assert [info.name for info in graph.buffers] == ["count", "count1"]
    assert [result.item() for result in run(graph)] == [6, 6, 7, 7]


def test_a_subgraph_of_a_subgraph(tmp_path: Any) -> None:
    with Graph("main", input_types=[buffer(2), tensor(2)]) as graph:
        with graph.add_subgraph("outer", input_types=[buffer(2), tensor(2)]) as outer:
            total, x = outer.inputs[0].buffer, outer.inputs[1].tensor
            inner = outer.add_subgraph("inner", lambda y: y * 3, input_types=[tensor("n")])
            total[...] = total[...] + ops.call(inner, x)[0].tensor
            outer.output()
        ops.call(outer, graph.inputs[0].buffer, graph.inputs[1].tensor)
        graph.output(graph.inputs[0].buffer[...])
    maxgraph.save(graph, tmp_path / "g.maxg")
    loaded = maxgraph.load(tmp_path / "g.maxg")
    result, *_ = run(loaded, np.ones(2, np.float32), np.ones(2, np.float32))
    np.testing.assert_array_equal(result, [4, 4])


def test_a_graph_copied() -> None:
    graph = adder("n")
    other = graph.copy()
    assert repr(other) == repr(graph)
    assert other.inputs[0].to_mlir() is not graph.inputs[0].to_mlir()
    run(other, np.ones(3, np.float32), np.ones(3, np.float32))


def test_graphs_in_a_module() -> None:
    module = Module()
    Graph("prefill", lambda: None, module=module)
    Graph("decode", lambda: None, module=module)
    assert module.top_level_graph_names() == ["prefill", "decode"]
    with pytest.raises(TypeRuleError, match="has a graph `decode` already"):
        Graph("decode", lambda: None, module=module)


def called(subgraph: Any, *types: TensorType | BufferType, **arguments: Any) -> None:
    with Graph("main", input_types=types) as graph:
        ops.call(subgraph, *graph.inputs, **arguments)
        graph.output()


def unfinished() -> Graph:
    return Graph("open", input_types=[])


REFUSED: dict[str, tuple[Any, tuple[Any, ...], type[Exception], str]] = {
    "no graph": (lambda: 3, (), TypeError, "a Graph is wanted, not int"),
    "no output yet": (unfinished, (), ValueError, "has no output yet"),
    "too few values": (lambda: adder(3), (buffer(3),), ValueError, "has 2 inputs, but 1 values"),
    "a tensor for a buffer": (lambda: adder(3), (tensor(3), tensor(3)), TypeError, "input `total`"),
    "a buffer for a tensor": (lambda: adder(3), (buffer(3), buffer(3)), TypeError, "input `x`"),
    "another dtype": (lambda: adder(3), (buffer(3), TensorType(INT, [3], CPU)), ValueError, "cannot be a int64"),
    "another rank": (lambda: adder(3), (buffer(3), tensor(3, 1)), ValueError, "cannot be a float32"),
    "a symbol of two sizes": (lambda: adder("n"), (buffer(3), tensor(4)), ValueError, r"cannot be a float32\[4\]"),
    "another size": (lambda: adder(3), (buffer(3), tensor("k")), ValueError, r"cannot be a float32\[k\]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_is_refused(name: str) -> None:
    make, types, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as raised:
        called(make(), *types)
    assert "test_calling.py" in str(raised.value)


def test_sizes_that_an_op_of_the_subgraph_does_not_take() -> None:
    with Graph("tail", input_types=[tensor("n")]) as tail:
        tail.output(tail.inputs[0].tensor[2:])
    called(tail, tensor(3))
    with pytest.raises(TypeRuleError, match=r"call of graph `tail`: slice at .*test_calling"):
        called(tail, tensor(1))


def test_what_only_max_has_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="kernels written in Mojo"):
        Graph("g", custom_extensions=["kernels.mojopkg"])  # type: ignore[list-item]  # a path is a str, too
    with pytest.raises(UnsupportedError, match="weight `w` cannot have a sharding_strategy"):
        Weight("w", F, [2], CPU, sharding_strategy=object())
