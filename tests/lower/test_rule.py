"""The rule needs each of its parts: left out one at a time, programs go wrong that are right with all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import parser

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, BufferValue, DeviceRef, Graph, TensorType
from maxgraph.lower import Lowered
from maxgraph.lower.convert import assemble
from maxgraph.lower.executed import ExecutedGraph
from maxgraph.lower.planner import plan_buffers
from maxgraph.lower.proof import Part, prove_shared
from maxgraph.reference import Interpreter

from . import test_hazards as hazards
from .runner import Runner
from .test_hazards import Body

Array = np.ndarray[Any, Any]
N = 128


def rows_of_itself(a: BufferValue, b: BufferValue, w: Array) -> Any:
    # A scatter whose updates are a view of the buffer that it writes.
    a[::-1] = a[...]


# The part of the rule that protects each program.
NEEDED: dict[Part, list[Body]] = {
    Part.READERS: [
        hazards.old_value_beside_a_store,
        hazards.store_before_the_reader,
        hazards.swap,
        hazards.three_stores_all_alive,
    ],
    Part.KERNEL: [hazards.matmul, hazards.fused_gemm, hazards.transpose, hazards.reversal, hazards.silu_by_parts],
    Part.OPERANDS: [rows_of_itself],
}


def planned(graph: Graph, without: frozenset[Part]) -> Lowered:
    found = plan_buffers(graph, graph.weights, optimization="all", buffers="auto", without=without)
    return assemble(graph, found, "CPUExecutionProvider")


def is_right(graph: Graph, lowered: Lowered) -> bool:
    rng = np.random.default_rng(1)
    expected = {name: rng.standard_normal((N, N)).astype(np.float32) for name in ("a", "b")}
    actual = {name: array.copy() for name, array in expected.items()}
    runner = Runner(lowered)
    for _ in range(2):
        wanted, given = Interpreter(graph).run({}, expected), runner.run({}, actual)
        pairs = [*((given[n], wanted[n]) for n in wanted), *((actual[n], expected[n]) for n in expected)]
        if not all(np.allclose(found, right, rtol=2e-3, atol=2e-3) for found, right in pairs):
            return False
    return True


@pytest.mark.parametrize("part", NEEDED, ids=lambda part: part.name)
def test_programs_go_wrong_without_a_part(part: Part) -> None:
    graphs = [hazards.build(body, N) for body in NEEDED[part]]
    assert all(is_right(graph, planned(graph, frozenset())) for graph in graphs)
    assert not all(is_right(graph, planned(graph, frozenset({part}))) for graph in graphs)


# By hand: what each part refuses, the smallest graph that shows it. `s` is the buffer, `v1` and `v2` its versions.
HEADER = '<ir_version: 10, opset_import: ["" : 24]>\n'
SIGNATURE = "g (float[2,3] s, float[2,3] x, int64[1,1] i, float[1,3] u) => (float[2,3] v1, float[2,3] v2, float[2,3] y)"
REFUSED: dict[str, tuple[Part, str]] = {
    "a reader beside the writer": (Part.READERS, "v1 = Relu(s)\n v2 = Relu(v1)\n y = Neg(s)"),
    "a view read beside the writer": (Part.READERS, "t = Identity(s)\n y = Neg(t)\n v1 = Relu(s)\n v2 = Relu(v1)"),
    "writers without common data": (Part.WRITERS, "v1 = Relu(x)\n v2 = Neg(x)\n y = Neg(x)"),
    "a kernel that is not listed": (Part.KERNEL, "v1 = Hardmax(s)\n v2 = Relu(v1)\n y = Neg(v2)"),
    "the wrong operand of a listed kernel": (Part.KERNEL, "v1 = ScatterND(x, i, s)\n v2 = Relu(v1)\n y = Neg(v2)"),
    "an older version as operand": (Part.OPERANDS, "v1 = Relu(s)\n v2 = Add(v1, s)\n y = Neg(v2)"),
    "another operand in the buffer": (
        Part.OPERANDS,
        "t = Reshape(s, z)\n v1 = ScatterND(s, i, t)\n v2 = Relu(v1)\n y = Neg(v2)",
    ),
    "a version that no node makes": (Part.PRODUCER, "v1 = Relu(s)\n y = Neg(v1)"),
    "a check after the first write": (Part.CHECKS, "v1 = Relu(s)\n v2 = Relu(v1)\n y = Neg(v1)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_proof_refuses(name: str) -> None:
    part, body = REFUSED[name]
    model = parser.parse_model(f"{HEADER}{SIGNATURE} <int64[2] z = {{1, 3}}> {{\n {body}\n}}")
    executed = ExecutedGraph(model.graph)
    checks = ["y"] if part is Part.CHECKS else []
    found = prove_shared(executed, ["s", "v1", "v2"], checks)
    assert part in {fault.part for fault in found}
    assert not prove_shared(executed, ["s", "v1", "v2"], checks, without=frozenset({part, *(f.part for f in found)}))


def test_the_proof_accepts_a_chain() -> None:
    body = "y = Neg(s)\n t = Add(s, y)\n v1 = Add(s, t)\n v2 = ScatterND(v1, i, u)"
    executed = ExecutedGraph(parser.parse_model(f"{HEADER}{SIGNATURE} {{\n {body}\n}}").graph)
    assert prove_shared(executed, ["s", "v1", "v2"], ["y"]) == []


def checked_after_a_store() -> Graph:
    cpu = DeviceRef.CPU()
    types = [BufferType(DType.float32, [8], cpu), TensorType(DType.float32, [8], cpu), TensorType(DType.int64, [], cpu)]
    with Graph("checked", input_types=types, input_names=["a", "x", "at"]) as graph:
        a, x, at = graph.inputs
        a.buffer[...] = x.tensor * 2
        graph.output(y=x.tensor[at.tensor * 2])
    return graph


def test_a_failing_check_comes_before_the_first_write() -> None:
    graph = checked_after_a_store()
    feeds = {"x": np.ones(8, np.float32), "at": np.array(4)}
    memory = {"a": np.zeros(8, np.float32)}
    runner = Runner(planned(graph, frozenset()))
    with pytest.raises(Exception, match="guard"):
        runner.run(feeds, memory)
    assert not memory["a"].any()
    # Without the part, the write may come first: the check is no ancestor of the writer any more.
    free = plan_buffers(graph, graph.weights, optimization="all", buffers="auto", without=frozenset({Part.CHECKS}))
    (track,) = free.emitter.tracks.values()
    guard = free.executed.producer[free.emitter.guard_values[0]]
    assert not free.executed.precedes(guard, free.executed.producer[track.versions[1].name])
