"""From a graph to the header message, in canonical form.

Blobs are left for the writer: a weight's entry has its type, and the writer sets where its bytes lie.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping

from ..dtype import DType
from ..errors import FormatError, TypeRuleError
from ..graph import ir
from ..graph.graph import Graph
from ..graph.ops.registry import AttributeKind, Op, OperandKind
from ..graph.shape import Shape
from ..graph.type import TensorType
from ..v1 import graph_pb2, model_pb2
from . import features
from .tables import DTYPE_NUMBERS, Tables

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
        ValueError: The graph has no output yet, or metadata are malformed.
    """
    if not graph.finished:
        raise TypeRuleError(f"graph `{graph.name}` has no output", code="MG005", help="call graph.output(...) first")
    return _Encoder(graph, strip_debug=strip_debug).run(version, metadata)


class _Encoder:
    def __init__(self, graph: Graph, *, strip_debug: bool) -> None:
        self.graph = graph
        self.strip_debug = strip_debug
        self.model = model_pb2.Model()
        self.tables = Tables(self.model)
        self.numbers: dict[ir.Value, int] = {}
        self.weights = {name: at for at, name in enumerate(sorted(_weights_of(graph)))}
        states = sorted(info.name for info in graph.signature if info.state is not None)
        self.states = {name: at for at, name in enumerate(states)}
        ops = {node.op for node in graph.nodes()}
        self.ops: dict[Op[..., object], int] = {
            op: at for at, op in enumerate(sorted(ops, key=lambda op: (op.domain, op.name, op.version)))
        }
        self.files: dict[str, int] = {}
        self.locations: dict[tuple[str, int], int] = {}

    def run(self, version: str, metadata: Mapping[str, str]) -> model_pb2.Model:
        """The whole message."""
        model = self.model
        model.producer.name = "maxgraph"
        model.producer.version = version
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
        self._states()
        for key in sorted(metadata):
            model.metadata.add(key=key, value=metadata[key])
        model.required_features.extend(sorted(self.tables.used))
        return model

    def _states(self) -> None:
        by_name = {info.name: info for info in self.graph.signature}
        for name in self.states:
            info = by_name[name].state
            if info is None:  # pragma: no cover - self.states holds nothing else
                raise AssertionError(name)
            entry = self.model.states.add(name=name, type=self.tables.type(info.type))
            if info.scratch:
                entry.scratch.SetInParent()
            elif info.initial is None:
                entry.zero.SetInParent()
            else:
                entry.weight = self.weights[info.initial]
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
            self._attribute(kinds[name], node.attributes[name], entry.attributes.add(name=name))
        for inner in node.blocks:
            self.tables.used.add(features.CONTROL_FLOW)
            index = len(written.blocks)
            added = written.blocks.add()
            entry.blocks.append(index)
            for parameter in inner.params:
                self._define(parameter)
                added.param_types.append(self.tables.type(parameter.type))
            self._block(inner, written, index)
        for result in node.results:
            self._define(result)
            entry.result_types.append(self.tables.type(result.type))
            if result.name is not None and not self.strip_debug:
                self.model.debug_info.value_names.add(graph=0, value=self.numbers[result], name=result.name)
        for buffer, access in sorted(node.effects, key=lambda effect: self.numbers[effect[0]]):
            entry.effects.add(buffer=self.numbers[buffer], access=_ACCESS[access])
        if node.location is not None and not self.strip_debug:
            entry.location = 1 + self._location(self._relative(node.location.file), node.location.line)

    def _attribute(self, kind: AttributeKind, value: ir.Attribute, entry: graph_pb2.Attribute) -> None:
        match kind, value:
            case AttributeKind.BOOL, bool():
                entry.bool_val = value
            case AttributeKind.INT, int():
                entry.int_val = value
            case AttributeKind.FLOAT, float():
                entry.float_val = math.nan if math.isnan(value) else value
            case AttributeKind.STRING, str():
                entry.string_val = value
            case AttributeKind.DTYPE, DType():
                entry.dtype_val = DTYPE_NUMBERS[value]
            case AttributeKind.TYPE, TensorType():
                entry.type_val = self.tables.type(value)
            case AttributeKind.WEIGHT, ir.WeightRef():
                entry.weight_val = self.weights[value.name]
            case AttributeKind.LITERAL, ir.Literal():
                entry.literal_val.type = self.tables.type(value.type)
                entry.literal_val.data = value.data
            case AttributeKind.INTS, tuple():
                entry.ints_val.values.extend(value)  # type: ignore[arg-type]  # the op's spec says they are ints
                entry.ints_val.SetInParent()
            case AttributeKind.DIMS, Shape():
                self.tables.dims(value, entry.dims_val.values)
                entry.dims_val.SetInParent()
            case _:  # pragma: no cover - ops check their attributes
                raise FormatError(f"attribute {entry.name} cannot be written", code="MGA02")

    def _relative(self, file: str) -> str:
        """A source file as the debug information names it: relative to the folder of the build script."""
        root = self.graph.source_root
        if root is None or file.startswith("<"):
            return file
        path = os.path.relpath(os.path.abspath(file), root).replace(os.sep, "/")
        return os.path.basename(file) if path.startswith("../") else path

    def _location(self, file: str, line: int) -> int:
        index = self.locations.get((file, line))
        if index is None:
            debug = self.model.debug_info
            if file not in self.files:
                self.files[file] = len(self.files)
                debug.files.append(file)
            index = self.locations[file, line] = len(self.locations)
            debug.locations.add(file=self.files[file], line=line)
        return index


def _weights_of(graph: Graph) -> Iterable[str]:
    """The weights that the graph uses: by a node, or as a state's initial value."""
    used = {a.name for node in graph.nodes() for a in node.attributes.values() if isinstance(a, ir.WeightRef)}
    return used | {info.state.initial for info in graph.signature if info.state is not None and info.state.initial}
