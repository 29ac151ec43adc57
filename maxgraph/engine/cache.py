"""The compile cache: lowered graphs on disk, for the next process that loads the same graph.

A hit saves lowering, and the import of `onnx`. See ``docs/adr/0007-the-compile-cache.md`` for what a key holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from .. import __version__
from ..graph import ir
from ..graph.graph import Graph
from ..lower.codec import Malformed
from ..lower.entry import pack, unpack
from ..lower.lowered import Lowered
from ..lower.machine import machine_facts
from ..lower.trust import distrust
from ..store import Store

__all__ = ["CACHE_FORMAT", "KIND", "CompileCache"]

#: Goes up with each change of what an entry's bytes mean.
CACHE_FORMAT = 1
KIND = "compiled graph"
#: Weights in memory up to this size are hashed, which takes about 1 ms a MiB; a graph with more is lowered each time.
#: Those in a file have their digests there.
HASHED_BYTES = 16 << 20


class CompileCache:
    """Lowered graphs, found by all that they depend on.

    Args:
        store: Where they are; None: nothing is found, and nothing is kept.
    """

    def __init__(self, store: Store | None) -> None:
        self._store = store

    def key(self, graph: Graph, weights: Mapping[str, ir.WeightInfo], options: Mapping[str, str]) -> str | None:
        """The key of a graph that is lowered with these options; None if it is not to be kept.

        Args:
            weights: The graph's weights, with their elements.
            options: All arguments of `lower` that change its result.
        """
        if self._store is None:
            return None
        from . import digest_graph

        digest = digest_graph(graph, weights, HASHED_BYTES)
        if digest is None:
            return None
        ours = {"format": str(CACHE_FORMAT), "maxgraph": __version__, "distrust": distrust(options["provider"]) or ""}
        parts = {"graph": digest, **ours, **options, **machine_facts()}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def get(self, key: str | None, graph: Graph, weights: Mapping[str, ir.WeightInfo]) -> Lowered | None:
        """The lowered graph, if it is there and sound."""
        if self._store is None or key is None:
            return None
        body = self._store.get(key)
        try:
            return None if body is None else unpack(body, graph, weights)
        except Malformed:
            return None

    def put(self, key: str | None, lowered: Lowered, options: Mapping[str, str]) -> None:
        """Keeps a lowered graph."""
        if self._store is not None and key is not None:
            build = machine_facts()["onnxruntime"].partition(" ")[0]
            facts = {"kind": KIND, "name": lowered.graph_name[:200], "onnxruntime": build, **options}
            self._store.put(key, facts, pack(lowered))

    def drop(self, key: str | None) -> None:
        """Forgets an entry that turned out to be of no use."""
        if self._store is not None and key is not None:
            self._store.drop(key)
