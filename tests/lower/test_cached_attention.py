"""Attention over caches: one kernel that changes both, in place, where that is proved; primitives elsewhere."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import ExecutionError
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
from maxgraph.lower import Mode, lower
from maxgraph.reference import Interpreter

CPU = DeviceRef.CPU()
HEADS, GROUPS, WIDTH, CAPACITY = 4, 2, 16, 24
KERNEL = "GroupQueryAttention"


def decoder(
    *, layers: int = 1, batch: int = 1, new: int = 1, dtype: DType = DType.float32, counted: bool = False
) -> Graph:
    """Layers of attention over caches; `counted`: the length is a buffer of the graph's own."""
    types = [TensorType(dtype, [batch, heads, new, WIDTH], CPU) for heads in (HEADS, GROUPS, GROUPS)]
    types += [] if counted else [TensorType(DType.int64, [], CPU)]
    cache = BufferType(dtype, [batch, GROUPS, CAPACITY, WIDTH], CPU)
    with Graph("decoder", input_types=types, input_names=["q", "k", "v", "length"][: len(types)]) as graph:
        q, k, v = (given.tensor for given in graph.inputs[:3])
        filled = ops.buffer_create(BufferType(DType.int64, [], CPU), 0, name="filled") if counted else None
        length = graph.inputs[3].tensor if filled is None else filled[...]
        for layer in range(layers):
            keys, values = (ops.buffer_create(cache, 0.0, name=f"{name}{layer}") for name in ("keys", "values"))
            q = ops.cached_attention(q, k, v, keys, values, length)
        if filled is not None:
            filled[...] = length + new
        graph.output(y=q)
    return graph


def steps(count: int, new: int = 1, batch: int = 1, dtype: Any = np.float32) -> list[tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(0)
    shapes = [(batch, heads, new, WIDTH) for heads in (HEADS, GROUPS, GROUPS)]
    return [tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes) for _ in range(count)]


def node_counts(graph: Graph, **options: Any) -> Counter[str]:
    model = onnx.load_from_string(lower(graph, **options).model)
    return Counter(node.op_type for node in model.graph.node)


def buffers_of(graph: Graph) -> dict[str, np.ndarray]:
    return {b.name: np.zeros(b.value.type.shape.evaluate({}), b.value.type.dtype.to_numpy()) for b in graph.buffers}


@pytest.mark.parametrize("level", ["none", "all"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("new", "batch"), [(1, 1), (3, 1), (1, 3), (2, 3)])
def test_steps_agree_with_the_interpreter(new: int, batch: int, threads: int, level: str) -> None:
    graph = decoder(layers=2, new=new, batch=batch)
    model = InferenceSession(num_threads=threads, optimization=level).load(graph)
    expected, state = buffers_of(graph), model.new_state()
    for at, (q, k, v) in enumerate(steps(4, new, batch)):
        length = np.array(at * new)
        wanted = Interpreter(graph).run({"q": q, "k": k, "v": v, "length": length}, expected)
        (found,) = model.execute(q, k, v, length, state=state)
        np.testing.assert_allclose(found.to_numpy(), wanted["y"], rtol=2e-5, atol=2e-5)
        for name, array in expected.items():
            np.testing.assert_allclose(state.to_numpy(name), array, rtol=1e-6)


@pytest.mark.parametrize("dtype", [DType.float32, DType.float16])
def test_a_step_is_one_kernel_for_each_layer_and_copies_no_cache(dtype: DType) -> None:
    graph = decoder(layers=3, dtype=dtype)
    counts = node_counts(graph)
    assert counts[KERNEL] == 3
    assert not counts["TensorScatter"] + counts["MatMul"] + counts["Transpose"] + counts["Identity"]
    plan = lower(graph).plan
    assert {row.mode for row in plan.buffers} == {Mode.IN_PLACE}
    assert sum(row.copies for row in plan.buffers) == 0


def test_lengths_are_made_once_for_all_layers() -> None:
    """Another layer is the kernel, and the view of what the one before attended to."""
    one, four = (sum(node_counts(decoder(layers=layers, counted=True)).values()) for layers in (1, 4))
    assert (four - one) / 3 == 2


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({"buffers": "copied"}, {}),
        ({}, {"dtype": DType.float64}),
        ({}, {"batch": 2, "new": 2}),
    ],
    ids=["memory apart", "double precision", "a long batch"],
)
def test_what_the_kernel_does_not_take_is_made_of_primitives(options: dict[str, str], changes: dict[str, Any]) -> None:
    counts = node_counts(decoder(**changes), **options)
    assert not counts[KERNEL]
    assert counts["TensorScatter"] == 2


def test_memory_apart_gives_the_same() -> None:
    """The kernel would leave what lies behind undefined there."""
    graph = decoder(layers=2)
    kept = [InferenceSession(buffers=buffers).load(graph) for buffers in ("auto", "copied")]
    states = [model.new_state() for model in kept]
    for at, (q, k, v) in enumerate(steps(3)):
        a, b = (m.execute(q, k, v, at, state=s)[0].to_numpy() for m, s in zip(kept, states, strict=True))
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
        for buffer in graph.buffers:
            np.testing.assert_allclose(*(state.to_numpy(buffer.name) for state in states), rtol=1e-6)


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("buffers", ["auto", "copied"])
def test_a_full_cache_is_refused_and_nothing_changes(buffers: str, counted: bool) -> None:
    model = InferenceSession(buffers=buffers).load(decoder(layers=2, new=8, counted=counted))
    state = model.new_state()
    given = steps(4, new=8)
    for at, (q, k, v) in enumerate(given[:3]):
        model.execute(q, k, v, *([] if counted else [at * 8]), state=state)
    before = {row.buffer: state.to_numpy(row.buffer) for row in model.plan.buffers}
    with pytest.raises(ExecutionError, match="24 places do not hold 8 more") as caught:
        model.execute(*given[3], *([] if counted else [24]), state=state)
    assert caught.value.code == "MG035"
    for name, array in before.items():
        np.testing.assert_array_equal(state.to_numpy(name), array)


def test_a_negative_length_does_not_count_from_the_end() -> None:
    model = InferenceSession().load(decoder())
    with pytest.raises(ExecutionError, match="do not hold") as caught:
        model.execute(*steps(1)[0], -1, state=model.new_state())
    assert caught.value.code == "MG035"


def test_an_old_value_that_is_kept_is_read_before_the_kernel_writes() -> None:
    """A load before the step, shown after it, and one of the values cache that only the result needs."""
    types = [TensorType(DType.float32, [1, heads, 1, WIDTH], CPU) for heads in (HEADS, GROUPS, GROUPS)]
    cache = BufferType(DType.float32, [1, GROUPS, CAPACITY, WIDTH], CPU)
    names = ["q", "k", "v", "length", "keys", "values"]
    with Graph("g", input_types=[*types, TensorType(DType.int64, [], CPU), cache, cache], input_names=names) as graph:
        q, k, v, length = (given.tensor for given in graph.inputs[:4])
        keys, values = (given.buffer for given in graph.inputs[4:])
        old, row = keys[...], values[0, 1, 3]
        y = ops.cached_attention(q, k, v, keys, values, length)
        graph.output(y=y, old=old, row=row * 2, total=ops.sum(ops.sum(values[0, 0], 0), 1))
    rng = np.random.default_rng(1)
    caches = [rng.standard_normal((1, GROUPS, CAPACITY, WIDTH)).astype(np.float32) for _ in range(2)]
    expected = {"keys": caches[0].copy(), "values": caches[1].copy()}
    model = InferenceSession().load(graph)
    for at, (q_, k_, v_) in enumerate(steps(3), start=3):
        wanted = Interpreter(graph).run({"q": q_, "k": k_, "v": v_, "length": np.array(at)}, expected)
        found = model.execute(q_, k_, v_, at, *caches)
        for result, array in zip(found, wanted.values(), strict=True):
            np.testing.assert_allclose(result.to_numpy(), array, rtol=2e-5, atol=2e-5)
        np.testing.assert_allclose(caches[0], expected["keys"], rtol=1e-6)
        np.testing.assert_allclose(caches[1], expected["values"], rtol=1e-6)


def test_one_buffer_for_both_caches() -> None:
    """Not what anybody wants, and yet it means something: the values are stored last."""
    types = [TensorType(DType.float32, [1, GROUPS, 1, WIDTH], CPU)] * 3
    cache = BufferType(DType.float32, [1, GROUPS, CAPACITY, WIDTH], CPU)
    with Graph("g", input_types=[*types, cache], input_names=["q", "k", "v", "cache"]) as graph:
        q, k, v = (given.tensor for given in graph.inputs[:3])
        both = graph.inputs[3].buffer
        graph.output(y=ops.cached_attention(q, k, v, both, both, 0 + ops.constant(2, DType.int64, CPU)))
    rng = np.random.default_rng(2)
    q_, k_, v_ = (rng.standard_normal((1, GROUPS, 1, WIDTH)).astype(np.float32) for _ in range(3))
    memory = rng.standard_normal((1, GROUPS, CAPACITY, WIDTH)).astype(np.float32)
    expected = memory.copy()
    wanted = Interpreter(graph).run({"q": q_, "k": k_, "v": v_}, {"cache": expected})
    (found,) = InferenceSession().load(graph).execute(q_, k_, v_, memory)
    np.testing.assert_allclose(memory, expected, rtol=1e-6)
    np.testing.assert_allclose(found.to_numpy(), wanted["y"], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("taken", [True, False])
def test_a_step_in_a_branch(taken: bool) -> None:
    types = [TensorType(DType.float32, [1, heads, 1, WIDTH], CPU) for heads in (HEADS, GROUPS, GROUPS)]
    types += [TensorType(DType.int64, [], CPU), TensorType(DType.bool, [], CPU)]
    cache = BufferType(DType.float32, [1, GROUPS, CAPACITY, WIDTH], CPU)
    with Graph("g", input_types=types, input_names=["q", "k", "v", "length", "go"]) as graph:
        q, k, v, length, go = (given.tensor for given in graph.inputs)
        keys, values = (ops.buffer_create(cache, 0.0, name=name) for name in ("keys", "values"))
        (y,) = ops.cond(go, [q.type], lambda: ops.cached_attention(q, k, v, keys, values, length), lambda: q * 1.0)
        graph.output(y=y)
    model, expected = InferenceSession().load(graph), buffers_of(graph)
    state = model.new_state()
    for at, (q_, k_, v_) in enumerate(steps(2)):
        given = {"q": q_, "k": k_, "v": v_, "length": np.array(at), "go": np.array(taken)}
        wanted = Interpreter(graph).run(given, expected)
        (found,) = model.execute(*given.values(), state=state)
        np.testing.assert_allclose(found.to_numpy(), wanted["y"], rtol=2e-5, atol=2e-5)
        for name, array in expected.items():
            np.testing.assert_allclose(state.to_numpy(name), array, rtol=1e-6)
