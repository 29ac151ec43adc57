"""The reader's time grows with the file, never with its square; a graph of many entries of any kind is read."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.format import open_file
from maxgraph.graph import BufferType, Graph, ops

from .files import CPU, f32, forged

COUNT = 20_000
SECONDS = 20  # a tenth is usual; what is quadratic takes minutes


def nodes(model: Any) -> None:
    body = model.graphs[0].blocks[0].nodes
    body.extend([body[-1]] * COUNT)


def states(model: Any) -> None:
    state, weight, given = model.states[0], model.weights[0], model.graphs[0].inputs[1]
    for at in range(COUNT):
        name = f"t{at:06}"
        model.states.add(name=name, type=state.type, weight=at + 1)
        model.weights.add(name=name, type=weight.type, blob=0)
        model.graphs[0].inputs.add(name=name, type=given.type, state=at + 1)
    for node in model.graphs[0].blocks[0].nodes:
        node.operands[:] = [number if number <= 2 else number + COUNT for number in node.operands]
    model.graphs[0].outputs[0].value += COUNT


def operands(model: Any) -> None:
    node = model.graphs[0].blocks[0].nodes[-1]
    node.operands[:] = [node.operands[0]] * COUNT
    node.operand_segments[:] = [COUNT]
    model.types[node.result_types[0]].tensor.shape[0].size = 2 * COUNT


@pytest.mark.slow
@pytest.mark.parametrize("change", [nodes, states, operands], ids=lambda c: c.__name__)
def test_many_entries_are_read_in_linear_time(change: Callable[[Any], None], tmp_path: Path) -> None:
    path = tmp_path / "many.maxg"
    with Graph("many", input_types=[f32(2)], input_names=["x"]) as graph:
        ops.buffer_create(BufferType(DType.float32, [], CPU), 1.0, name="s")
        x = graph.inputs[0].tensor
        graph.output(ops.concat([x + x, x + x, x + x]))
    maxgraph.save(graph, path, strip_debug=True)
    path.write_bytes(forged(path.read_bytes(), change))
    start = time.monotonic()
    open_file(path)
    assert time.monotonic() - start < SECONDS
