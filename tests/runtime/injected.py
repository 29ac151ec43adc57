"""Models that fail on purpose, in any node of the graph that onnxruntime executes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import onnx
from onnx import helper

from maxgraph.engine import Model
from maxgraph.engine.ort import OrtSession
from maxgraph.engine.program import Program
from maxgraph.lower.optimise import weight_value

__all__ = ["fail_after", "fail_in", "fail_inside", "inner_places", "node_names", "program_of"]

CPU_PROVIDER = "CPUExecutionProvider"


def program_of(model: Model) -> Program:
    """What runs the model."""
    program = model._executor
    assert isinstance(program, Program)
    return program


def executed(model: Model) -> onnx.ModelProto:
    """The graph that onnxruntime executes."""
    lowered = program_of(model).lowered
    return onnx.ModelProto.FromString(lowered.entry.model if lowered.entry else lowered.model)


def node_names(model: Model) -> list[str]:
    """The executed nodes that read something."""
    proto = executed(model)
    return [node.name for node in proto.graph.node if any(node.input)]


def fail_in(model: Model, name: str) -> Program:
    """The same program, whose node of this name fails when its first operand is there."""
    proto = executed(model)
    at, node = next((at, node) for at, node in enumerate(proto.graph.node) if node.name == name)
    node.name = "hit"  # whose place is taken by the node that fails
    _insert_before(proto, proto.graph, at, name)
    return _program(model, proto)


def inner_places(model: Model) -> list[tuple[int, int]]:
    """The executed nodes of branches and loops that read something: each by its graph's number, and its own there."""
    graphs = enumerate(_nested(executed(model).graph))
    return [(number, at) for number, graph in graphs for at, node in enumerate(graph.node) if any(node.input)]


def fail_inside(model: Model, place: tuple[int, int]) -> Program:
    """The same program, in which a node of a branch or a loop fails when its first operand is there."""
    proto = executed(model)
    number, at = place
    _insert_before(proto, list(_nested(proto.graph))[number], at, "")
    return _program(model, proto)


def _nested(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield attribute.g
                yield from _nested(attribute.g)


def _insert_before(proto: onnx.ModelProto, graph: onnx.GraphProto, at: int, name: str) -> None:
    """A node that fails, on which the node at this place depends."""
    node = graph.node[at]
    operand = next(place for place, source in enumerate(node.input) if source)
    source = node.input[operand]
    node.input[operand] = "injected_view"
    _insert(proto, graph, at, source, name)
    # A view under its own shape: it depends on the node that fails, and copies nothing.
    made = [
        helper.make_node("Shape", [source], ["injected_shape"]),
        helper.make_node("Add", ["injected_shape", "injected_zero"], ["injected_same"]),
        helper.make_node("Reshape", [source, "injected_same"], ["injected_view"], allowzero=1),
    ]
    for place, extra in enumerate(made):
        graph.node.insert(at + _INSERTED + place, extra)


def fail_after(model: Model, name: str) -> Program:
    """The same program with one more node, which fails after this one, and which nobody knows."""
    proto = executed(model)
    at, node = next((at, node) for at, node in enumerate(proto.graph.node) if node.name == name)
    _insert(proto, proto.graph, at + 1, node.output[0], "stranger")
    proto.graph.output.append(helper.make_tensor_value_info("injected_zero", onnx.TensorProto.INT64, []))
    return _program(model, proto, extra="injected_zero")


_INSERTED = 3


def _insert(proto: onnx.ModelProto, graph: onnx.GraphProto, at: int, source: str, name: str) -> None:
    """A lookup that fails, of entry 1 in a table of one entry, once `source` is there. It would give a zero."""
    made = [
        helper.make_node("Size", [source], ["injected_size"]),
        helper.make_node("Max", ["injected_size", "injected_one"], ["injected_index"]),
        helper.make_node("Gather", ["injected_table", "injected_index"], ["injected_zero"], name=name),
    ]
    for place, node in enumerate(made):
        graph.node.insert(at + place, node)
    proto.graph.initializer.append(helper.make_tensor("injected_one", onnx.TensorProto.INT64, [], [1]))
    proto.graph.initializer.append(helper.make_tensor("injected_table", onnx.TensorProto.INT64, [1], [0]))


def _program(model: Model, proto: onnx.ModelProto, extra: str | None = None) -> Program:
    program = program_of(model)
    lowered = program.lowered
    if extra is not None:  # an output that must be bound to be computed
        shown = dataclasses.replace(_print_of(), onnx_name=extra)
        lowered = dataclasses.replace(lowered, prints=(*lowered.prints, shown))
    session = OrtSession(
        proto.SerializeToString(),
        provider=CPU_PROVIDER,
        device_id=0,
        threads=1,
        weights={external.onnx_name: weight_value(external.weight) for external in lowered.external},
    )
    return Program(lowered, session, restores=program.restores)


def _print_of() -> object:
    from maxgraph.dtype import DType
    from maxgraph.graph import DeviceRef, TensorType
    from maxgraph.lower.lowered import PrintBinding

    return PrintBinding("", "injected", TensorType(DType.int64, [], DeviceRef.CPU()))
