"""Several graphs that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import TypeRuleError, user_location
from .only_in_max import MLIR, OnlyInMax

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["Module"]


class Module:
    """A container of graphs, in the order in which they were made; ``Graph(..., module=module)`` puts one in.

    Example:
        >>> from maxgraph.graph import Graph
        >>> module = Module()
        >>> prefill = Graph("prefill", lambda: None, module=module)
        >>> decode = Graph("decode", lambda: None, module=module)
        >>> module.top_level_graph_names()
        ['prefill', 'decode']
    """

    mlir_module = OnlyInMax(MLIR)

    def __init__(self) -> None:
        self.graphs: list[Graph] = []

    def top_level_graph_names(self) -> list[str]:
        """The names of the graphs."""
        return [graph.name for graph in self.graphs]

    def add(self, graph: Graph) -> None:
        """Puts a graph in.

        Raises:
            ValueError: There is one of this name.
        """
        if graph.name in self.top_level_graph_names():
            raise TypeRuleError(
                f"the module has a graph `{graph.name}` already", code="MG006", where=user_location(columns=True)
            )
        self.graphs.append(graph)
