"""Branches and loops: nested blocks as subgraphs of an If or a Loop.

Inside a block a buffer is a plain value: it begins as what the buffer holds where the block stands, each store makes
the next value, and the last one is a result of the subgraph. Outside, that result is stored like any other whole
value: the If itself becomes the writer, in place where the proof finds that each branch may write the buffer's memory,
and what a Loop yields is copied in, since onnxruntime copies what a loop carries anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..dtype import DType
from ..graph import ir
from ..graph.ops.emitter import Handle
from ..graph.shape import Shape
from ..graph.type import DeviceRef, TensorType
from .branch_order import order_branch
from .onnx_model import OnnxBlock, OnnxNode

if TYPE_CHECKING:
    from .emit import GraphEmitter

__all__ = ["MOST_DEEP", "Scope", "emit_cond", "emit_while_loop"]

#: Blocks inside one another: onnxruntime reads messages that are nested 100 deep; each block takes three, and the type
#: of what it yields five.
MOST_DEEP = 31
_COUNT = TensorType(DType.int64, [], DeviceRef.CPU())
_FLAG = TensorType(DType.bool, [], DeviceRef.CPU())


@dataclass(slots=True)
class Scope:
    """A block that is being emitted.

    Attributes:
        buffers: What each buffer holds at this point, by the name of its input.
        guards: Results of checks that may fail.
        stores: How often each buffer was stored to.
        depth: The number of blocks that it is in, itself counted.
    """

    block: OnnxBlock
    buffers: dict[str, Handle]
    guards: list[str] = field(default_factory=list)
    stores: dict[str, int] = field(default_factory=dict)
    depth: int = 1


@dataclass(slots=True)
class _Buffers:
    """The buffers that a node's blocks touch: their handles, what they hold before it, and which are stored to."""

    before: dict[str, Handle]
    written: list[Handle]


def _buffers(e: GraphEmitter) -> _Buffers:
    handles = [(e.handles[buffer], access) for buffer, access in e.node_here.effects]
    before = {handle.name: e.load(handle) for handle, _ in handles}
    return _Buffers(before, [handle for handle, access in handles if access & ir.Access.WRITE])


@contextmanager
def _open(e: GraphEmitter, buffers: dict[str, Handle]) -> Iterator[Scope]:
    """Lets nodes go into a block.

    Raises:
        LoweringError: Blocks are nested deeper than onnxruntime reads them.
    """
    depth = e.scope.depth + 1 if e.scope is not None else 1
    if depth > MOST_DEEP:
        raise e.refuse(
            f"branches and loops are nested over {MOST_DEEP} deep, which onnxruntime does not take",
            help="compute the conditions first, and combine them with ops.logical_and",
        )
    scope = Scope(OnnxBlock(), dict(buffers), depth=depth)
    nodes, e.onnx.nodes = e.onnx.nodes, scope.block.nodes
    outer, e.scope = e.scope, scope
    try:
        with e.sizes.inside():
            yield scope
    finally:
        e.onnx.nodes, e.scope = nodes, outer


def emit_cond(e: GraphEmitter, pred: Handle, branches: Sequence[ir.Block]) -> Sequence[Handle]:
    """An If; gives its results. A branch that is certain needs none."""
    certain = e.known.of(e.node_here.operands[0])
    if certain is not None:
        block = branches[0 if certain else 1]
        results = _evaluate(e, block, [])
        e.known.note_same(e.node_here.results, block.results)
        return results
    if e.is_fixed(pred):
        pred = _unfixed(e, pred)
    buffers = _buffers(e)
    emitted = [_branch(e, block, buffers) for block in branches]
    checks = any(scope.guards for scope, _ in emitted)
    types = [*e.results, *(handle.type for handle in buffers.written), *([_COUNT] if checks else [])]
    for scope, values in emitted:
        with _reopened(e, scope):
            _yield(e, scope, [*values, *([_sum(e, scope.guards)] if checks else [])], types)
    copies = [_order(e, scope, buffers) for scope, _ in emitted]
    node, handles = _node(e, "If", [pred.name], types)
    node.blocks = {name: scope.block for name, (scope, _) in zip(("then_branch", "else_branch"), emitted, strict=True)}
    for handle in buffers.written:
        most = max(made[handle.name] for made in copies)
        e.copies_inside[handle.name] = e.copies_inside.get(handle.name, 0) + most
    return _finish(e, buffers, handles, checks=checks)


def _order(e: GraphEmitter, scope: Scope, buffers: _Buffers) -> dict[str, int]:
    """Orders a branch; gives the whole copies that it makes of each buffer."""
    outputs = list(scope.block.outputs)[len(e.results) :]
    yielded = {handle.name: name for handle, name in zip(buffers.written, outputs, strict=False)}
    shared = {name: output for name, output in yielded.items() if e.tracks[name].shared}
    copied = order_branch(e, scope, buffers.before, shared)
    e.kept_inside |= copied
    # All stores but the last go to temporaries.
    return {name: max(0, scope.stores.get(name, 0) - 1) + (name in copied) for name in yielded}


def _unfixed(e: GraphEmitter, pred: Handle) -> Handle:
    """The predicate, through a Reshape to a shape that is made of no elements of an input.

    Where onnxruntime's optimiser could compute a predicate, by sizes that it infers, it would replace the If by a
    branch; and where it does so for branches in branches, it may crash.
    """
    handles = [e.handles[info.value] for info in e.graph.signature]
    given = [h for h in handles if h.dtype.size_in_bits >= 8 and not h.dtype.is_float8()]  # those have kernels
    if not given:
        return pred
    source = next((handle for handle in given if handle.name in e.input_positions), given[0])
    zero = e.constant([0])
    flat = e.node("Reshape", source, e.constant([-1]), shape=Shape([1]))
    none = e.node("Slice", flat, zero, zero, shape=Shape([0]))
    return e.node("Reshape", pred, e.node("Cast", none, to=DType.int64, dtype=DType.int64), shape=Shape([]))


def _branch(e: GraphEmitter, block: ir.Block, buffers: _Buffers) -> tuple[Scope, list[Handle]]:
    with _open(e, buffers.before) as scope:
        e.emit_nodes(block.nodes)
        results = [e.handles[value] for value in block.results]
        return scope, [*results, *(scope.buffers[handle.name] for handle in buffers.written)]


def emit_while_loop(
    e: GraphEmitter, initial: Sequence[Handle], predicate: ir.Block, body: ir.Block
) -> Sequence[Handle]:
    """A Loop; gives the carried values after the last round."""
    buffers = _buffers(e)
    first = _evaluate(e, predicate, initial)[0]
    with _open(e, buffers.before) as scope:
        block = scope.block
        for stem, type_ in (("i", _COUNT), ("q", _FLAG)):  # what ONNX gives every loop
            block.inputs[e.onnx.fresh(stem)] = type_
        carried = [_input(e, block, value.type) for value in initial]
        for handle in buffers.written:
            scope.buffers[handle.name] = _input(e, block, handle.type)
        carried = _evaluate(e, body, carried)
        again = _evaluate(e, predicate, carried)[0]
        values = [again, *carried, *(scope.buffers[handle.name] for handle in buffers.written)]
        types = [*e.results, *(handle.type for handle in buffers.written)]
        checks = bool(scope.guards)
        if checks:
            types.append(_COUNT)
            values.append(_sum(e, [_input(e, block, _COUNT).name, *scope.guards]))
        _yield(e, scope, values, [_FLAG, *types])
    inputs = [*initial, *(buffers.before[handle.name] for handle in buffers.written)]
    inputs += [e.constant(0)] if checks else []
    node, handles = _node(e, "Loop", ["", first.name, *(value.name for value in inputs)], types)
    node.blocks = {"body": block}
    return _finish(e, buffers, handles, checks=checks)


def _evaluate(e: GraphEmitter, block: ir.Block, arguments: Sequence[Handle]) -> list[Handle]:
    """A block's nodes, written at this point; its results. The sizes that it makes are its own."""
    for param, argument in zip(block.params, arguments, strict=True):
        e.handles[param] = argument
    with e.sizes.inside():
        e.emit_nodes(block.nodes)
    return [e.handles[value] for value in block.results]


def _input(e: GraphEmitter, block: OnnxBlock, type_: TensorType) -> Handle:
    handle = Handle(e.onnx.fresh("p"), type_)
    block.inputs[handle.name] = type_
    e.ranks[handle.name] = type_.rank
    return handle


@contextmanager
def _reopened(e: GraphEmitter, scope: Scope) -> Iterator[None]:
    nodes, e.onnx.nodes = e.onnx.nodes, scope.block.nodes
    try:
        yield
    finally:
        e.onnx.nodes = nodes


def _sum(e: GraphEmitter, guards: Sequence[str]) -> Handle:
    """The zeros of all checks, so that none of them is left out."""
    total = e.constant(0)
    for name in guards:
        total = e.node("Add", total, Handle(name, _COUNT))
    return total


def _yield(e: GraphEmitter, scope: Scope, values: Sequence[Handle], types: Sequence[TensorType]) -> None:
    """Makes values the block's outputs: each the result of a node of its own in the block."""
    block = scope.block
    made = {name for node in block.nodes for name in node.outputs}
    for value, type_ in zip(values, types, strict=True):
        name = value.name
        if name not in made or name in block.outputs or name in scope.guards:
            name = e.node("Identity", value).name
        block.outputs[name] = type_
    block.drop_unused()


def _node(
    e: GraphEmitter, op_type: str, inputs: list[str], types: Sequence[TensorType]
) -> tuple[OnnxNode, list[Handle]]:
    handles = [Handle(e.onnx.fresh("v"), type_) for type_ in types]
    node = OnnxNode(op_type, "", inputs, [handle.name for handle in handles], {}, e.node_here)
    e.onnx.nodes.append(node)
    return node, handles


def _finish(e: GraphEmitter, buffers: _Buffers, handles: Sequence[Handle], *, checks: bool) -> Sequence[Handle]:
    """Stores what the buffers hold afterwards; gives the results of the op itself."""
    count = len(e.results)
    for handle, value in zip(buffers.written, handles[count:], strict=False):
        e.store(handle, value)
    if checks:
        e.add_guard(handles[-1].name)
    return handles[:count]
