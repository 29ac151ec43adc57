"""Running graphs: sessions, models, and the states that live on between executions."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..graph import ir
from ..graph.graph import Graph
from .model import Model
from .session import InferenceSession
from .spec import TensorSpec
from .state import State

__all__ = ["InferenceSession", "Model", "State", "TensorSpec"]


def read_graph(path: str | os.PathLike[str]) -> Graph:
    """The graph of a file. It is here because this is the one module of the engine that knows the format."""
    from ..format import load

    return load(path)


def digest_graph(graph: Graph, weights: Mapping[str, ir.WeightInfo], hash_bytes: int) -> str | None:
    """See `maxgraph.format.graph_digest`; here for the same reason."""
    from ..format import graph_digest

    return graph_digest(graph, weights, hash_bytes=hash_bytes)


def program_of(graph: Graph) -> str:
    """The hash of what a graph computes; here for the same reason."""
    from ..format import program_hash

    return program_hash(graph)
