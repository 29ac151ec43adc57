"""Order inside a branch: what reads a buffer's old value, and every check, runs before the node that overwrites it.

It is the order of the graph itself (see `order`), of one value of each buffer: what the branch yields may lie in the
memory of what it found. Where a reader needs that value after it was overwritten, it reads a copy, which is only made
if the branch is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..graph.ops.emitter import Handle
from .gates import Gates
from .kernels import VIEWS
from .onnx_model import OnnxNode, in_order

if TYPE_CHECKING:
    from .blocks import Scope
    from .emit import GraphEmitter

__all__ = ["order_branch"]


def order_branch(e: GraphEmitter, scope: Scope, before: Mapping[str, Handle], yielded: Mapping[str, str]) -> set[str]:
    """Orders the nodes of a branch, all of which are there.

    Args:
        before: What each buffer held before the branch, by the buffer.
        yielded: The branch's output for each buffer that it may have changed.

    Returns:
        The buffers of which a copy is made.
    """
    block = scope.block
    copied = set()
    for buffer, name in yielded.items():
        gates = Gates(e, block.nodes, block.outputs)
        old, writer = _names(e, buffer, before[buffer].name), gates.producers[name]
        if writer.op_type in VIEWS and writer.inputs[0] in old:
            continue  # the branch leaves it as it is
        late = [node for node in _readers(gates, old) if gates.precedes(writer, node)]
        if late and before[buffer].rank:
            copied.add(buffer)
            _copy_for(e, block.nodes, before[buffer], old, _roots(gates, old, late))
            block.nodes = in_order(block.nodes)
            gates = Gates(e, block.nodes, block.outputs)
        checks = [gates.producers[check] for check in scope.guards if check in gates.producers]
        waiting = [
            node
            for node in dict.fromkeys([*_readers(gates, old), *checks])
            if node is not writer and not gates.precedes(node, writer) and not gates.precedes(writer, node)
        ]
        gate = next((at for at in _given(writer) if e.is_variable(writer.inputs[at])), None)
        if waiting and gate is not None:
            gates.add(writer, gate, waiting)
        block.nodes = in_order(block.nodes)
    return copied


def _given(node: OnnxNode) -> Sequence[int]:
    return [at for at, name in enumerate(node.inputs) if name]


def _names(e: GraphEmitter, buffer: str, name: str) -> set[str]:
    """Every name of what the buffer held: each load of it has one of its own."""
    loads = e.tracks[buffer].loads
    version = next((load.version for load in loads if load.name == name), None)
    return {name, *(load.name for load in loads if load.version == version)}


def _readers(gates: Gates, names: set[str]) -> list[OnnxNode]:
    return list(dict.fromkeys(node for name in sorted(names) for node in gates.readers(name)))


def _roots(gates: Gates, names: set[str], readers: Iterable[OnnxNode]) -> list[OnnxNode]:
    """The nodes through which some nodes read these names: themselves, or those that make the views that they read."""
    found = []
    pending = list(readers)
    while pending:
        node = pending.pop()
        if not names.isdisjoint(node.reads):
            found.append(node)
        sources = [gates.producers[name] for name in node.reads if name in gates.producers]
        pending += [source for source in sources if source.op_type in VIEWS and not source.domain]
    return found


def _copy_for(
    e: GraphEmitter, nodes: list[OnnxNode], like: Handle, names: set[str], readers: Sequence[OnnxNode]
) -> None:
    """Lets nodes read a copy: a Concat of one input, which no optimiser takes for an Identity."""
    copy = e.onnx.fresh("v")
    nodes.insert(0, OnnxNode("Concat", "", [like.name], [copy], {"axis": 0}, e.node_here))
    e.ranks[copy] = like.rank
    for node in readers:
        _rename(node, names, copy)


def _rename(node: OnnxNode, old: set[str], new: str) -> None:
    node.inputs = [new if name in old else name for name in node.inputs]
    for block in node.blocks.values():
        for inner in block.nodes:
            _rename(inner, old, new)
