"""From the header's graph to a `Graph`."""

from __future__ import annotations

from ..graph import ir
from ..graph.graph import Graph
from ..graph.type import TensorType
from ..v1 import graph_pb2, model_pb2
from . import features
from .checks import identifier
from .decode_attributes import AttributeDecoder
from .decode_debug import DebugDecoder
from .decode_inputs import InputDecoder
from .decode_nodes import NodeDecoder
from .decode_ops import decode_ops
from .decode_types import TypeTable
from .decode_values import Values
from .decode_weights import PlacedWeight, external_files, place_weights
from .errors import fail, need
from .limits import Limits
from .preamble import Preamble

__all__ = ["decode_graph"]


def decode_graph(model: model_pb2.Model, preamble: Preamble, limits: Limits) -> tuple[Graph, list[PlacedWeight]]:
    """The graph of a model, finished but for its weights' elements, and where these lie.

    The order is that in which the writer fills the tables.

    Raises:
        FormatError: Anything is not as this version writes it.
    """
    need(len(model.graphs) == 1, "MGG01", f"the model has {len(model.graphs)} graphs; this version reads one")
    written = model.graphs[0]
    graph = Graph(identifier(written.name, "MGG02", "a graph"))
    graph.source_root = None  # locations are relative already
    names = [weight.name for weight in model.weights]
    types, values, debug = TypeTable(model, limits), Values(limits), DebugDecoder(model, limits)
    attributes = AttributeDecoder(types, limits, names)
    ops = decode_ops(model)
    inputs = InputDecoder(model, graph, types, values, names)
    nodes = NodeDecoder(graph, written.blocks, ops, types, values, attributes, debug, limits)

    graph.signature += inputs.inputs(written)
    graph.body.nodes += nodes.body().nodes
    _check_access(graph, written)
    graph.finish(_outputs(written, values))
    need(len(nodes.used_ops) == len(ops), "MGO04", "an op is declared and not used")
    debug.finish(values)

    weights = place_weights(model, types, preamble, external_files(model, limits))
    used = attributes.used_weights | {index for _, index in inputs.initials}
    need(len(used) == len(weights), "MGW01", "a weight is not used")
    for state, index in inputs.initials:
        same = weights[index].type == state.type.as_tensor()
        need(same, "MGS04", f"state `{state.name}` is {state.type}, but its initial value {weights[index].type}")
    types.finish()
    needed = set(types.used)
    needed |= {features.STATES} if model.states else set()
    needed |= {features.CONTROL_FLOW} if len(written.blocks) > 1 else set()
    needed |= {features.EXTERNAL_WEIGHTS} if model.external_files else set()
    need(needed == set(model.required_features), "MGH07", "the declared features are not those that are used")
    return graph, weights


def _check_access(graph: Graph, written: graph_pb2.Graph) -> None:
    access = graph.access()
    for info, declared in zip(graph.signature, written.inputs, strict=True):
        if declared.access != int(access.get(info.value, ir.Access.NONE)):
            fail("MGE04", f"input `{info.name}` declares another access than its use")


def _outputs(written: graph_pb2.Graph, values: Values) -> list[tuple[str, ir.Value]]:
    names = [identifier(entry.name, "MGG03", "an output") for entry in written.outputs]
    need(len(set(names)) == len(names), "MGG03", "two outputs have one name")
    found = [values.at(entry.value, "MGG15") for entry in written.outputs]
    for name, value in zip(names, found, strict=True):
        need(isinstance(value.type, TensorType), "MGG15", f"output `{name}` is a buffer")
    return list(zip(names, found, strict=True))
