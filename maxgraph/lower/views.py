"""Inputs that are bound under other shapes, so that no node has to give them these shapes.

A ``Reshape`` of an input to a fixed shape copies nothing, but it is a node, and each costs a third of a microsecond in
each execution. Its result can as well be an input of its own, bound to the same memory under that shape.

That changes nothing that was proved: the proof took such a result for a view of the input, no node came before it, and
whoever read it reads the same memory now.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .executed import ExecutedGraph, captured
from .lowered import Entry, InputView

if TYPE_CHECKING:
    import onnx

__all__ = ["bind_views"]


def bind_views(model: onnx.ModelProto, executed: ExecutedGraph) -> Entry | None:
    """The graph with inputs in the place of their views; None if it has no such view."""
    import onnx
    from onnx import numpy_helper

    graph = model.graph
    inputs = {info.name: info for info in graph.input}
    constants = {tensor.name: tensor for tensor in graph.initializer if tensor.data_location != tensor.EXTERNAL}
    views: dict[str, InputView] = {}
    for node in graph.node:
        if node.op_type != "Reshape" or node.domain or node.output[0] in executed.outputs:
            continue
        source, shape = node.input[:2]
        if source in inputs and shape in constants:
            sizes = tuple(int(size) for size in numpy_helper.to_array(constants[shape]))
            if all(size > 0 for size in sizes) and math.prod(sizes) == _elements(inputs[source]):
                views[node.output[0]] = InputView(source, node.output[0], sizes)
    if not views:
        return None
    short = onnx.ModelProto()
    short.CopyFrom(model)
    graph = short.graph
    kept = [node for node in graph.node if node.output[0] not in views]
    del graph.node[:]
    graph.node.extend(kept)
    for view in views.values():
        kind = inputs[view.source].type.tensor_type.elem_type
        graph.input.append(onnx.helper.make_tensor_value_info(view.name, kind, view.shape))
    read = {name for node in graph.node for name in (*node.input, *captured(node, shapes=True))}
    unread = {name for name in inputs if name not in read and name not in executed.outputs}
    for parts, gone in ((graph.input, unread), (graph.initializer, set(constants) - read - executed.outputs)):
        rest = [part for part in parts if part.name not in gone]
        del parts[:]
        parts.extend(rest)
    return Entry(bytes(short.SerializeToString()), tuple(views.values()), frozenset(unread))


def _elements(info: onnx.ValueInfoProto) -> int | None:
    """The number of elements of an input; None if it is not known."""
    dims = info.type.tensor_type.shape.dim
    return math.prod(dim.dim_value for dim in dims) if all(dim.HasField("dim_value") for dim in dims) else None
