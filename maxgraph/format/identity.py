"""What a graph is, in one digest, without writing it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from ..errors import MaxGraphError
from ..graph import ir
from ..graph.graph import Graph
from .elements import Elements
from .encode import encode
from .mapped import MappedData

__all__ = ["graph_digest"]

_OURS = "maxgraph.graph.ops."


def graph_digest(graph: Graph, weights: Mapping[str, ir.WeightInfo], *, hash_bytes: int) -> str | None:
    """A digest of all that a graph says, the elements of its weights and its source lines included.

    Weights that no op reads, such as initial values of buffers, do not count. Those that lie in a file have their
    digest from there; those in memory are hashed.

    Args:
        weights: The graph's weights, with their elements.
        hash_bytes: So many bytes of weights in memory are hashed at most.

    Returns:
        The digest, in hexadecimal; None if there are more weights in memory, if the graph cannot be written at all, or
        if it has an op that is not ours, so that nobody knows when its meaning changes.
    """
    if any(not node.op.__module__.startswith(_OURS) for node in graph.nodes()):
        return None
    names = sorted({a.name for n in graph.nodes() for a in n.attributes.values() if isinstance(a, ir.WeightRef)})
    used = [weights[name] for name in names]
    in_memory = sum(w.type.num_bytes for w in used if not isinstance(w.data, MappedData))
    if in_memory > hash_bytes or any(w.data is None for w in used):
        return None
    try:
        header = encode(graph, version="", metadata={}).SerializeToString(deterministic=True)
        digests = [_weight_digest(weight) for weight in used]
    except MaxGraphError:  # a file refuses what may well run, such as a text that is no Unicode
        return None
    # The header has source files relative to the build script, and an error shows them as Python knows them.
    files = sorted({node.location.file for node in graph.nodes() if node.location is not None})
    hasher = hashlib.sha256()
    for part in (header, *digests, *(file.encode(errors="surrogateescape") for file in files)):
        hasher.update(len(part).to_bytes(8, "little"))
        hasher.update(part)
    return hasher.hexdigest()


def _weight_digest(weight: ir.WeightInfo) -> bytes:
    if isinstance(weight.data, MappedData):
        return weight.data.place.sha256
    if weight.data is None:  # pragma: no cover - the caller looked
        raise AssertionError(weight.name)
    return Elements(weight.name, weight.type, weight.data).digest()
