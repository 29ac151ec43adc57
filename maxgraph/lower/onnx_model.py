"""A plain ONNX graph under construction, and its serialisation.

Nodes may be added and rewired in any order; they are sorted topologically when the model is written.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..dtype import DType
from ..graph import ir
from ..graph.graph import Graph
from ..graph.shape import Shape
from ..graph.type import TensorTypeBase, static_dim
from .kernels import METADATA_ONLY

if TYPE_CHECKING:
    import numpy as np
    import onnx

__all__ = [
    "EMPTY",
    "IR_VERSION",
    "OnnxBlock",
    "OnnxGraph",
    "OnnxNode",
    "consumers",
    "in_order",
    "is_node_name",
    "onnx_dtype",
    "origin_of",
    "producers",
    "write_value_info",
]

#: The ONNX IR version that is written: the lowest that onnxruntime 1.32 needs for opset 24.
IR_VERSION = 10
_NODE_NAME = re.compile(r"node (\d+)\.\d+\Z", re.ASCII)
#: The location that external data names. It is never opened: the elements are always given from memory.
EMPTY = "maxgraph-weights"


def onnx_dtype(dtype: DType) -> int:
    """ONNX's number of an element type."""
    from onnx import TensorProto

    name = {
        DType.float32: "FLOAT",
        DType.float64: "DOUBLE",
        DType.float8_e4m3fn: "FLOAT8E4M3FN",
        DType.float8_e4m3fnuz: "FLOAT8E4M3FNUZ",
        DType.float8_e5m2: "FLOAT8E5M2",
        DType.float8_e5m2fnuz: "FLOAT8E5M2FNUZ",
        DType.float8_e8m0fnu: "FLOAT8E8M0",
        DType.float4_e2m1fn: "FLOAT4E2M1",
    }.get(dtype, dtype.name.upper())
    return int(TensorProto.DataType.Value(name))


@dataclass(slots=True, eq=False)
class OnnxNode:
    """One node.

    Attributes:
        origin: The node of the user's graph that it stands for.
        blocks: Its subgraphs, by the attribute that holds each.
        alias: It only gives its operand a second name, and is left out of the model.
    """

    op_type: str
    domain: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    origin: ir.Node | None = None
    name: str = ""
    alias: bool = False
    blocks: dict[str, OnnxBlock] = field(default_factory=dict)

    @property
    def reads(self) -> list[str]:
        """The names that it reads: its operands, and what its subgraphs use of the graph around them."""
        if not self.blocks:
            return self.inputs
        return list(dict.fromkeys([*self.inputs, *(name for block in self.blocks.values() for name in block.captured)]))

    def reads_elements(self, name: str) -> bool:
        """Whether it, or a node of its subgraphs, reads more of a value than its shape."""
        return (name in self.inputs and self.op_type not in METADATA_ONLY) or any(
            node.reads_elements(name) for block in self.blocks.values() for node in block.nodes
        )


@dataclass(slots=True)
class OnnxBlock:
    """A subgraph of a node: its nodes in order, and its inputs and outputs by name."""

    nodes: list[OnnxNode] = field(default_factory=list)
    inputs: dict[str, TensorTypeBase] = field(default_factory=dict)
    outputs: dict[str, TensorTypeBase] = field(default_factory=dict)

    @property
    def captured(self) -> list[str]:
        """What it reads of the graph around it."""
        own = {*self.inputs, *(name for node in self.nodes for name in node.outputs)}
        return [
            name for name in dict.fromkeys(n for node in self.nodes for n in node.reads) if name and name not in own
        ]

    def drop_unused(self) -> None:
        """Leaves out nodes that no output needs."""
        needed = set(self.outputs)
        kept = []
        for node in reversed(self.nodes):
            if not needed.isdisjoint(node.outputs):
                needed.update(node.reads)
                kept.append(node)
        self.nodes = kept[::-1]


@dataclass(slots=True)
class OnnxGraph:
    """Nodes, initialisers, inputs and outputs, by name."""

    nodes: list[OnnxNode] = field(default_factory=list)
    constants: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    weights: dict[str, ir.WeightInfo] = field(default_factory=dict)
    inputs: dict[str, TensorTypeBase] = field(default_factory=dict)
    outputs: dict[str, TensorTypeBase] = field(default_factory=dict)
    opset: int = 18
    _names: int = 0

    def fresh(self, stem: str) -> str:
        """A name that is not used yet."""
        self._names += 1
        return f"{stem}{self._names}"

    def producers(self) -> dict[str, OnnxNode]:
        """The node that yields each value."""
        return producers(self.nodes)

    def sort(self) -> None:
        """Puts every node after the nodes that it reads from, otherwise as they were added."""
        self.nodes = in_order(self.nodes)

    def to_model(self, origins: Iterable[ir.Node] = ()) -> bytes:
        """The model, serialised. Weights are external data that is never opened by its location.

        Args:
            origins: The nodes of the user's graph, for `origin_of`.
        """
        import onnx
        from onnx import numpy_helper

        numbers = {node: at for at, node in enumerate(origins)}
        self._inline_aliases()
        self.drop_unused()
        self.sort()
        model = onnx.ModelProto(ir_version=IR_VERSION)
        model.opset_import.add(domain="", version=self.opset)
        for domain in sorted({n.domain for n in _every(self.nodes) if n.domain}):
            model.opset_import.add(domain=domain, version=1)
        graph = model.graph
        graph.name = "maxgraph"
        read = {name for node in self.nodes for name in node.reads}
        for name, type_ in self.inputs.items():
            if name in read:
                write_value_info(graph.input.add(), name, type_)
        for name, type_ in self.outputs.items():
            write_value_info(graph.output.add(), name, type_)
        for name, array in self.constants.items():
            if name not in read:
                continue
            graph.initializer.append(numpy_helper.from_array(array, name))
        self.weights = {name: weight for name, weight in self.weights.items() if name in read}
        for name, weight in self.weights.items():
            tensor = graph.initializer.add(name=name, data_type=onnx_dtype(weight.type.dtype))
            tensor.dims.extend(weight.type.shape.static_dims)
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", EMPTY), ("offset", "0"), ("length", str(weight.type.num_bytes))):
                tensor.external_data.add(key=key, value=value)
        for at, node in enumerate(self.nodes):
            _write_node(node, graph.node.add(), _node_name(node, at, numbers))
        return bytes(model.SerializeToString())

    def _inline_aliases(self) -> None:
        """Lets readers of an alias read what it stands for."""
        source = {n.outputs[0]: n.inputs[0] for n in self.nodes if n.alias}
        self.nodes = [n for n in self.nodes if not n.alias]
        for node in _every(self.nodes):
            for at, name in enumerate(node.inputs):
                while name in source:
                    name = source[name]  # noqa: PLW2901 - an alias of an alias
                node.inputs[at] = name

    def drop_unused(self) -> None:
        """Leaves out nodes that no output needs."""
        producers = self.producers()
        needed: set[str] = set()
        pending = list(self.outputs)
        while pending:
            name = pending.pop()
            if name and name not in needed:
                needed.add(name)
                if name in producers:
                    pending += producers[name].reads
        self.nodes = [n for n in self.nodes if any(o in needed for o in n.outputs)]


def producers(nodes: Iterable[OnnxNode]) -> dict[str, OnnxNode]:
    """The node that yields each value."""
    return {output: node for node in nodes for output in node.outputs}


def consumers(nodes: Iterable[OnnxNode]) -> dict[str, list[OnnxNode]]:
    """The nodes that read each value."""
    readers: dict[str, list[OnnxNode]] = {}
    for node in nodes:
        for name in dict.fromkeys(node.reads):
            if name:
                readers.setdefault(name, []).append(node)
    return readers


def in_order(nodes: list[OnnxNode]) -> list[OnnxNode]:
    """Nodes, each after those that it reads from, otherwise as they are."""
    makers = producers(nodes)
    position = {id(node): at for at, node in enumerate(nodes)}
    waiting = {id(n): len({id(makers[i]) for i in n.reads if i in makers}) for n in nodes}
    followers: dict[int, list[OnnxNode]] = {}
    for node in nodes:
        for before in {id(makers[i]) for i in node.reads if i in makers}:
            followers.setdefault(before, []).append(node)
    ready = [position[id(n)] for n in nodes if not waiting[id(n)]]
    heapq.heapify(ready)
    order: list[OnnxNode] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for after in followers.get(id(node), ()):
            waiting[id(after)] -= 1
            if not waiting[id(after)]:
                heapq.heappush(ready, position[id(after)])
    if len(order) != len(nodes):  # pragma: no cover - edges are only added where they close no cycle
        raise AssertionError("the lowered graph has a cycle")
    return order


def _every(nodes: Iterable[OnnxNode]) -> Iterator[OnnxNode]:
    """Nodes, and those of their subgraphs."""
    for node in nodes:
        yield node
        for block in node.blocks.values():
            yield from _every(block.nodes)


def _write_node(node: OnnxNode, written: onnx.NodeProto, name: str) -> None:
    import onnx

    written.op_type, written.domain, written.name = node.op_type, node.domain, name
    written.input.extend(node.inputs)
    written.output.extend(node.outputs)
    for key, value in node.attributes.items():
        written.attribute.append(_attribute(key, value))
    for key, block in node.blocks.items():
        attribute = written.attribute.add(name=key, type=onnx.AttributeProto.GRAPH)
        attribute.g.name = key
        for value, type_ in block.inputs.items():
            write_value_info(attribute.g.input.add(), value, type_)
        for value, type_ in block.outputs.items():
            write_value_info(attribute.g.output.add(), value, type_)
        for inner in block.nodes:
            _write_node(inner, attribute.g.node.add(), inner.name)


def write_value_info(info: onnx.ValueInfoProto, name: str, type_: TensorTypeBase) -> None:
    """Fills in what a model says of an input or an output."""
    info.name = name
    tensor = info.type.tensor_type
    tensor.elem_type = onnx_dtype(type_.dtype)
    tensor.shape.SetInParent()  # a shape of rank 0 is there, and empty
    for dim, parameter in zip(type_.shape, _dim_names(type_.shape), strict=True):
        size = static_dim(dim)
        written = tensor.shape.dim.add()
        if size is not None:
            written.dim_value = size
        else:
            written.dim_param = parameter


def _node_name(node: OnnxNode, number: int, numbers: Mapping[ir.Node, int]) -> str:
    """A name that leads back to the user's node, for when onnxruntime speaks of it; nothing of a file's text is in it.

    No two nodes may have the same name, so it ends in a number.
    """
    if node.name or node.origin is None or node.origin not in numbers:
        return node.name
    return f"node {numbers[node.origin]}.{number}"


def is_node_name(name: str) -> bool:
    """Whether a name is one that `OnnxGraph.to_model` has made up."""
    return _NODE_NAME.fullmatch(name) is not None


def origin_of(name: str, graph: Graph) -> ir.Node | None:
    """The user's node that a node stands for, if the end of its name still tells."""
    match = _NODE_NAME.search(name)
    return None if match is None else next(islice(graph.nodes(), int(match[1]), None), None)


def _dim_names(shape: Shape) -> Iterable[str]:
    """ONNX names for dims: equal dims share one, and nothing of the user's text is in it but identifiers."""
    return [str(dim).replace(" ", "") for dim in shape]


def _attribute(name: str, value: Any) -> onnx.AttributeProto:
    from onnx import helper

    if isinstance(value, DType):
        value = onnx_dtype(value)
    elif isinstance(value, bool):
        value = int(value)
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        value = list(value)
        if not value:
            from onnx import AttributeProto

            return helper.make_attribute(name, value, attr_type=AttributeProto.INTS)
    return helper.make_attribute(name, value)
