"""Branches and loops while a graph is built: what is refused, and what is seen from where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from maxgraph.dtype import DType
from maxgraph.errors import MaxGraphError
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, Weight, ops

CPU = DeviceRef.CPU()
F, INT, BOOL = DType.float32, DType.int64, DType.bool
ROW = TensorType(F, [3], CPU)


def build(body: Callable[..., Any]) -> Graph:
    types = [BufferType(F, [3], CPU), ROW, TensorType(BOOL, [], CPU), TensorType(INT, [], CPU)]
    with Graph("g", input_types=types, input_names=["b", "x", "flag", "n"]) as graph:
        result = body(graph.inputs[0].buffer, *(value.tensor for value in graph.inputs[1:]))
        graph.output(*(result if isinstance(result, (list, tuple)) else [] if result is None else [result]))
    return graph


def escaped(b: Any, x: Any, flag: Any, n: Any) -> Any:
    kept = []
    ops.cond(flag, None, lambda: kept.append(x + 1), lambda: None)
    return kept[0] * 2


def of_the_other_branch(b: Any, x: Any, flag: Any, n: Any) -> Any:
    kept = []

    def then() -> Any:
        kept.append(x + 1)
        return kept[0]

    return ops.cond(flag, [ROW], then, lambda: kept[0])


def output_inside(b: Any, x: Any, flag: Any, n: Any) -> Any:
    return ops.cond(flag, None, lambda: Graph.current.output(x), lambda: None)


def store_in_the_predicate(b: Any, x: Any, flag: Any, n: Any) -> Any:
    def predicate(i: Any) -> Any:
        b[...] = x
        return i > 0

    return ops.while_loop(n, predicate, lambda i: i - 1)


REFUSED: dict[str, tuple[Callable[..., Any], type[Exception], str, str]] = {
    "no bool": (
        lambda b, x, f, n: ops.cond(n, None, lambda: None, lambda: None),
        ValueError,
        "MG016",
        "bool of rank 0",
    ),
    "a vector": (
        lambda b, x, f, n: ops.cond(x > 0, None, lambda: None, lambda: None),
        ValueError,
        "MG016",
        r"not bool\[3\]",
    ),
    "a Python bool": (
        lambda b, x, f, n: ops.cond(True, None, lambda: None, lambda: None),
        TypeError,
        "MG003",
        "`pred`",
    ),
    "no function": (
        lambda b, x, f, n: ops.cond(f, None, None, lambda: None),
        TypeError,
        "MG017",
        "`then_fn` must be",
    ),
    "a result that nobody declared": (
        lambda b, x, f, n: ops.cond(f, None, lambda: x, lambda: None),
        TypeError,
        "MG015",
        "`then_fn` does not return",
    ),
    "a result of another type": (
        lambda b, x, f, n: ops.cond(f, [ROW], lambda: x, lambda: n),
        TypeError,
        "MG015",
        "`else_fn` does not return",
    ),
    "a result that is none": (
        lambda b, x, f, n: ops.cond(f, [ROW], lambda: x, lambda: "x"),
        TypeError,
        "MG003",
        "result 0 of `else_fn`",
    ),
    "a buffer as result": (
        lambda b, x, f, n: ops.cond(f, [ROW], lambda: x, lambda: b),
        TypeError,
        "MG003",
        "result 0 of `else_fn`",
    ),
    "a buffer among the types": (
        lambda b, x, f, n: ops.cond(f, [b.type], lambda: b, lambda: b),
        TypeError,
        "MG017",
        r"out_types\[0\]",
    ),
    "a value that left its branch": (escaped, ValueError, "MG002", "a branch or a loop that has ended"),
    "a value of the other branch": (of_the_other_branch, ValueError, "MG002", "a branch or a loop that has ended"),
    "an output inside": (output_inside, ValueError, "MG005", "cannot end inside a branch"),
    "print inside": (
        lambda b, x, f, n: ops.cond(f, None, lambda: ops.print(x), lambda: None),
        NotImplementedError,
        "MG017",
        "cannot print",
    ),
    "no initial value": (
        lambda b, x, f, n: ops.while_loop([], lambda: f, lambda: None),
        ValueError,
        "MG017",
        "no initial value",
    ),
    "a buffer is carried": (
        lambda b, x, f, n: ops.while_loop([n, b], lambda i, c: i > 0, lambda i, c: [i, c]),
        NotImplementedError,
        "MG003",
        r"initial_values\[1\]",
    ),
    "a carried value changes its type": (
        lambda b, x, f, n: ops.while_loop(x, lambda y: f, lambda y: y[:2]),
        TypeError,
        "MG015",
        r"float32\[2\] for the carried value 0, which is float32\[3\]",
    ),
    "a body that forgets one": (
        lambda b, x, f, n: ops.while_loop([n, x], lambda i, y: f, lambda i, y: i - 1),
        TypeError,
        "MG015",
        "returns 1 values, but 2 are carried",
    ),
    "a predicate that is no bool": (
        lambda b, x, f, n: ops.while_loop(n, lambda i: i, lambda i: i),
        ValueError,
        "MG016",
        "`predicate` must be a bool",
    ),
    "a predicate of two": (
        lambda b, x, f, n: ops.while_loop(n, lambda i: (f, f), lambda i: i),
        TypeError,
        "MG017",
        "one bool, not 2",
    ),
    "a predicate that stores": (store_in_the_predicate, ValueError, "MG017", "stores into a buffer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    body, error, code, text = REFUSED[name]
    with pytest.raises(error, match=text) as raised:
        build(body)
    assert isinstance(raised.value, MaxGraphError)
    assert raised.value.code == code
    assert raised.value.where is not None
    assert raised.value.where.file == __file__


def test_a_graph_can_be_used_after_a_branch_was_refused() -> None:
    with Graph("g", input_types=[ROW, TensorType(BOOL, [], CPU)]) as graph:
        x, flag = (value.tensor for value in graph.inputs)
        with pytest.raises(TypeError):
            ops.cond(flag, [ROW], lambda: x, lambda: flag)
        graph.output(x + 1)
    assert [node.op.name for node in graph.nodes()] == ["constant", "add"]


def test_a_weight_that_is_first_used_in_a_branch_is_seen_everywhere() -> None:
    def body(b: Any, x: Any, flag: Any, n: Any) -> Any:
        w = Weight("w", F, [3])
        (one,) = ops.cond(flag, [ROW], lambda: x * w, lambda: w - x)
        return one + w

    graph = build(body)
    assert [node.op.name for node in graph.body.nodes] == ["weight", "cond", "add"]


def test_effects_are_those_of_all_blocks() -> None:
    def body(b: Any, x: Any, flag: Any, n: Any) -> Any:
        def outer() -> None:
            ops.cond(flag, None, lambda: b.__setitem__(..., x), lambda: None)

        ops.cond(flag, None, outer, lambda: None)
        return ops.cond(flag, [ROW], lambda: b[...], lambda: x)

    nodes = [node for node in build(body).body.nodes if node.blocks]
    assert [[int(access) for _, access in node.effects] for node in nodes] == [[2], [1]]
