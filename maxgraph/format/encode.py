"""From a graph to the header message, in canonical form.

Blobs are left for the writer: a weight's entry has its type, and the writer sets where its bytes lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import FormatError, TypeRuleError
from ..graph import ir
from ..graph.graph import Graph
from ..graph.ops.registry import Op, OperandKind
from ..v1 import graph_pb2, model_pb2
from . import features
from .encode_attributes import encode_attribute
from .encode_debug import DebugTable
from .tables import Tables

__all__ = ["encode"]

_ACCESS = {
    ir.Access.NONE: graph_pb2.ACCESS_UNSPECIFIED,
    ir.Access.READ: graph_pb2.ACCESS_READ,
    ir.Access.WRITE: graph_pb2.ACCESS_WRITE,
    ir.Access.READ_WRITE: graph_pb2.ACCESS_READ_WRITE,
}


def encode(graph: Graph, *, version: str, metadata: Mapping[str, str], strip_debug: bool = False) -> model_pb2.Model:
    """The header message of a graph, without blobs.

    Raises:
        ValueError: The graph has no output yet, or holds a number or text that the file cannot.
    """
    if not graph.finished:
        raise TypeRuleError(f"graph `{graph.name}` has no output", code="MG005", help="call graph.output(...) first")
    model = model_pb2.Model()
    model.producer.name = "maxgraph"
    model.producer.version = version
    try:
        _Encoder(graph, model, strip_debug=strip_debug).run()
        for key in sorted(metadata):
            model.metadata.add(key=key, value=metadata[key])
    except ValueError as error:  # protobuf's, for an int beyond 64 bits or text that is no Unicode
        raise FormatError(f"graph `{graph.name}` cannot be written: {error}", code="MG045") from None
    return model


class _Encoder:
    def __init__(self, graph: Graph, model: model_pb2.Model, *, strip_debug: bool) -> None:
        self.graph = graph
        self.model = model
        self.tables = Tables(model)
        self.debug = None if strip_debug else DebugTable(model, graph.source_root)
        self.numbers: dict[ir.Value, int] = {}
        self.weights = {name: at for at, name in enumerate(sorted(_weights_of(graph)))}
        self.states = {name: at for at, name in enumerate(sorted(i.name for i in graph.signature if i.state))}
        ops = sorted({node.op for node in graph.nodes()}, key=lambda op: (op.domain, op.name, op.version))
        self.ops: dict[Op[..., object], int] = {op: at for at, op in enumerate(ops)}

    def run(self) -> None:
        """Fills the message."""
        model = self.model
        for op in self.ops:
            model.ops.add(domain=op.domain, name=op.name, version=op.version)
        written = model.graphs.add(name=self.graph.name)
        access = self.graph.access()
        for info in self.graph.signature:
            self._define(info.value)
            entry = written.inputs.add(name=info.name, type=self.tables.type(info.value.type))
            entry.access = _ACCESS[access.get(info.value, ir.Access.NONE)]
            if info.state is not None:
                entry.state = self.states[info.name]
        written.blocks.add()
        self._block(self.graph.body, written, 0)
        for name, value in self.graph.results:
            written.outputs.add(name=name, value=self.numbers[value])
        for name in self.weights:
            model.weights.add(name=name, type=self.tables.type(self.graph.weights[name].type))
        for state in sorted((i.state for i in self.graph.signature if i.state), key=lambda state: state.name):
            self._state(state)
        model.required_features.extend(sorted(self.tables.used))

    def _state(self, state: ir.StateInfo) -> None:
        entry = self.model.states.add(name=state.name, type=self.tables.type(state.type))
        if state.scratch:
            entry.scratch.SetInParent()
        elif state.initial is None:
            entry.zero.SetInParent()
        else:
            entry.weight = self.weights[state.initial]
        self.tables.used.add(features.STATES)

    def _define(self, value: ir.Value) -> None:
        self.numbers[value] = len(self.numbers) + 1

    def _block(self, block: ir.Block, written: graph_pb2.Graph, index: int) -> None:
        for node in block.nodes:
            self._node(node, written.blocks[index].nodes.add(), written)
        if index:
            written.blocks[index].results.extend(self.numbers[value] for value in block.results)

    def _node(self, node: ir.Node, entry: graph_pb2.Node, written: graph_pb2.Graph) -> None:
        entry.op = self.ops[node.op]
        entry.operands.extend(self.numbers[value] for value in node.operands)
        if any(o.kind in (OperandKind.OPTIONAL, OperandKind.VARIADIC) for o in node.op.operands):
            entry.operand_segments.extend(node.segments)
        kinds = {spec.name: spec.kind for spec in node.op.attributes}
        for name in sorted(node.attributes):
            added = entry.attributes.add(name=name)
            encode_attribute(kinds[name], node.attributes[name], added, self.tables, self.weights)
        for inner in node.blocks:
            self._inner_block(inner, entry, written)
        for result in node.results:
            self._define(result)
            entry.result_types.append(self.tables.type(result.type))
            if result.name is not None and self.debug is not None:
                self.debug.name(self.numbers[result], result.name)
        for buffer, access in sorted(node.effects, key=lambda effect: self.numbers[effect[0]]):
            entry.effects.add(buffer=self.numbers[buffer], access=_ACCESS[access])
        if node.location is not None and self.debug is not None:
            entry.location = self.debug.location(node.location)

    def _inner_block(self, inner: ir.Block, entry: graph_pb2.Node, written: graph_pb2.Graph) -> None:
        self.tables.used.add(features.CONTROL_FLOW)
        index = len(written.blocks)
        added = written.blocks.add()
        entry.blocks.append(index)
        for parameter in inner.params:
            self._define(parameter)
            added.param_types.append(self.tables.type(parameter.type))
        self._block(inner, written, index)


def _weights_of(graph: Graph) -> Iterable[str]:
    """The weights that the graph uses: by a node, or as a state's initial value."""
    used = {a.name for node in graph.nodes() for a in node.attributes.values() if isinstance(a, ir.WeightRef)}
    return used | {info.state.initial for info in graph.signature if info.state is not None and info.state.initial}
