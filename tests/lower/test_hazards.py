"""What goes wrong when one memory is simply bound as input and output: each case must equal the interpreter, at both
optimisation levels, with one and two threads, and lie in the mode that is written down here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, BufferValue, DeviceRef, Graph, ops
from maxgraph.lower import Mode, lower
from maxgraph.reference import Interpreter

from .runner import Runner

Array = np.ndarray[Any, Any]
Body = Callable[[BufferValue, BufferValue, Array], Any]


def old_value_beside_a_store(a: BufferValue, b: BufferValue, w: Array) -> Any:
    old = a[...]
    a[...] = old + 1
    return old * 2


def store_before_the_reader(a: BufferValue, b: BufferValue, w: Array) -> Any:
    old = a[...]
    late = ops.tanh(old)
    a[...] = old + 1
    return late


def the_seed(a: BufferValue, b: BufferValue, w: Array) -> Any:
    current = a[...]
    a[...] = current + 1
    return current


def load_again_after_the_store(a: BufferValue, b: BufferValue, w: Array) -> Any:
    old = a[...]
    a[...] = old + 1
    return old, a[...] * 3


def difference_of_new_and_old(a: BufferValue, b: BufferValue, w: Array) -> Any:
    old = a[...]
    new = old * 1.5 + 1
    a[...] = new
    return a[...] - old


def matmul(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = a[...] @ w


def matmul_from_the_left(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = ops.matmul(ops.constant(w), a[...])


def fused_gemm(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = a[...] @ w + w[0]


def fused_gemm_with_relu(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = ops.relu(a[...] @ w + w[0])


def residual(a: BufferValue, b: BufferValue, w: Array) -> Any:
    s = a[...]
    a[...] = s + s @ w


def silu_by_parts(a: BufferValue, b: BufferValue, w: Array) -> Any:
    s = a[...]
    a[...] = s * ops.sigmoid(s)


def gelu_by_parts(a: BufferValue, b: BufferValue, w: Array) -> Any:
    s = a[...]
    a[...] = s * 0.5 * (ops.erf(s / 1.4142135623730951) + 1)


def transposed_product(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = a[...].T @ w


def transpose(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = a[...].T


def gather_rows_permuted(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = ops.gather(a[...], ops.constant(np.arange(len(w))[::-1].copy()), axis=0)


def reversal(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = a[...][::-1]


def shift(a: BufferValue, b: BufferValue, w: Array) -> Any:
    s = a[...]
    a[1:] = s[:-1]


def swap(a: BufferValue, b: BufferValue, w: Array) -> Any:
    x, y = a[...], b[...]
    a[...] = y
    b[...] = x


def sum_and_difference(a: BufferValue, b: BufferValue, w: Array) -> Any:
    x, y = a[...], b[...]
    a[...] = x + y
    b[...] = x - y


def plain_copy(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = b[...]


def view_read_late(a: BufferValue, b: BufferValue, w: Array) -> Any:
    view = a[...].reshape([len(w) * len(w)])
    a[...] = a[...] * 2
    return view, ops.unsqueeze(view, 0)


def transposed_view_read_late(a: BufferValue, b: BufferValue, w: Array) -> Any:
    turned = a[...].T
    a[...] = a[...] * 2
    return ops.sum(turned, axis=0)


def cast_read_late(a: BufferValue, b: BufferValue, w: Array) -> Any:
    whole = a[...].cast(DType.int64)  # a copy already
    a[...] = a[...] * 2
    return whole.cast(DType.float32) - a[...]


def row_read_late(a: BufferValue, b: BufferValue, w: Array) -> Any:
    row = a[1]  # a copy of the row
    a[...] = a[...] * 2
    return row - a[1]


def three_stores(a: BufferValue, b: BufferValue, w: Array) -> Any:
    first = a[...]
    a[...] = first + 1
    second = a[...]
    a[...] = second * 2
    third = a[...]
    a[...] = third - 3
    return ops.sum(first), ops.sum(second), ops.sum(third)


def three_stores_all_alive(a: BufferValue, b: BufferValue, w: Array) -> Any:
    first = a[...]
    a[...] = first + 1
    second = a[...]
    a[...] = second * 2
    return first + second + a[...]


def two_rows(a: BufferValue, b: BufferValue, w: Array) -> Any:
    old = a[0]
    a[0] = old + 1
    a[1] = old * 2
    return old


def row_between_the_stores(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[0] = a[1]
    between = ops.sum(a[...])
    a[1] = a[2]
    return between


def stored_value_used_after_the_next_store(a: BufferValue, b: BufferValue, w: Array) -> Any:
    new = a[...] * 2
    a[...] = new
    a[0] = a[1]
    return new - a[...]


def stored_value_made_from_the_next_one(a: BufferValue, b: BufferValue, w: Array) -> Any:
    second = b[...] * 2
    a[...] = ops.tanh(second)
    between = ops.sum(a[...])
    a[...] = second
    return between


def one_value_into_both(a: BufferValue, b: BufferValue, w: Array) -> Any:
    new = a[...] + b[...]
    a[...] = new
    b[...] = new
    return new


def constant(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = ops.constant(w)


def restored(a: BufferValue, b: BufferValue, w: Array) -> Any:
    old = a[...]
    a[0] = old[1] * 3
    middle = ops.sum(a[...])
    a[...] = old
    return middle


def stored_back(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = a[...]


def dead_store(a: BufferValue, b: BufferValue, w: Array) -> Any:
    a[...] = a[...] @ w
    a[...] = b[...] * 2


# The modes of buffers `a` and `b`, with every optimisation on; then, where they differ, with none. What is not in place
# names the part of the rule that forbids it.
M = Mode
HAZARDS: dict[Body, tuple[Mode, ...]] = {
    old_value_beside_a_store: (M.ORDERED,),  # a reader is no ancestor of the writer
    store_before_the_reader: (M.ORDERED,),
    the_seed: (M.IN_PLACE,),
    load_again_after_the_store: (M.IN_PLACE,),
    difference_of_new_and_old: (M.SNAPSHOT,),  # the old value outlives the store
    shift: (M.IN_PLACE,),
    plain_copy: (M.IN_PLACE,),
    transposed_view_read_late: (M.ORDERED,),
    view_read_late: (M.ORDERED,),
    cast_read_late: (M.ORDERED,),
    row_read_late: (M.ORDERED,),
    three_stores: (M.ORDERED,),
    three_stores_all_alive: (M.SNAPSHOT,),
    two_rows: (M.IN_PLACE,),
    row_between_the_stores: (M.ORDERED,),
    stored_value_used_after_the_next_store: (M.WRITTEN_THROUGH,),  # the stored value outlives the next store
    stored_value_made_from_the_next_one: (M.WRITTEN_THROUGH,),
    one_value_into_both: (M.IN_PLACE, M.IN_PLACE),
    restored: (M.SNAPSHOT,),
    stored_back: (M.UNTOUCHED,),
    dead_store: (M.IN_PLACE,),
    # The two read each other: one order is possible, and one copy is needed.
    swap: (M.ORDERED, M.SNAPSHOT),
    sum_and_difference: (M.ORDERED, M.SNAPSHOT),
    # The kernel reads what it overwrites.
    matmul: (M.WRITTEN_THROUGH,),
    matmul_from_the_left: (M.WRITTEN_THROUGH,),
    transpose: (M.WRITTEN_THROUGH,),
    gather_rows_permuted: (M.WRITTEN_THROUGH,),
    reversal: (M.WRITTEN_THROUGH,),
}
# Right as they are emitted, and wrong where a fusion has made an unsafe kernel the writer.
FUSED: dict[Body, tuple[Mode, Mode]] = {
    fused_gemm: (M.WRITTEN_THROUGH, M.IN_PLACE),
    fused_gemm_with_relu: (M.WRITTEN_THROUGH, M.IN_PLACE),
    residual: (M.WRITTEN_THROUGH, M.IN_PLACE),
    silu_by_parts: (M.WRITTEN_THROUGH, M.IN_PLACE),
    gelu_by_parts: (M.WRITTEN_THROUGH, M.IN_PLACE),
    transposed_product: (M.WRITTEN_THROUGH, M.IN_PLACE),
    constant: (M.WRITTEN_THROUGH, M.IN_PLACE),  # folded: no node yields it any more
}
CASES: list[Body] = [*HAZARDS, *FUSED]


def build(body: Body, n: int) -> Graph:
    square = BufferType(DType.float32, [n, n], DeviceRef.CPU())
    w = (np.random.default_rng(3).standard_normal((n, n)) / np.sqrt(n)).astype(np.float32)
    with Graph(body.__name__, input_types=[square, square], input_names=["a", "b"]) as graph:
        a, b = (value.buffer for value in graph.inputs)
        results = body(a, b, w)
        graph.output(*(() if results is None else results if isinstance(results, tuple) else (results,)))
    return graph


@pytest.mark.parametrize("n", [3, 64, 300])
@pytest.mark.parametrize("level", ["none", "all"])
@pytest.mark.parametrize("body", CASES, ids=lambda body: body.__name__)
def test_a_hazard_gives_what_the_interpreter_gives(body: Body, level: str, n: int) -> None:
    graph = build(body, n)
    rng = np.random.default_rng(1)
    start = {name: rng.standard_normal((n, n)).astype(np.float32) for name in ("a", "b")}
    lowered = lower(graph, optimization=level)
    for threads in (1, 2):
        runner = Runner(lowered, threads=threads)
        expected = {name: array.copy() for name, array in start.items()}
        actual = {name: array.copy() for name, array in start.items()}
        for step in range(3):
            wanted = Interpreter(graph).run({}, expected)
            given = runner.run({}, actual)
            for name, array in wanted.items():
                np.testing.assert_allclose(given[name], array, rtol=2e-3, atol=2e-3, err_msg=f"{name}, step {step}")
            for name, array in expected.items():
                np.testing.assert_allclose(actual[name], array, rtol=2e-3, atol=2e-3, err_msg=f"{name}, step {step}")


@pytest.mark.parametrize("n", [1, 16, 700])
@pytest.mark.parametrize("level", ["none", "all"])
@pytest.mark.parametrize("body", [matmul, fused_gemm, fused_gemm_with_relu, residual, transpose, swap])
def test_a_product_over_its_own_buffer_is_right_at_every_size(body: Body, level: str, n: int) -> None:
    test_a_hazard_gives_what_the_interpreter_gives(body, level, n)


@pytest.mark.parametrize("level", ["none", "all"])
@pytest.mark.parametrize("body", CASES, ids=lambda body: body.__name__)
def test_a_hazard_has_the_cheapest_mode_that_is_right(body: Body, level: str) -> None:
    plan = lower(build(body, 64), optimization=level).plan
    wanted = HAZARDS.get(body) or (FUSED[body][0 if level == "all" else 1],)
    for row, mode in zip(plan.buffers, wanted, strict=False):
        assert row.mode is mode, f"{row.buffer}: {row.reason}"
        assert row.reason
        assert mode in (Mode.IN_PLACE, Mode.UNTOUCHED) or row.where is not None


@pytest.mark.parametrize("body", CASES, ids=lambda body: body.__name__)
def test_sharing_can_be_switched_off(body: Body) -> None:
    plan = lower(build(body, 8), buffers="copied").plan
    assert all(row.mode in (Mode.COPIED_BACK, Mode.UNTOUCHED) for row in plan.buffers)
