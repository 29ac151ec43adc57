"""Constants that onnxruntime's optimiser computes in branches and loops, where no element may lie outside the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import onnx

__all__ = ["lift_folded"]


def lift_folded(graph: onnx.GraphProto, folded: dict[str, np.ndarray[Any, Any]]) -> bool:
    """Makes initialisers of subgraphs whose elements lie outside the model initialisers of the outermost graph.

    Args:
        graph: The optimised graph, which is changed.
        folded: The elements of those that the optimiser made, which may get other names.

    Returns:
        Whether there was any.
    """
    from onnx import helper, numpy_helper

    parts = list(_graphs(graph))
    uses = Counter(tensor.name for part in parts for tensor in part.initializer)
    changed = False
    for part in parts[1:]:
        outputs = {output.name for output in part.output}
        for tensor in [t for t in part.initializer if t.data_location == t.EXTERNAL]:
            changed = True
            name = tensor.name
            if uses[name] > 1:  # another subgraph has one of this name: the elements are written into the model
                tensor.CopyFrom(numpy_helper.from_array(folded[name], name))
                continue
            lifted = graph.initializer.add()
            lifted.CopyFrom(tensor)
            part.initializer.remove(tensor)
            if name in outputs:  # a subgraph cannot yield a value of the graph around it
                lifted.name = f"{name}_folded"
                folded[lifted.name] = folded.pop(name)
                part.node.insert(0, helper.make_node("Identity", [lifted.name], [name]))
    return changed


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """A graph, and all that are nested in it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)
