"""Gates: nodes that are made to wait for others with which they share no data.

An operand of the one that waits passes through a Reshape whose shape depends on the others through a vector of no
elements, which costs no copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..dtype import DType
from .kernels import VIEWS
from .onnx_model import OnnxNode, consumers, producers

if TYPE_CHECKING:
    from .emit import GraphEmitter

__all__ = ["Gates"]


class Gates:
    """The edges of a graph or a block, and the gates that are added to them.

    Args:
        e: The emitter.
        nodes: The nodes, in order; those of gates are added at the end.
        outputs: The names that leave the graph or the block.
    """

    def __init__(self, e: GraphEmitter, nodes: list[OnnxNode], outputs: Collection[str]) -> None:
        self.e = e
        self._nodes = nodes
        self._outputs = outputs
        self.producers = producers(nodes)
        self.consumers = consumers(nodes)
        self._empties: dict[str, str] = {}
        # Bit i of a node's ancestors: the node with number i is one. Kept up to date as gates are added.
        self._bits: dict[OnnxNode, int] = {}
        self._ancestors: dict[OnnxNode, int] = {}
        for node in nodes:
            self._place(node)

    def precedes(self, first: OnnxNode, second: OnnxNode) -> bool:
        """Whether a node runs before another in any order."""
        return bool(self._ancestors[second] >> self._bits[first] & 1)

    def _place(self, node: OnnxNode) -> None:
        """Notes a node whose sources are noted already."""
        self._bits[node] = len(self._bits)
        self._ancestors[node] = self._before([self.producers[n] for n in node.reads if n in self.producers])

    def _before(self, nodes: Iterable[OnnxNode]) -> int:
        """These nodes and all their ancestors, a bit for each."""
        found = 0
        for node in nodes:
            found |= self._ancestors[node] | 1 << self._bits[node]
        return found

    def _put_behind(self, writer: OnnxNode, node: OnnxNode) -> None:
        """Notes that the writer, and so all that follows it, comes after a node."""
        added, bit = self._before([node]), self._bits[writer]
        for other, ancestors in self._ancestors.items():
            if other is writer or ancestors >> bit & 1:
                self._ancestors[other] = ancestors | added

    def readers(self, value: str, views: Collection[str] = VIEWS, elsewhere: Collection[str] = ()) -> list[OnnxNode]:
        """The nodes that read a value's memory, also through views of it.

        Args:
            views: The operators whose results are views.
            elsewhere: Names that lie in memory of their own, whatever makes them; what leaves the graph does, too.
        """
        found: dict[OnnxNode, None] = {}
        pending = [value]
        while pending:
            name = pending.pop()
            for node in self.consumers.get(name, ()):
                if not node.reads_elements(name):
                    continue
                is_view = node.op_type in views and not node.domain
                lands_elsewhere = node.outputs[0] in self._outputs or node.outputs[0] in elsewhere
                if is_view and not lands_elsewhere:
                    pending.append(node.outputs[0])
                if not is_view or lands_elsewhere or node.op_type == "Transpose":
                    found[node] = None
        return list(found)

    def add(self, writer: OnnxNode, gate: int, waiting: Sequence[OnnxNode]) -> None:
        """Makes a node wait for others, through one of its operands."""
        empties = [self._empty(node) for node in waiting]
        operand = writer.inputs[gate]
        if writer.op_type == "TensorScatter" and gate == 2:
            gated = self._new("Concat", [operand, *empties], axis=0)
        else:
            if operand in self.e.ranks:
                kept = self.e.constant(np.zeros(self.e.ranks[operand], np.int64)).name  # 0: the operand's own size
            else:
                kept = self._new("Shape", [operand])
            gated = self._new("Reshape", [operand, self._new("Concat", [kept, *empties], axis=0)])
        writer.inputs = [gated if at == gate else name for at, name in enumerate(writer.inputs)]
        self.consumers.setdefault(gated, []).append(writer)
        if operand not in writer.reads:
            self.consumers[operand] = [reader for reader in self.consumers[operand] if reader is not writer]
        self._put_behind(writer, self.producers[gated])

    def _empty(self, node: OnnxNode) -> str:
        """An int64 vector of no elements that depends on a node."""
        result = node.outputs[0]
        if result not in self._empties:
            zero = self.e.constant([0]).name
            flat = (
                result if self.e.ranks.get(result) == 1 else self._new("Reshape", [result, self.e.constant([-1]).name])
            )
            none = self._new("Slice", [flat, zero, zero])
            # The dtype is int64 already where the node is a check.
            self._empties[result] = none if result in self.e.all_checks else self._new("Cast", [none], to=DType.int64)
        return self._empties[result]

    def _new(self, op_type: str, inputs: list[str], **attributes: int | DType) -> str:
        name = self.e.onnx.fresh("g")
        node = OnnxNode(op_type, "", inputs, [name], dict(attributes))
        self._nodes.append(node)
        self.producers[name] = node
        for source in inputs:
            self.consumers.setdefault(source, []).append(node)
        self._place(node)
        return name
