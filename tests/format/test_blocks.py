"""Blocks in a file: written, read, seen only from inside, and refused where they are not as the writer makes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.errors import FormatError, TypeRuleError
from maxgraph.format import Limits, load, open_file
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, TensorValue, ops

from .files import forged, saved

CPU = DeviceRef.CPU()
F, INT = DType.float32, DType.int64
ROW, FLAG, COUNT = TensorType(F, ["n"], CPU), TensorType(DType.bool, [], CPU), TensorType(INT, [], CPU)


def blocks() -> Graph:
    """A branch, a loop, and a branch in it, over a buffer."""
    types = [BufferType(F, ["n"], CPU), FLAG, COUNT]
    with Graph("blocks", input_types=types, input_names=["total", "flag", "rounds"]) as graph:
        total, flag, rounds = graph.inputs[0].buffer, graph.inputs[1].tensor, graph.inputs[2].tensor

        def grow() -> TensorValue:
            old = total[...]
            total[...] = old + 1
            return old

        def grow_only() -> None:
            grow()

        def body(i: TensorValue) -> TensorValue:
            ops.cond(flag, None, grow_only, lambda: None)
            return i - 1

        (old,) = ops.cond(flag, [ROW], grow, lambda: total[...] * 2)
        (left,) = ops.while_loop(rounds, lambda i: i > 0, body)
        graph.output(old=old, left=left)
    return graph


def test_blocks_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = saved(tmp_path, blocks())
    opened = open_file(path)
    assert opened.features == ("control_flow",)
    assert repr(opened.graph) == repr(blocks())
    maxgraph.save(opened.graph, tmp_path / "again.maxg")
    assert (tmp_path / "again.maxg").read_bytes() == path.read_bytes()


def branch(model: Any, index: int) -> Any:
    return model.graphs[0].blocks[index]


def holder(model: Any, which: int) -> Any:
    """The nodes that hold blocks: the branch, the branch in the loop, the loop."""
    every = [node for block in model.graphs[0].blocks for node in block.nodes if node.blocks]
    return every[which]


def swap_blocks(model: Any) -> None:
    node = holder(model, 0)
    node.blocks[:] = node.blocks[::-1]


LIES: dict[str, tuple[str, Callable[[Any], object]]] = {
    "a block too few": ("MGO06", lambda m: holder(m, 0).blocks.pop()),
    "a block too many": ("MGO06", lambda m: holder(m, 0).blocks.append(3)),
    "blocks out of order": ("MGG12", swap_blocks),
    "a block named twice": ("MGG12", lambda m: holder(m, 0).blocks.__setitem__(1, 1)),
    "a block inside itself": ("MGG12", lambda m: holder(m, 0).blocks.__setitem__(0, 0)),
    "a block that is not there": ("MGG12", lambda m: holder(m, 0).blocks.__setitem__(1, 99)),
    "a block that no node names": ("MGG12", lambda m: m.graphs[0].blocks.add()),
    "an operand out of a closed block": ("MGG10", lambda m: branch(m, 2).nodes[-1].operands.__setitem__(0, 4)),
    "a result out of a closed block": ("MGG08", lambda m: branch(m, 2).results.__setitem__(0, 4)),
    "a result of the future": ("MGG08", lambda m: branch(m, 1).results.__setitem__(0, 999)),
    "an output of the graph out of a block": ("MGG15", lambda m: setattr(m.graphs[0].outputs[0], "value", 4)),
    "a parameter of a branch": ("MGO07", lambda m: branch(m, 2).param_types.append(1)),
    "a parameter of another type": ("MGO07", lambda m: branch(m, 3).param_types.__setitem__(0, 1)),
    "a buffer as parameter": ("MGG14", lambda m: branch(m, 3).param_types.__setitem__(0, 0)),
    "branches of different results": ("MGO07", lambda m: branch(m, 2).ClearField("results")),
    "a branch that writes in secret": ("MGE03", lambda m: holder(m, 0).ClearField("effects")),
    "a branch that only reads, it says": ("MGE03", lambda m: setattr(holder(m, 0).effects[0], "access", 1)),
    "an effect on the flag": ("MGE02", lambda m: setattr(holder(m, 0).effects[0], "buffer", 2)),
    "a feature that is not declared": ("MGH07", lambda m: m.ClearField("required_features")),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_about_blocks(lie: str, tmp_path: Path) -> None:
    code, change = LIES[lie]
    path = saved(tmp_path, blocks())
    path.write_bytes(forged(path.read_bytes(), change))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code == code, raised.value.summary


def nested(depth: int) -> Graph:
    with Graph("nested", input_types=[BufferType(F, [2], CPU), FLAG]) as graph:
        total, flag = graph.inputs[0].buffer, graph.inputs[1].tensor

        def level(left: int) -> None:
            if left:
                ops.cond(flag, None, lambda: level(left - 1), lambda: None)
            else:
                total[...] = total[...] + 1

        level(depth)
        graph.output()
    return graph


@pytest.mark.parametrize("depth", [1, 10, 33, 34, 60, 64])
def test_what_can_be_built_can_be_written_and_read(depth: int, tmp_path: Path) -> None:
    graph = nested(depth)
    path = saved(tmp_path, graph)
    assert repr(load(path)) == repr(graph)
    if depth > 1:
        with pytest.raises(FormatError) as raised:
            open_file(path, Limits(block_depth=depth - 1))
        assert raised.value.code == "MGG13"


@pytest.mark.parametrize("depth", [65, 500])
def test_what_is_too_deep_is_refused_when_it_is_built(depth: int) -> None:
    with pytest.raises(TypeRuleError, match="nested over 64 deep") as raised:
        nested(depth)
    assert raised.value.code == "MG045"
