"""From the header's graph to a `Graph`: numbering, types and effects are all checked against the op registry."""

from __future__ import annotations

import math
from typing import Any

from ..errors import SourceLocation
from ..graph import ir
from ..graph.graph import Graph
from ..graph.ops.registry import AttributeKind, Op, OperandKind, Refusal, lookup
from ..graph.type import BufferType, TensorType
from ..v1 import graph_pb2, model_pb2
from .decode_types import TypeTable
from .decode_weights import check_sorted, identifier, text
from .errors import escaped, fail, need
from .limits import Limits
from .tables import DTYPES

__all__ = ["GraphDecoder", "decode_ops"]

_FIELDS = {
    "bool_val": AttributeKind.BOOL,
    "int_val": AttributeKind.INT,
    "float_val": AttributeKind.FLOAT,
    "string_val": AttributeKind.STRING,
    "dtype_val": AttributeKind.DTYPE,
    "type_val": AttributeKind.TYPE,
    "weight_val": AttributeKind.WEIGHT,
    "literal_val": AttributeKind.LITERAL,
    "ints_val": AttributeKind.INTS,
    "dims_val": AttributeKind.DIMS,
}


def decode_ops(model: model_pb2.Model) -> list[Op[..., Any]]:
    """The ops that a model names.

    Raises:
        FormatError: They are not sorted, or one is unknown.
    """
    keys = [(ref.domain, ref.name, ref.version) for ref in model.ops]
    check_sorted(keys, "MGO01", "ops")
    found = []
    for domain, name, version in keys:
        identifier(domain, "MGO02", "an op's domain")
        identifier(name, "MGO02", "an op")
        need(version >= 1, "MGO02", f"op {domain}.{name} has version {version}")
        op = lookup(domain, name, version)
        if op is None:
            fail(
                "MGO05",
                f"the model needs op {domain}.{name} version {version}, which this maxgraph does not know",
                "upgrade with `pip install --upgrade maxg`",
            )
        found.append(op)
    return found


class GraphDecoder:
    """Decodes one graph.

    Args:
        weights: The names of the model's weights, by index.

    Attributes:
        states: The model's states, by index, once the inputs that are bound to them are decoded.
    """

    def __init__(
        self,
        model: model_pb2.Model,
        ops: list[Op[..., Any]],
        types: TypeTable,
        limits: Limits,
        weights: list[str],
    ) -> None:
        self.model = model
        self.ops = ops
        self.types = types
        self.limits = limits
        self.weights = weights
        self.states: dict[int, ir.StateInfo] = {}
        self._used_ops: set[int] = set()
        self._used_weights: set[int] = set()
        self._values: list[ir.Value | None] = [None]
        self._nodes = 0

    def decode(self, written: graph_pb2.Graph) -> Graph:
        """The graph, finished."""
        graph = Graph(identifier(written.name, "MGG02", "a graph"))
        graph.source_root = None  # locations are relative already
        self.graph = graph
        names = [entry.name for entry in written.inputs]
        need(len(set(names)) == len(names), "MGG03", "two inputs have one name")
        for entry in written.inputs:
            graph.signature.append(self._input(entry))
        need(len(self.states) == len(self.model.states), "MGG06", "a state is bound to no input")
        need(len(written.blocks) >= 1, "MGG07", "the graph has no body")
        body = written.blocks[0]
        need(not body.param_types and not body.results, "MGG07", "the body has parameters or results")
        need(len(written.blocks) == 1, "MGG12", "a block that no node names")
        for node in body.nodes:
            graph.body.nodes.append(self._node(node))
        access = graph.access()
        for info, declared in zip(graph.signature, written.inputs, strict=True):
            if declared.access != int(access.get(info.value, ir.Access.NONE)):
                fail("MGE04", f"input `{info.name}` declares another access than its use")
        outputs = [entry.name for entry in written.outputs]
        need(len(set(outputs)) == len(outputs), "MGG03", "two outputs have one name")
        results = []
        for output in written.outputs:
            name = identifier(output.name, "MGG03", "an output")
            value = self._operand(output.value, "MGG15")
            need(isinstance(value.type, TensorType), "MGG15", f"output `{name}` is a buffer")
            results.append((name, value))
        graph.finish(results)
        need(len(self._used_ops) == len(self.ops), "MGO04", "an op is declared and not used")
        initials = {self.weights.index(s.initial) for s in self.states.values() if s.initial is not None}
        need(len(self._used_weights | initials) == len(self.weights), "MGW01", "a weight is not used")
        self._names()
        return graph

    def _define(self, value: ir.Value) -> ir.Value:
        self._values.append(value)
        need(len(self._values) <= self.limits.values, "MGG04", f"more than {self.limits.values} values")
        return value

    def _input(self, entry: graph_pb2.Input) -> ir.InputInfo:
        name = identifier(entry.name, "MGG03", "an input")
        type_ = self.types.type(entry.type)
        value = self._define(ir.Value(type_, self.graph, name=name))
        if isinstance(type_, TensorType):
            need(entry.access == 0 and not entry.HasField("state"), "MGG05", f"tensor `{name}` has access or state")
            return ir.InputInfo(name, value)
        need(entry.access in (0, 1, 2, 3), "MGG05", f"buffer `{name}` has access {entry.access}")
        state = self._state(entry, name, type_) if entry.HasField("state") else None
        return ir.InputInfo(name, value, state)

    def _state(self, entry: graph_pb2.Input, name: str, type_: BufferType) -> ir.StateInfo:
        """The state that an input is bound to; it has the input's name and type."""
        index = entry.state
        need(
            index < len(self.model.states) and index not in self.states, "MGG06", f"`{name}` is bound to a wrong state"
        )
        state = self.model.states[index]
        need(state.name == name and state.type == entry.type, "MGG06", f"input `{name}` and its state differ")
        self.types.static(type_, "MGS02", f"state `{name}`")
        initial = state.WhichOneof("initial")
        if initial is None:
            fail("MGS04", f"state `{name}` does not say how it begins")
        if initial == "weight":
            need(state.weight < len(self.weights), "MGS04", f"state `{name}` names weight {state.weight}")
        made = ir.StateInfo(
            name, type_, self.weights[state.weight] if initial == "weight" else None, scratch=initial == "scratch"
        )
        self.states[index] = made
        return made

    def _operand(self, number: int, code: str = "MGG10") -> ir.Value:
        value = self._values[number] if 0 < number < len(self._values) else None
        if value is None:
            fail(code, f"value {number} is not defined at this place")
        return value

    def _node(self, entry: graph_pb2.Node) -> ir.Node:
        self._nodes += 1
        need(self._nodes <= self.limits.nodes, "MGG09", f"more than {self.limits.nodes} nodes")
        need(entry.op < len(self.ops), "MGO03", f"op index {entry.op} is out of range")
        self._used_ops.add(entry.op)
        op = self.ops[entry.op]
        operands = tuple(self._operand(number) for number in entry.operands)
        segments = self._segments(op, entry)
        attributes = self._attributes(op, entry)
        need(not entry.blocks, "MGO06", f"{op.name} takes no blocks")
        types = self._infer(op, operands, segments, attributes)
        node = ir.Node(op, operands, segments, attributes, location=self._location(entry.location))
        results = []
        for index in entry.result_types:
            type_ = self.types.type(index)
            need(not isinstance(type_, BufferType), "MGG14", f"{op.name} yields a buffer")
            results.append(self._define(ir.Value(type_, self.graph, node)))
        if [value.type for value in results] != list(types):
            found = ", ".join(str(value.type) for value in results)
            fail("MGO07", f"{op.name} gives {', '.join(map(str, types))}, but the file says {found or 'nothing'}")
        node.results = tuple(results)
        node.effects = op.effects_on(operands, segments)
        self._check_effects(op, node, entry)
        return node

    def _segments(self, op: Op[..., Any], entry: graph_pb2.Node) -> tuple[int, ...]:
        flexible = any(o.kind in (OperandKind.OPTIONAL, OperandKind.VARIADIC) for o in op.operands)
        if not flexible:
            need(not entry.operand_segments, "MGG11", f"{op.name} takes no operand segments")
            need(len(entry.operands) == len(op.operands), "MGO06", f"{op.name} takes {len(op.operands)} operands")
            return (1,) * len(op.operands)
        segments = tuple(entry.operand_segments)
        need(len(segments) == len(op.operands), "MGG11", f"{op.name} needs {len(op.operands)} operand segments")
        need(sum(segments) == len(entry.operands), "MGG11", f"the operand segments of {op.name} do not add up")
        for operand, count in zip(op.operands, segments, strict=True):
            single = operand.kind in (OperandKind.TENSOR, OperandKind.BUFFER)
            need(not single or count == 1, "MGO06", f"{op.name}: `{operand.name}` takes one operand")
            need(operand.kind is not OperandKind.OPTIONAL or count <= 1, "MGO06", f"{op.name}: `{operand.name}`")
        return segments

    def _infer(
        self, op: Op[..., Any], operands: tuple[ir.Value, ...], segments: tuple[int, ...], attributes: dict[str, Any]
    ) -> tuple[TensorType, ...]:
        try:
            return op.infer([value.type for value in operands], segments, attributes)
        except Refusal as refusal:
            fail("MGO07", f"{op.name}: {escaped(refusal.message, 200)}")
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
            # A type rule is written for what a user can call; a file can name what no call can.
            fail("MGO07", f"{op.name} cannot have these operands and attributes ({type(error).__name__})")

    def _check_effects(self, op: Op[..., Any], node: ir.Node, entry: graph_pb2.Node) -> None:
        numbers = {id(value): number for number, value in zip(entry.operands, node.operands, strict=True)}
        actual = sorted((numbers[id(buffer)], int(access)) for buffer, access in node.effects)
        declared = [(effect.buffer, int(effect.access)) for effect in entry.effects]
        check_sorted([buffer for buffer, _ in declared], "MGE01", "effects")
        for number, access in declared:
            need(access in (1, 2, 3), "MGE02", f"an effect with access {access}")
            need(isinstance(self._operand(number, "MGE02").type, BufferType), "MGE02", "an effect on a tensor")
        need(declared == actual, "MGE03", f"{op.name} declares other effects than it has")

    def _attributes(self, op: Op[..., Any], entry: graph_pb2.Node) -> dict[str, ir.Attribute]:
        names = [attribute.name for attribute in entry.attributes]
        check_sorted(names, "MGA01", "attributes")
        specs = {spec.name: spec for spec in op.attributes}
        for name in names:
            need(name in specs, "MGO06", f"{op.name} has no attribute `{escaped(name)}`")
        found: dict[str, ir.Attribute] = {}
        for attribute in entry.attributes:
            field = attribute.WhichOneof("value")
            if field is None:
                fail("MGA02", f"{op.name}: attribute `{attribute.name}` has no value")
            kind = specs[attribute.name].kind
            need(_FIELDS.get(field) is kind, "MGO06", f"{op.name}: `{attribute.name}` must be of kind {kind.value}")
            found[attribute.name] = self._attribute(kind, getattr(attribute, field))
        for spec in op.attributes:
            need(spec.optional or spec.name in found, "MGO06", f"{op.name} lacks attribute `{spec.name}`")
        # In the op's own order: the file's is alphabetical.
        return {spec.name: found[spec.name] for spec in op.attributes if spec.name in found}

    def _attribute(self, kind: AttributeKind, value: Any) -> ir.Attribute:
        match kind:
            case AttributeKind.STRING:
                return text(value, self.limits, "MGA02", "a text attribute")
            case AttributeKind.FLOAT:
                return math.nan if math.isnan(value) else float(value)
            case AttributeKind.DTYPE:
                dtype = DTYPES.get(value)
                if dtype is None:
                    fail("MGT04", f"unknown element type {value}")
                return dtype
            case AttributeKind.TYPE:
                return self.types.tensor(value)
            case AttributeKind.WEIGHT:
                need(value < len(self.weights), "MGA02", f"weight index {value} is out of range")
                self._used_weights.add(value)
                return ir.WeightRef(self.weights[value])
            case AttributeKind.LITERAL:
                return self._literal(value)
            case AttributeKind.INTS:
                need(len(value.values) <= self.limits.list_items, "MGA02", "a list that is too long")
                return tuple(value.values)
            case AttributeKind.DIMS:
                need(len(value.values) <= self.limits.list_items, "MGA02", "a list that is too long")
                return self.types.dims(value.values)
        return bool(value) if kind is AttributeKind.BOOL else int(value)

    def _literal(self, value: graph_pb2.Literal) -> ir.Literal:
        type_ = self.types.tensor(value.type)
        size = self.types.static(type_, "MGA02", "a literal")
        need(size <= self.limits.literal_bytes, "MGA02", f"a literal of {size} bytes")
        need(len(value.data) == size, "MGA02", f"a literal of {size} bytes with {len(value.data)}")
        need(type_.dtype.name != "bool" or set(value.data) <= {0, 1}, "MGA02", "a bool that is neither 0 nor 1")
        return ir.Literal(type_, value.data)

    def _location(self, index: int) -> SourceLocation | None:
        debug = self.model.debug_info
        if index == 0:
            return None
        need(index <= len(debug.locations), "MGD01", f"location {index} is out of range")
        location = debug.locations[index - 1]
        need(location.file < len(debug.files), "MGD01", "a location in an unknown file")
        return SourceLocation(debug.files[location.file], location.line, location.column)

    def _names(self) -> None:
        """Gives values the names that the debug information records."""
        keys = [(entry.graph, entry.value) for entry in self.model.debug_info.value_names]
        check_sorted(keys, "MGD01", "value names")
        for entry in self.model.debug_info.value_names:
            known = entry.graph == 0 and 0 < entry.value < len(self._values)
            value = self._values[entry.value] if known else None
            if value is None or value.node is None:
                fail("MGD01", "a name for a value that is no node's result")
            value.name = text(entry.name, self.limits, "MGD01", "a value's name")
