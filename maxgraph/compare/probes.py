"""A graph whose values in between are outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..graph import ir
from ..graph.graph import Graph
from ..graph.inline import Inliner
from ..graph.ops.buffer import buffer_load

__all__ = ["Probe", "probed", "probes"]


@dataclass(frozen=True)
class Probe:
    """A value of a node: one of its results, or what a buffer holds after it.

    Attributes:
        number: The node's place in the graph's body, from 0.
        node: The node.
        result: Which of its results; None for a buffer.
        buffer: The buffer that it changes.
    """

    number: int
    node: ir.Node
    result: int | None = None
    buffer: ir.Value | None = None


def probes(graph: Graph) -> Iterator[Probe]:
    """Every value of the graph's body, in program order; of a branch or a loop, what it yields and changes."""
    for number, node in enumerate(graph.body.nodes):
        for at in range(len(node.results)):
            yield Probe(number, node, result=at)
        for buffer, access in node.effects:
            if access & ir.Access.WRITE:
                yield Probe(number, node, buffer=buffer)


def probed(graph: Graph, wanted: Sequence[Probe], *, results: bool) -> Graph:
    """A copy of a graph with these values as outputs.

    Args:
        graph: A finished graph.
        wanted: Some of its probes.
        results: Whether to keep its own outputs, in front.
    """
    given = [info for info in graph.signature if info.state is None]
    other = Graph(graph.name, input_types=[i.value.type for i in given], input_names=[i.name for i in given])
    other.source_root = graph.source_root
    writer = _Writer(graph, other, wanted)
    own = writer.run([info.value for info in other.signature])
    names = [name for name, _ in graph.results]
    outputs = list(zip(names, own, strict=True)) if results else []
    for at, probe in enumerate(wanted):
        name = f"value{at}"
        while name in names:
            name += "_"
        outputs.append((name, writer.values[probe]))
    other.finish(outputs)
    return other


class _Writer(Inliner):
    """Writes the graph into the copy, and a load behind each store whose buffer is wanted."""

    def __init__(self, source: Graph, target: Graph, wanted: Sequence[Probe]) -> None:
        super().__init__(source, target)
        self.values: dict[Probe, ir.Value] = {}
        self._wanted: dict[ir.Node, list[Probe]] = {}
        for probe in wanted:
            self._wanted.setdefault(probe.node, []).append(probe)

    def _node(self, node: ir.Node) -> None:
        super()._node(node)
        for probe in self._wanted.get(node, ()):
            if probe.buffer is None:
                self.values[probe] = self._values[node.results[probe.result or 0]]
            else:
                buffer = self._values[probe.buffer]
                load = ir.Node(buffer_load, (buffer,), (1,), {}, location=node.location)
                (self.values[probe],) = buffer_load.add(self._target, load, [buffer.tensor_type])
