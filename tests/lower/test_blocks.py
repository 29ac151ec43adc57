"""Buffers in branches and loops: right at every level, in place where they can be, for a reason where they are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import ExecutionError
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, Weight, ops
from maxgraph.lower import Mode, lower

Array = np.ndarray[Any, Any]
CPU = DeviceRef.CPU()
F, INT, BOOL = DType.float32, DType.int64, DType.bool
N = 40
ROW, WHOLE, COUNT = TensorType(F, [N], CPU), TensorType(F, [N, N], CPU), TensorType(INT, [], CPU)


class Given:
    """What a program has: two buffers, a matrix, a row, a flag, a place and a number of rounds."""

    def __init__(self, graph: Graph) -> None:
        a, b, x, row, flag, place, rounds = graph.inputs
        self.a, self.b = a.buffer, b.buffer
        self.x, self.row, self.flag = x.tensor, row.tensor, flag.tensor
        self.place, self.rounds = place.tensor, rounds.tensor


def store_in_one_branch(g: Given) -> None:
    def then() -> None:
        g.a[g.place] = g.row

    ops.cond(g.flag, None, then, lambda: None)


def store_in_both_branches(g: Given) -> Any:
    def then() -> None:
        g.a[g.place] = g.row

    def otherwise() -> None:
        g.a[0:3] = g.x[0:3]

    ops.cond(g.flag, None, then, otherwise)
    return g.a[...]


def whole_store_in_a_branch(g: Given) -> Any:
    def then() -> Any:
        g.a[...] = g.a[...] * 2 + g.x
        return g.a[0]

    return ops.cond(g.flag, [ROW], then, lambda: g.a[1])


def product_in_a_branch(g: Given) -> None:
    def then() -> None:
        g.a[...] = g.a[...] @ g.x

    ops.cond(g.flag, None, then, lambda: None)


def old_value_beside_the_store(g: Given) -> Any:
    old = g.a[...]

    def then() -> Any:
        g.a[...] = old + 1
        return old * 2

    (result,) = ops.cond(g.flag, [WHOLE], then, lambda: old)
    return result, old - g.a[...]


def old_value_read_after_the_branch(g: Given) -> Any:
    old = g.a[...]
    ops.cond(g.flag, None, lambda: g.a.__setitem__(0, g.row), lambda: None)
    return old @ g.x


def two_stores_in_a_branch(g: Given) -> None:
    def then() -> None:
        g.a[0] = g.row
        g.a[g.place] = g.a[0] * 3

    ops.cond(g.flag, None, then, lambda: None)


def swap_in_a_branch(g: Given) -> Any:
    def then() -> None:
        one, other = g.a[...], g.b[...]
        g.a[...] = other
        g.b[...] = one

    ops.cond(g.flag, None, then, lambda: None)
    return g.a[...] - g.b[...]


def branches_in_branches(g: Given) -> None:
    def inner() -> None:
        g.a[1] = g.row * 2

    def then() -> None:
        ops.cond(g.place > 3, None, inner, lambda: None)

    def otherwise() -> None:
        ops.cond(g.place > 3, None, lambda: None, inner)

    ops.cond(g.flag, None, then, otherwise)


def predicate_from_a_buffer(g: Given) -> None:
    def then() -> None:
        g.a[...] = g.a[...] - 1

    ops.cond((g.a[0] > 0)[0], None, then, lambda: g.b.__setitem__(..., g.b[...] + 1))


def two_branches_in_a_row(g: Given) -> Any:
    ops.cond(g.flag, None, lambda: g.a.__setitem__(g.place, g.row), lambda: None)
    between = g.a[2]
    ops.cond(g.place > 1, None, lambda: g.a.__setitem__(0, g.row + between), lambda: None)
    return between, g.a[0]


def branch_that_only_reads(g: Given) -> Any:
    (row,) = ops.cond(g.flag, [ROW], lambda: g.a[g.place], lambda: g.row)
    g.a[0] = row
    return row


def rows_stored_by_a_loop(g: Given) -> Any:
    def body(i: Any) -> Any:
        g.a[i] = g.row * i.cast(F)
        return i + 1

    return ops.while_loop(ops.constant(0, INT, CPU), lambda i: i < g.rounds, body)


def loop_that_reads_what_it_stores(g: Given) -> Any:
    def body(i: Any, total: Any) -> Any:
        g.a[...] = g.a[...] * 0.5 + g.x
        return i + 1, total + ops.sum(g.a[i], axis=-1)[0]

    zero = ops.constant(0.0, F, CPU)
    return ops.while_loop([ops.constant(0, INT, CPU), zero], lambda i, total: i < g.rounds, body)


def predicate_of_a_loop_reads_a_buffer(g: Given) -> Any:
    def body(i: Any) -> Any:
        g.b[0] = g.b[0] + 1
        return i + 1

    return ops.while_loop(g.rounds, lambda i: (g.b[0] < 5)[0], body)


def branch_in_a_loop(g: Given) -> Any:
    def body(i: Any) -> Any:
        ops.cond(i % 2 > 0, None, lambda: g.a.__setitem__(i, g.row), lambda: g.b.__setitem__(i, g.a[i] + 1))
        return i + 1

    return ops.while_loop(ops.constant(0, INT, CPU), lambda i: i < g.rounds, body)


def loop_in_a_branch(g: Given) -> Any:
    def body(i: Any) -> Any:
        g.a[i] = g.a[i] + g.row
        return i - 1

    (left,) = ops.cond(g.flag, [COUNT], lambda: ops.while_loop(g.rounds, lambda i: i > 0, body), lambda: g.rounds)
    return left


def scratch_in_a_branch(g: Given) -> Any:
    scratch = ops.buffer_create(BufferType(F, [N], CPU))

    def then() -> None:
        scratch[...] = g.row + 1

    ops.cond(g.flag, None, then, lambda: None)
    return scratch[...]


def weights_and_constants_inside(g: Given) -> Any:
    w = Weight("w", F, [N])
    large = np.full((N, N), 0.25, np.float32)
    (one,) = ops.cond(g.flag, [ROW], lambda: g.row * w, lambda: ops.constant(large)[0])
    return one + w


def call_in_a_branch(g: Given) -> None:
    with Graph("add", input_types=[BufferType(F, [N, N], CPU), WHOLE]) as add:
        add.inputs[0].buffer[...] = add.inputs[0].buffer[...] + add.inputs[1].tensor
        add.output()
    ops.cond(g.flag, None, lambda: ops.call(add, g.a, g.x) or None, lambda: None)


# What is not in place, and why not: the mode of `a`, then that of `b`.
WRITTEN = {
    product_in_a_branch: (Mode.WRITTEN_THROUGH, Mode.UNTOUCHED),
    old_value_beside_the_store: (Mode.SNAPSHOT, Mode.UNTOUCHED),
    swap_in_a_branch: (Mode.IN_PLACE, Mode.IN_PLACE),
    rows_stored_by_a_loop: (Mode.WRITTEN_THROUGH, Mode.UNTOUCHED),
    loop_that_reads_what_it_stores: (Mode.WRITTEN_THROUGH, Mode.UNTOUCHED),
    predicate_of_a_loop_reads_a_buffer: (Mode.UNTOUCHED, Mode.WRITTEN_THROUGH),
    branch_in_a_loop: (Mode.WRITTEN_THROUGH, Mode.WRITTEN_THROUGH),
    loop_in_a_branch: (Mode.WRITTEN_THROUGH, Mode.UNTOUCHED),
    old_value_read_after_the_branch: (Mode.ORDERED, Mode.UNTOUCHED),
}
IN_PLACE = {
    store_in_one_branch: (Mode.IN_PLACE, Mode.UNTOUCHED),
    store_in_both_branches: (Mode.IN_PLACE, Mode.UNTOUCHED),
    whole_store_in_a_branch: (Mode.IN_PLACE, Mode.UNTOUCHED),
    two_stores_in_a_branch: (Mode.IN_PLACE, Mode.UNTOUCHED),
    branches_in_branches: (Mode.IN_PLACE, Mode.UNTOUCHED),
    predicate_from_a_buffer: (Mode.IN_PLACE, Mode.IN_PLACE),
    two_branches_in_a_row: (Mode.IN_PLACE, Mode.UNTOUCHED),
    branch_that_only_reads: (Mode.IN_PLACE, Mode.UNTOUCHED),
    scratch_in_a_branch: (Mode.UNTOUCHED, Mode.UNTOUCHED),
    weights_and_constants_inside: (Mode.UNTOUCHED, Mode.UNTOUCHED),
    call_in_a_branch: (Mode.IN_PLACE, Mode.UNTOUCHED),
}
PROGRAMS: dict[Callable[[Given], Any], tuple[Mode, Mode]] = {**IN_PLACE, **WRITTEN}


def build(body: Callable[[Given], Any]) -> Graph:
    buffers = [BufferType(F, [N, N], CPU)] * 2
    types = [*buffers, WHOLE, ROW, TensorType(BOOL, [], CPU), COUNT, COUNT]
    with Graph("blocks", input_types=types, input_names=["a", "b", "x", "row", "flag", "place", "rounds"]) as graph:
        result = body(Given(graph))
        graph.output(*(() if result is None else result if isinstance(result, (list, tuple)) else [result]))
    return graph


def feeds() -> list[tuple[Array, ...]]:
    rng = np.random.default_rng(0)
    a, b, x = rng.uniform(-1, 1, (3, N, N)).astype(np.float32)
    row = rng.uniform(-1, 1, N).astype(np.float32)
    return [
        (a.copy(), b.copy(), x, row, np.array(flag), np.array(place), np.array(rounds))
        for flag, place, rounds in ((True, 2, 3), (False, 5, 0), (True, 7, 1), (True, N, 2), (False, -N - 1, 4))
    ]


@pytest.mark.parametrize("body", PROGRAMS, ids=lambda body: body.__name__)
def test_a_program_agrees_with_the_interpreter(body: Callable[[Given], Any], tmp_path: Path) -> None:
    check(build(body), tmp_path)


def check(graph: Graph, tmp_path: Path) -> None:
    """Whether a graph agrees with the interpreter at every level, through a file, and fails where that fails."""
    weights = {"w": np.linspace(0, 1, N, dtype=np.float32)} if "w" in graph.weights else {}
    maxgraph.save(graph, tmp_path / "g.maxg", weights=weights)
    graph = maxgraph.load(tmp_path / "g.maxg")
    reference = InferenceSession().load(graph, reference=True)
    for optimization, threads, sharing in (("all", 1, "auto"), ("none", 2, "auto"), ("all", 2, "copied")):
        session = InferenceSession(num_threads=threads, optimization=optimization, buffers=sharing)
        model = session.load(graph)
        for given in feeds():
            wanted, found = ([array.copy() for array in given] for _ in range(2))
            for _ in range(2):
                try:
                    expected: list[Array] | None = [r.to_numpy() for r in reference.execute(*wanted)]
                except ExecutionError:
                    expected = None
                if expected is None:
                    with pytest.raises(ExecutionError) as raised:
                        model.execute(*found)
                    assert raised.value.code == "MG035"
                else:
                    for one, other in zip(model.execute(*found), expected, strict=True):
                        np.testing.assert_allclose(one.to_numpy(), other, rtol=1e-3, atol=1e-4)
                for one, other in zip(found, wanted, strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("optimization", ["none", "all"])
@pytest.mark.parametrize("body", PROGRAMS, ids=lambda body: body.__name__)
def test_the_mode_of_each_buffer(body: Callable[[Given], Any], optimization: str) -> None:
    graph = build(body)
    weights = {"w": np.ones(N, np.float32)} if "w" in graph.weights else {}
    plan = lower(graph, optimization=optimization, weights=weights).plan
    assert (plan["a"].mode, plan["b"].mode) == PROGRAMS[body], plan


def test_a_loop_says_why_it_copies() -> None:
    row = lower(build(rows_stored_by_a_loop)).plan["a"]
    assert row.reason == "onnxruntime copies what a loop carries, in each round"
    assert row.copies == 1
    assert "test_blocks.py" in str(row.where)


def test_a_branch_that_stores_twice_copies_once() -> None:
    row = lower(build(two_stores_in_a_branch)).plan["a"]
    assert (row.copies, row.extra_bytes) == (1, N * N * 4)
    assert "more than once" in row.reason


def test_a_check_in_a_branch_counts_only_when_it_is_taken() -> None:
    model = InferenceSession().load(build(store_in_one_branch))
    a, b, x, row, *_ = feeds()[0]
    before = a.copy()
    model.execute(a, b, x, row, np.array(False), np.array(N), np.array(0))
    with pytest.raises(ExecutionError, match="index is out of range for axis 0"):
        model.execute(a, b, x, row, np.array(True), np.array(N), np.array(0))
    np.testing.assert_array_equal(a, before)
