"""Branches and loops that were lowered wrongly once, or not at all; each stands for its kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import ExecutionError, LoweringError
from maxgraph.graph import BufferType, Graph, TensorType, TensorValue, ops
from maxgraph.lower import Mode, lower
from maxgraph.lower.blocks import MOST_DEEP
from maxgraph.lower.folded import lift_folded
from maxgraph.lower.lowered import Risk
from tests.lower.test_blocks import BOOL, COUNT, CPU, INT, ROW, WHOLE, F, Given, N, build, check

ZERO = (0, INT, CPU)


def numbers(count: TensorValue, size: str) -> TensorValue:
    """0, 1, 2, …: as many as the data say."""
    return ops.range(ops.constant(*ZERO), count, ops.constant(1, INT, CPU), out_dim=size, dtype=INT, device=CPU)


def matrix() -> TensorValue:
    """A constant that is too large to lie in a model's bytes."""
    return ops.constant(np.arange(N * N, dtype=np.float32).reshape(N, N) / (N * N))


# One If makes two values of a buffer: the one that it stores, and one that is stored afterwards.


def result_of_a_branch_over_what_it_stored(g: Given) -> None:
    def then() -> TensorValue:
        g.a[0] = g.row
        return g.a[...] * 2

    (whole,) = ops.cond(g.flag, [WHOLE], then, lambda: g.x)
    g.a[...] = whole


def result_of_a_branch_over_another_buffer(g: Given) -> Any:
    def then() -> TensorValue:
        g.a[0] = g.row
        return g.a[...] * 2

    (whole,) = ops.cond(g.flag, [WHOLE], then, lambda: g.x)
    g.b[...] = whole
    return g.b[0]


# A check in a block needs a value that was stored before the block.


def check_in_a_branch_after_a_store(g: Given) -> Any:
    g.a[0] = g.row
    return ops.cond(g.flag, [ROW], lambda: g.a[g.place * 2], lambda: g.row)


def check_in_a_loop_after_a_store(g: Given) -> Any:
    g.a[0] = g.row

    def body(i: TensorValue) -> TensorValue:
        g.b[i] = g.a[i * g.place]
        return i + 1

    return ops.while_loop(ops.constant(*ZERO), lambda i: i < g.rounds, body)


# Onnxruntime writes a branch that is certain into the graph around it; in others, it may crash while it does.


def certain_branch(g: Given) -> Any:
    def then() -> TensorValue:
        g.a[0] = g.row
        return g.a[g.place]

    return ops.cond(ops.constant(True, BOOL, CPU), [ROW], then, lambda: g.row)


def certain_branch_in_a_branch(g: Given) -> None:
    def inner() -> None:
        g.a[0] = g.row
        g.b[1] = g.b[g.place * 3]

    ops.cond(g.flag, None, lambda: certainly(inner), lambda: None)


def certainly(inner: Callable[[], None]) -> None:
    """By a predicate that is only known once constants are folded."""
    ops.cond(ops.constant(3, INT, CPU) > 2, None, inner, lambda: None)


def certain_by_the_result_of_a_certain_branch(g: Given) -> Any:
    def choose() -> TensorValue:
        return ops.constant(4, INT, CPU)

    (number,) = ops.cond(ops.constant(True, BOOL, CPU), [COUNT], choose, lambda: g.place)
    (row,) = ops.cond(number > 2, [ROW], lambda: g.a[g.place], lambda: g.row)
    return row


def certain_by_a_weight(g: Given) -> Any:
    w = matrix()
    return ops.cond((ops.sum(w, axis=0)[0] > 1)[0], [ROW], lambda: g.a[g.place] * 2, lambda: g.row)


def certain_by_a_size(g: Given) -> Any:
    """By a size that onnxruntime infers."""
    some = numbers(ops.constant(3, INT, CPU), "k")
    count = ops.shape_to_tensor(some.shape)[0]

    def then() -> TensorValue:
        g.a[0] = g.row
        (row,) = ops.cond(count > 1, [ROW], lambda: g.a[g.place], lambda: g.row)
        return row

    return ops.cond(count > 2, [ROW], then, lambda: g.row)


def impossible_branch(g: Given) -> None:
    def then() -> None:
        g.a[0] = g.row
        g.b[1] = g.b[g.place * 3]

    ops.cond(ops.constant(False, BOOL, CPU), None, then, lambda: None)


# Onnxruntime folds constants in a branch or a loop.


def folded_in_both_branches(g: Given) -> Any:
    w = matrix()
    return ops.cond(g.flag, [WHOLE], lambda: g.a[...] @ (w * 2).T, lambda: g.x @ (w + 1))


def folded_in_a_loop(g: Given) -> Any:
    w = matrix()

    def body(i: TensorValue) -> TensorValue:
        g.a[...] = g.a[...] @ (w * 0.5).T
        return i + 1

    return ops.while_loop(ops.constant(*ZERO), lambda i: i < g.rounds, body)


def folded_and_stored(g: Given) -> Any:
    w = matrix()
    doubled: list[TensorValue] = []

    def then() -> TensorValue:
        doubled.append(w * 2)
        g.a[...] = doubled[0]
        return doubled[0] + g.x

    return ops.cond(g.flag, [WHOLE], then, lambda: w)


def folded_twice(g: Given) -> None:
    ops.cond(g.flag, None, lambda: g.a.__setitem__(..., matrix()), lambda: g.a.__setitem__(..., matrix() * 2))


# Sizes that depend on data belong to the block that makes them.


def size_of_a_predicate(g: Given) -> Any:
    def body(i: TensorValue) -> TensorValue:
        g.a[0] = g.a[0] + ops.sum(numbers(i, "k"), axis=0)[0].cast(F)
        return i + 1

    (left,) = ops.while_loop(g.rounds, lambda i: ops.sum(numbers(i, "k"), axis=0)[0] < 10, body)
    return left, numbers(g.rounds + 1, "k")


def size_of_a_predicate_in_a_loop(g: Given) -> Any:
    def inner(j: TensorValue) -> TensorValue:
        g.b[0] = g.b[0] + ops.sum(numbers(j, "m"), axis=0)[0].cast(F)
        return j + 1

    def body(i: TensorValue) -> TensorValue:
        ops.while_loop(ops.constant(*ZERO), lambda j: ops.sum(numbers(j, "m"), axis=0)[0] < i, inner)
        return i + 1

    return ops.while_loop(ops.constant(*ZERO), lambda i: i < g.rounds, body)


def size_that_differs_between_branches(g: Given) -> Any:
    type_ = TensorType(INT, ["k"], CPU)
    (found,) = ops.cond(g.flag, [type_], lambda: numbers(g.rounds, "k"), lambda: numbers(g.rounds + 1, "k"))
    return found, numbers(ops.constant(3, INT, CPU), "k")


# A branch reads what it overwrites, in an order of its own.


def old_row_is_the_result(g: Given) -> Any:
    def then() -> TensorValue:
        old = g.a[5]
        g.a[3] = g.row
        return old

    return ops.cond(g.flag, [ROW], then, lambda: g.a[1])


def old_value_of_before_is_the_result(g: Given) -> Any:
    old = g.a[...]

    def then() -> TensorValue:
        g.a[0] = g.row
        return old.reshape([N * N])

    return ops.cond(g.flag, [TensorType(F, [N * N], CPU)], then, lambda: g.x.reshape([N * N]))


def old_and_new_value(g: Given) -> Any:
    def then() -> TensorValue:
        old = g.a[...]
        g.a[0] = g.row
        return old - g.a[...]

    return ops.cond(g.flag, [WHOLE], then, lambda: g.x)


def old_and_new_value_of_a_view(g: Given) -> Any:
    def then() -> TensorValue:
        old = g.a[...].reshape([N * N])
        g.a[0] = old[0:N] + g.row
        return old - g.a[...].reshape([N * N])

    return ops.cond(g.flag, [TensorType(F, [N * N], CPU)], then, lambda: g.x.reshape([N * N]))


def old_value_in_an_inner_branch(g: Given) -> Any:
    def then() -> TensorValue:
        old = g.a[...]
        g.a[0] = g.row
        (found,) = ops.cond(g.place > 2, [ROW], lambda: old[0] - g.a[0], lambda: old[1])
        return found

    return ops.cond(g.flag, [ROW], then, lambda: g.a[2])


def check_after_a_store_in_a_branch(g: Given) -> None:
    def then() -> None:
        g.a[0] = g.row
        g.b[1] = g.b[g.place * 3]

    ops.cond(g.flag, None, then, lambda: None)


def check_of_a_value_stored_in_a_branch(g: Given) -> None:
    def then() -> None:
        g.a[0] = g.row
        g.b[1] = g.b[(g.a[0][0] * 1000).cast(INT)]

    ops.cond(g.flag, None, then, lambda: None)


def swap_of_three_in_a_branch(g: Given) -> Any:
    c = ops.buffer_create(BufferType(F, [N, N], CPU), name="c")
    c[...] = g.x

    def then() -> None:
        a, b, third = g.a[...], g.b[...], c[...]
        g.a[...] = b
        g.b[...] = third
        c[...] = a

    ops.cond(g.flag, None, then, lambda: None)
    return c[0]


PROGRAMS = [
    value
    for value in dict(globals()).values()
    if callable(value) and getattr(value, "__annotations__", {}).get("g") == "Given"
]


@pytest.mark.parametrize("body", PROGRAMS, ids=lambda body: body.__name__)
def test_a_program_agrees_with_the_interpreter(body: Callable[[Given], Any], tmp_path: Path) -> None:
    check(build(body), tmp_path)


@pytest.mark.parametrize(
    ("body", "mode", "copies"),
    [
        (old_row_is_the_result, Mode.IN_PLACE, 0),
        (old_value_of_before_is_the_result, Mode.IN_PLACE, 0),
        (old_and_new_value, Mode.IN_PLACE, 1),
        (old_and_new_value_of_a_view, Mode.IN_PLACE, 1),
        (old_value_in_an_inner_branch, Mode.IN_PLACE, 1),
        (check_after_a_store_in_a_branch, Mode.IN_PLACE, 0),
        (check_of_a_value_stored_in_a_branch, Mode.COPIED_BACK, 1),
        (swap_of_three_in_a_branch, Mode.IN_PLACE, 0),
    ],
)
def test_a_branch_copies_no_more_than_it_must(body: Callable[[Given], Any], mode: Mode, copies: int) -> None:
    for optimization in ("all", "none"):
        row = lower(build(body), optimization=optimization).plan["a"]
        assert (row.mode, row.copies) == (mode, copies), row


@pytest.mark.parametrize("computed", [False, True])
def test_nothing_is_kept_of_a_large_buffer_for_a_store_in_a_branch(computed: bool) -> None:
    """Once the row is written, only small values are made; a check in the branch comes before it."""
    types = [BufferType(F, [100_000, 4], CPU), TensorType(F, [4], CPU), TensorType(BOOL, [], CPU), COUNT]
    with Graph("large", input_types=types) as graph:
        a, row, flag, at = graph.inputs[0].buffer, *(value.tensor for value in graph.inputs[1:])

        def then() -> TensorValue:
            a[at * 2 if computed else 3] = row
            return a[5]

        graph.output(*ops.cond(flag, [row.type], then, lambda: a[at]))
    (binding,) = lower(graph).buffers
    assert binding.plan.mode is Mode.IN_PLACE
    assert binding.risk is Risk.SMALL
    assert binding.kept == ()


def test_the_later_value_of_one_node_is_copied_in() -> None:
    plan = lower(build(result_of_a_branch_over_what_it_stored)).plan
    assert (plan["a"].mode, plan["a"].copies) == (Mode.WRITTEN_THROUGH, 1)


def test_the_plan_names_the_block_whose_check_forbids_one_memory() -> None:
    row = lower(build(check_in_a_branch_after_a_store)).plan["a"]
    assert row.mode is Mode.COPIED_BACK
    assert row.reason.endswith("one inside `cond`")


@pytest.mark.parametrize("body", [certain_branch, certain_by_the_result_of_a_certain_branch, certain_by_a_weight])
def test_a_branch_that_is_certain_needs_no_if(body: Callable[[Given], Any]) -> None:
    model = onnx.ModelProto.FromString(lower(build(body)).model)
    assert "If" not in {node.op_type for node in model.graph.node}


def test_a_branch_that_onnxruntime_might_find_certain_is_left_to_be_one() -> None:
    model = onnx.ModelProto.FromString(lower(build(certain_by_a_size)).model)
    assert [node.op_type for node in model.graph.node].count("If") == 1


@pytest.mark.parametrize("body", [certain_branch, certain_branch_in_a_branch, certain_by_a_size])
def test_a_check_in_a_branch_that_is_certain_says_what_it_is(body: Callable[[Given], Any]) -> None:
    model = InferenceSession().load(build(body))
    big, row = np.zeros((N, N), np.float32), np.zeros(N, np.float32)
    with pytest.raises(ExecutionError, match="is out of range for axis 0 of size 40") as raised:
        model.execute(big, big.copy(), big.copy(), row, np.array(True), np.array(N), np.array(0))
    assert raised.value.where is not None
    assert raised.value.where.file == __file__


def test_a_folded_constant_that_is_stored_stays_outside_the_model() -> None:
    lowered = lower(build(folded_and_stored))
    assert lowered.plan["a"].mode is Mode.IN_PLACE
    assert len(lowered.model) < N * N * 4
    assert lowered.external


def sizes_of_buffers(graph_name: str) -> Graph:
    """A branch writes both buffers, and a loop after it asks how large they are."""
    types = [BufferType(F, ["n", "m"], CPU)] * 2 + [TensorType(F, ["m"], CPU), TensorType(BOOL, [], CPU), COUNT]
    with Graph(graph_name, input_types=types, input_names=["a", "b", "row", "flag", "k"]) as graph:
        a, b = (value.buffer for value in graph.inputs[:2])
        row, flag, k = (value.tensor for value in graph.inputs[2:])

        def then() -> TensorValue:
            old = a[...]
            a[k] = row
            b[...] = old * 2
            return ops.sum(old, axis=0).reshape(["m"])

        def body(i: TensorValue, v: TensorValue) -> list[TensorValue]:
            b[i] = v
            a[...] = a[...] + b[...]
            return [i + 1, v + a[0]]

        (r,) = ops.cond(flag, [row.type], then, lambda: row * 2)
        rounds, total = ops.while_loop([ops.constant(*ZERO), r], lambda i, v: i < k, body)
        graph.output(rounds, total)
    return graph


@pytest.mark.parametrize("sizes", [(3, 4), (1, 1), (2, 0), (5, 3)])
def test_a_block_that_asks_for_a_buffers_size_does_not_read_it(sizes: tuple[int, int]) -> None:
    graph = sizes_of_buffers("sizes")
    reference = InferenceSession().load(graph, reference=True)
    rng = np.random.default_rng(0)
    for session in (InferenceSession(), InferenceSession(optimization="none", num_threads=2)):
        model = session.load(graph)
        a, b = rng.uniform(0, 1, (2, *sizes)).astype(np.float32)
        row = rng.uniform(0, 1, sizes[1]).astype(np.float32)
        for flag in (True, False):
            for k in range(-1, sizes[0]):
                wanted, found = ([a.copy(), b.copy(), row, np.array(flag), np.array(k)] for _ in range(2))
                for one, other in zip(model.execute(*found), reference.execute(*wanted), strict=True):
                    np.testing.assert_allclose(one.to_numpy(), other.to_numpy(), rtol=1e-5)
                for mine, theirs in zip(found[:2], wanted[:2], strict=True):
                    np.testing.assert_allclose(mine, theirs, rtol=1e-5)


def test_an_input_that_a_block_asks_only_for_its_size_stays_an_input() -> None:
    """Also where another input is bound under the shape of a view."""
    size = TensorType(INT, [1], CPU)
    types = [TensorType(F, ["n"], CPU), TensorType(F, [4], CPU), TensorType(BOOL, [], CPU)]
    with Graph("views", input_types=types, input_names=["x", "y", "flag"]) as graph:
        x, y, flag = (value.tensor for value in graph.inputs)
        (n,) = ops.cond(flag, [size], lambda: ops.shape_to_tensor(x.shape), lambda: ops.constant([7], INT, CPU))
        graph.output(n, ops.sum(y.reshape([2, 2]) * 2, axis=0))
    model = InferenceSession().load(graph)
    for flag_, wanted in ((True, 3), (False, 7)):
        n, total = model.execute(np.zeros(3, np.float32), np.ones(4, np.float32), np.array(flag_))
        assert (n.to_numpy().tolist(), total.to_numpy().tolist()) == ([wanted], [[4, 4]])


def nested(depth: int, *, loops: bool) -> Graph:
    with Graph("nested", input_types=[BufferType(F, [2], CPU), TensorType(DType.bool, [], CPU)]) as graph:
        total, flag = graph.inputs[0].buffer, graph.inputs[1].tensor

        def level(left: int) -> None:
            def body(i: TensorValue) -> TensorValue:
                level(left - 1)
                return i - 1

            if left == 0:
                total[...] = total[...] + 1
            elif loops:
                ops.while_loop(ops.constant(1, INT, CPU), lambda i: i > 0, body)
            else:
                ops.cond(flag, None, lambda: level(left - 1), lambda: None)

        level(depth)
        graph.output()
    return graph


@pytest.mark.parametrize("loops", [False, True])
def test_what_onnxruntime_can_read_is_lowered_and_what_is_deeper_is_refused(loops: bool) -> None:
    memory = np.zeros(2, np.float32)
    InferenceSession().load(nested(MOST_DEEP, loops=loops)).execute(memory, np.array(True))
    assert memory.tolist() == [1, 1]
    with pytest.raises(LoweringError, match="nested over 31 deep") as raised:
        InferenceSession().load(nested(MOST_DEEP + 1, loops=loops))
    assert raised.value.code == "MG042"
    assert raised.value.where is not None


def subgraph(name: str, output: str) -> onnx.GraphProto:
    outside = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    node = helper.make_node("Neg", [name], [output])
    info = helper.make_tensor_value_info(output, TensorProto.FLOAT, [2])
    return helper.make_graph([node], "then_branch", [], [info], [outside])


def test_two_branches_with_initialisers_of_one_name_each_keep_their_own() -> None:
    """As where one fusion makes a weight in each branch, and calls both alike."""
    then, otherwise = subgraph("w", "y"), subgraph("w", "z")
    otherwise.initializer[0].CopyFrom(numpy_helper.from_array(np.array([3, 4], np.float32), "w"))
    chosen = helper.make_node("If", ["c"], ["r"], then_branch=then, else_branch=otherwise)
    graph = helper.make_graph([chosen], "g", [], [])
    folded = {"w": np.array([1, 2], np.float32)}
    assert lift_folded(graph, folded)
    parts = [attribute.g for attribute in graph.node[0].attribute]
    found = [numpy_helper.to_array(part.initializer[0]).tolist() for part in parts]
    assert sorted(found) == [[1, 2], [3, 4]]
    assert not graph.initializer
