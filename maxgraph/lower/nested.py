"""What onnxruntime's optimiser does to branches and loops that the rest of the converter must not meet.

- Where the predicate of an If is a constant, it replaces the If by the nodes of the branch that is taken, and renames
  them and their results. A check is known by both: by its result in the proof, and by its node when it fails.
- A constant that it computes in a branch becomes an initialiser of that branch; elements that lie outside the model can
  only be given to initialisers of the outermost graph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import onnx

__all__ = ["find_moved", "lift_folded"]

#: What stands before the name of a value that was moved out of one branch or more, and what may stand behind it.
_MOVED = re.compile(r"(?:_if_(?:then|else)_branch_)+(.+?)(?:_token_\d+)?")


def find_moved(graph: onnx.GraphProto, checks: Mapping[str, str]) -> dict[str, str]:
    """Names the nodes of checks that were moved as they were named before.

    Args:
        graph: The optimised graph; node names are changed.
        checks: The result of each check, with the name of its node; "" where that is not what fails.

    Returns:
        The results that were moved, each with its name now.
    """
    found: dict[str, str] = {}
    for part in _graphs(graph):
        for node in part.node:
            for name in node.output:
                moved = _MOVED.fullmatch(name)
                if moved is not None and moved[1] in checks:
                    found[moved[1]] = name
                    node.name = checks[moved[1]] or node.name
    return found


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
