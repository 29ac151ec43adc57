"""Intermediate values in a buffer's own memory: which ones lie there, and that nothing changes but the memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
from maxgraph.lower import lower, reuse
from maxgraph.reference import Interpreter
from tests.lower.runner import Runner

CPU = DeviceRef.CPU()
N = 300


def scaled(s: Any, x: Any) -> None:
    s[...] = s[...] * 0.9 + x


def long_chain(s: Any, x: Any) -> None:
    s[...] = ops.sigmoid((s[...] * 0.9 + x) * x - 1)


def of_other_values(s: Any, x: Any) -> None:
    s[...] = ops.exp(x) + 1


def two_stores(s: Any, x: Any) -> Any:
    s[...] = s[...] * 2 + x
    s[...] = s[...] * 3 + x
    return s[0]


def read_by_the_end_result(s: Any, x: Any) -> None:
    product = s[...] * 2
    s[...] = (product + x) - product


def old_value_read_late_in_the_chain(s: Any, x: Any) -> None:
    s[...] = s[...] * 2 + ops.exp(s[...])


def result_of_the_graph(s: Any, x: Any) -> Any:
    product = s[...] * 2
    s[...] = product + x
    return product


def read_beside_the_store(s: Any, x: Any) -> Any:
    product = s[...] * 2
    s[...] = product + x
    return ops.sum(product)


def product_of_matrices(s: Any, x: Any) -> None:
    s[...] = s[...] @ (x / N) + x


def another_size(s: Any, x: Any) -> None:
    s[...] = x[0] * 2 + x


def another_type(s: Any, x: Any) -> None:
    s[...] = (x.cast(DType.int32) + 1).cast(DType.float32)


PROGRAMS: dict[Callable[..., Any], int] = {
    scaled: 1,
    long_chain: 4,
    of_other_values: 1,
    two_stores: 2,
    read_by_the_end_result: 1,
    old_value_read_late_in_the_chain: 0,
    result_of_the_graph: 0,
    read_beside_the_store: 0,
    product_of_matrices: 0,
    another_size: 0,
    another_type: 0,
}


def build(body: Callable[..., Any], n: int) -> Graph:
    types = [BufferType(DType.float32, [n, n], CPU), TensorType(DType.float32, [n, n], CPU)]
    with Graph("reuse", input_types=types, input_names=["s", "x"]) as graph:
        result = body(graph.inputs[0].buffer, graph.inputs[1].tensor)
        graph.output(*([] if result is None else [result]))
    return graph


@pytest.mark.parametrize(("body", "count"), PROGRAMS.items(), ids=lambda v: getattr(v, "__name__", v))
@pytest.mark.parametrize("optimization", ["none", "all"])
def test_intermediates_in_the_buffer(body: Callable[..., Any], count: int, optimization: str) -> None:
    graph = build(body, N)
    lowered = lower(graph, optimization=optimization)
    (buffer,) = lowered.buffers
    stores = sum(node.op.name == "buffer_store" for node in graph.nodes())
    assert len(buffer.versions) - stores == count
    rng = np.random.default_rng(0)
    x, expected = (rng.normal(size=(N, N)).astype(np.float32) for _ in range(2))
    actual = expected.copy()
    interpreter = Interpreter(graph)
    for threads in (1, 2):
        runner = Runner(lowered, threads=threads)
        for _ in range(2):
            wanted = interpreter.run({"x": x}, {"s": expected})
            found = runner.run({"x": x}, {"s": actual})
            for name, array in wanted.items():
                np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-2)
            np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)


def test_a_small_buffer_is_not_worth_an_output_more() -> None:
    (buffer,) = lower(build(scaled, 30)).buffers
    assert len(buffer.versions) == 1


def random_chain(rng: np.random.Generator) -> Graph:
    """Elementwise ops on the contents of two buffers and on an input, with stores among them."""
    types = [*(BufferType(DType.float32, [3, 5], CPU) for _ in "ab"), TensorType(DType.float32, [3, 5], CPU)]
    with Graph("chain", input_types=types, input_names=["a", "b", "x"]) as graph:
        buffers = [value.buffer for value in graph.inputs[:2]]
        values = [graph.inputs[2].tensor]
        for _ in range(12):
            match rng.integers(5):
                case 0:
                    values.append(buffers[rng.integers(2)][...])
                case 1:
                    values.append(ops.tanh(values[-1]) * 2)
                case 2:
                    values.append(values[-1] + values[rng.integers(len(values))])
                case 3:
                    values.append(values[rng.integers(len(values))] - 0.5)
                case _:
                    buffers[rng.integers(2)][...] = values[-1]
        graph.output(*([ops.sum(values[-1])] if rng.integers(2) else []))
    return graph


def test_random_chains_with_intermediates_in_small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "WORTHWHILE_BYTES", 0)
    more = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        graph = random_chain(rng)
        lowered = lower(graph, optimization="none" if seed % 4 == 0 else "all")
        with monkeypatch.context() as patch:
            patch.setattr(reuse, "WORTHWHILE_BYTES", 2**62)
            plain = lower(graph, optimization="none" if seed % 4 == 0 else "all")
        more += sum(len(b.versions) for b in lowered.buffers) - sum(len(b.versions) for b in plain.buffers)
        x, a, b = rng.normal(size=(3, 3, 5)).astype(np.float32)
        expected, actual = {"a": a, "b": b}, {"a": a.copy(), "b": b.copy()}
        runner = Runner(lowered, threads=1 + seed % 2)
        for _ in range(2):
            wanted, found = Interpreter(graph).run({"x": x}, expected), runner.run({"x": x}, actual)
            for name, array in [*wanted.items(), *expected.items()]:
                given = found[name] if name in wanted else actual[name]
                np.testing.assert_allclose(given, array, rtol=1e-3, atol=1e-4, err_msg=f"program {seed}, {name}")
    assert more >= 100
