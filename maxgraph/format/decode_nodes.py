"""From the header's nodes to nodes: types and effects are computed anew, and compared with what the file says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph import ir
from ..graph.graph import Graph
from ..graph.ops.registry import Op, OperandKind, Refusal
from ..graph.type import BufferType, TensorType
from ..v1 import graph_pb2
from .checks import check_sorted
from .decode_attributes import AttributeDecoder
from .decode_debug import DebugDecoder
from .decode_ops import KnownOp
from .decode_types import TypeTable
from .decode_values import Values
from .errors import escaped, fail, need
from .limits import Limits

__all__ = ["NodeDecoder"]


class NodeDecoder:
    """Decodes the nodes of one graph.

    Attributes:
        used_ops: The indices of the ops that nodes name.
    """

    def __init__(
        self,
        graph: Graph,
        blocks: Sequence[graph_pb2.Block],
        ops: list[KnownOp],
        types: TypeTable,
        values: Values,
        attributes: AttributeDecoder,
        debug: DebugDecoder,
        limits: Limits,
    ) -> None:
        self._graph = graph
        self._blocks = blocks
        self._depth = 0
        self._nodes = 0
        #: The index of the block that must be named next.
        self._next = 0
        self._ops = ops
        self._types = types
        self._values = values
        self._attributes = attributes
        self._debug = debug
        self._limits = limits
        self.used_ops: set[int] = set()

    def body(self) -> ir.Block:
        """The first block, and all that are nested in it.

        Raises:
            FormatError: A node or a block is malformed, or a block is not named once and in order.
        """
        need(len(self._blocks) >= 1, "MGG07", "the graph has no body")
        body = self._blocks[0]
        need(not body.param_types and not body.results, "MGG07", "the body has parameters or results")
        found = self._block(0)
        need(self._next == len(self._blocks), "MGG12", "a block that no node names")
        return found

    def _block(self, index: int) -> ir.Block:
        """A block, when the node that holds it names it; the numbers of its values end with it, but for the body's."""
        need(index == self._next, "MGG12", f"block {index} is named where {self._next} must be")
        need(index < len(self._blocks), "MGG12", f"there is no block {index}")
        need(self._depth <= self._limits.block_depth, "MGG13", f"blocks nested over {self._limits.block_depth} deep")
        written = self._blocks[index]
        self._next += 1
        self._nodes += len(written.nodes)
        need(self._nodes <= self._limits.nodes, "MGG09", f"more than {self._limits.nodes} nodes")
        before = self._values.count
        self._depth += 1
        block = ir.Block([self._param(type_) for type_ in written.param_types])
        block.nodes = [self.node(entry) for entry in written.nodes]
        block.results = [self._values.at(number, "MGG08") for number in written.results]
        self._depth -= 1
        if index:
            self._values.close(before)
        return block

    def _param(self, index: int) -> ir.Value:
        type_ = self._types.type(index)
        need(not isinstance(type_, BufferType), "MGG14", "a block with a buffer as parameter")
        return self._values.define(ir.Value(type_, self._graph))

    def node(self, entry: graph_pb2.Node) -> ir.Node:
        """One node.

        Raises:
            FormatError: It does not fit its op, or says something else than what its op computes.
        """
        if entry.op >= len(self._ops):
            fail("MGO03", f"op index {entry.op} is out of range")
        self.used_ops.add(entry.op)
        known = self._ops[entry.op]
        op = known.op
        operands = tuple([self._values.at(number, "MGG10") for number in entry.operands])
        segments = _segments(known, entry)
        if known.segmented:
            _check_symbols(op, operands, self._limits)
        attributes = self._attributes.attributes(known, entry)
        if len(entry.blocks) != len(op.blocks):
            fail("MGO06", f"{op.name} takes {len(op.blocks)} blocks, not {len(entry.blocks)}")
        blocks = tuple([self._block(index) for index in entry.blocks])
        types = _inferred(op, operands, segments, attributes, blocks)
        location = self._debug.location(entry.location)
        node = ir.Node(op, operands, segments, attributes, blocks=blocks, location=location)
        node.results = tuple([self._result(index, node) for index in entry.result_types])
        if [value.type for value in node.results] != list(types):
            found = ", ".join(str(value.type) for value in node.results)
            fail("MGO07", f"{op.name} gives {', '.join(map(str, types))}, but the file says {found or 'nothing'}")
        node.effects = op.effects_on(operands, segments, blocks)
        if node.effects or entry.effects:
            self._check_effects(node, entry)
        return node

    def _result(self, index: int, node: ir.Node) -> ir.Value:
        type_ = self._types.type(index)
        if isinstance(type_, BufferType):
            fail("MGG14", f"{node.op.name} yields a buffer")
        return self._values.define(ir.Value(type_, self._graph, node))

    def _check_effects(self, node: ir.Node, entry: graph_pb2.Node) -> None:
        actual = sorted((self._values.buffers[buffer], int(access)) for buffer, access in node.effects)
        declared = [(effect.buffer, int(effect.access)) for effect in entry.effects]
        check_sorted([buffer for buffer, _ in declared], "MGE01", f"effects of {node.op.name}")
        for number, access in declared:
            need(access in (1, 2, 3), "MGE02", f"an effect with access {access}")
            buffer = self._values.at(number, "MGE02")
            need(isinstance(buffer.type, BufferType), "MGE02", "an effect on a tensor")
        need(declared == actual, "MGE03", f"{node.op.name} declares other effects than it has")


def _segments(known: KnownOp, entry: graph_pb2.Node) -> tuple[int, ...]:
    """How many operands each formal one takes."""
    op = known.op
    if not known.segmented:
        if entry.operand_segments:
            fail("MGG11", f"{op.name} takes no operand segments")
        if len(entry.operands) != len(op.operands):
            fail("MGO06", f"{op.name} takes {len(op.operands)} operands, not {len(entry.operands)}")
        return (1,) * len(op.operands)
    segments = tuple(entry.operand_segments)
    need(len(segments) == len(op.operands), "MGG11", f"{op.name} needs {len(op.operands)} operand segments")
    need(sum(segments) == len(entry.operands), "MGG11", f"the operand segments of {op.name} do not add up")
    for operand, count in zip(op.operands, segments, strict=True):
        single = operand.kind in (OperandKind.TENSOR, OperandKind.BUFFER)
        need(not single or count == 1, "MGO06", f"{op.name}: `{operand.name}` takes one operand, not {count}")
        optional = operand.kind is OperandKind.OPTIONAL
        need(not optional or count <= 1, "MGO06", f"{op.name}: `{operand.name}` takes at most one operand, not {count}")
    return segments


def _check_symbols(op: Op[..., Any], operands: tuple[ir.Value, ...], limits: Limits) -> None:
    """Bounds what a rule that adds the dims of any number of operands can cost."""
    types = {id(value.type): value.type for value in operands}.values()
    dims = {dim for type_ in types for dim in type_.shape if dim.polynomial.value is None}
    terms = sum(len(dim.polynomial.terms) for dim in dims)
    need(terms <= limits.shape_terms, "MGO06", f"{op.name} has operands with {terms} different symbolic terms")


def _inferred(
    op: Op[..., Any],
    operands: tuple[ir.Value, ...],
    segments: tuple[int, ...],
    attributes: dict[str, ir.Attribute],
    blocks: tuple[ir.Block, ...],
) -> tuple[TensorType, ...]:
    """The result types by the op's own rule."""
    try:
        return op.infer([value.type for value in operands], segments, attributes, blocks)
    except Refusal as refusal:
        fail("MGO07", f"{op.name}: {escaped(refusal.message, 200)}")
    except Exception as error:  # noqa: BLE001 - a rule is written for calls; a file can name what no call can
        fail("MGO07", f"{op.name} cannot have these operands and attributes ({type(error).__name__})")
