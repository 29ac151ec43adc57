"""The graph that onnxruntime will execute, indexed for the proof."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .kernels import METADATA_ONLY, VIEWS

if TYPE_CHECKING:
    import onnx

__all__ = ["ExecutedGraph", "captured"]


class ExecutedGraph:
    """A graph of the optimised model, indexed: who makes and reads each value, and each node's ancestors."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.graph = graph
        self.nodes = list(graph.node)
        self.producer: dict[str, int] = {}
        self.readers: dict[str, list[int]] = {}
        self.operands: list[list[str]] = []
        self.outputs = {output.name for output in graph.output}
        self._branches: dict[int, list[ExecutedGraph]] = {}
        for at, node in enumerate(self.nodes):
            operands = [*node.input, *captured(node)]
            self.operands.append(operands)
            for name in dict.fromkeys(operands):
                if name:
                    self.readers.setdefault(name, []).append(at)
            for name in node.output:
                if name:
                    self.producer[name] = at
        # Bit i of ancestors[n]: node i runs before node n in any order. The model lists nodes in such an order.
        self.ancestors: list[int] = []
        for at, node in enumerate(self.nodes):
            before = 0
            for name in (*node.input, *captured(node, shapes=True)):
                maker = self.producer.get(name)
                if maker is not None:
                    if maker >= at:  # pragma: no cover - onnx requires topological order
                        raise AssertionError("the optimised model is not sorted")
                    before |= self.ancestors[maker] | 1 << maker
            self.ancestors.append(before)

    def precedes(self, first: int, second: int) -> bool:
        """Whether a node is an ancestor of another."""
        return bool(self.ancestors[second] >> first & 1)

    def branches(self, at: int) -> list[ExecutedGraph]:
        """The subgraphs of a node."""
        if at not in self._branches:
            graphs = [attribute.g for attribute in self.nodes[at].attribute if attribute.HasField("g")]
            self._branches[at] = [ExecutedGraph(graph) for graph in graphs]
        return self._branches[at]

    def memory_of(self, *given: str) -> set[str]:
        """The names whose elements lie in the memory of these values: themselves, and views of them."""
        names = set(given)
        pending = list(given)
        while pending:
            for at in self.readers.get(pending.pop(), ()):
                node = self.nodes[at]
                if node.op_type in VIEWS and not node.domain and node.input[0] in names:
                    view = node.output[0]
                    if view not in self.outputs and view not in names:
                        names.add(view)
                        pending.append(view)
        return names

    def readers_of(self, names: Iterable[str]) -> set[int]:
        """The nodes that read the elements of any of these names; views only pass them on."""
        found = set()
        for name in names:
            for at in self.readers.get(name, ()):
                node = self.nodes[at]
                passes_on = node.op_type in VIEWS and not node.domain and node.output[0] not in self.outputs
                if not passes_on and node.op_type not in METADATA_ONLY:
                    found.add(at)
        return found


def captured(node: onnx.NodeProto, *, shapes: bool = False) -> list[str]:
    """Names of the outer graph whose elements, or also shapes, the node's subgraphs may read; more of them is safe."""
    names: list[str] = []
    for attribute in node.attribute:
        for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            for inner in graph.node:
                if shapes or inner.op_type not in METADATA_ONLY:
                    names += [*inner.input, *captured(inner, shapes=shapes)]
            names += [output.name for output in graph.output]
    return names
