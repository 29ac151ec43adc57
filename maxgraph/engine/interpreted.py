"""A graph run by the interpreter, with the same checks, states and results as on onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..driver.arrays import Array
from ..graph.graph import Graph
from ..reference import Interpreter
from .layout import Layout
from .memory import Claim, Owners, check_buffers_apart, check_tensors_apart, ranges_of
from .signature import Form
from .state import State

__all__ = ["Interpreted"]


class Interpreted:
    """Runs a graph in numpy: slow, and the meaning that everything else must agree with."""

    def __init__(self, graph: Graph, weights: Mapping[str, Array]) -> None:
        self._graph = graph
        self._interpreter = Interpreter(graph, weights)

    def run(
        self, form: Form, tensors: Sequence[Array], callers: Sequence[Array], layout: Layout, state: State
    ) -> list[Array]:
        """See `Executor.run`."""
        check_buffers_apart(form, callers)
        check_tensors_apart(form, Owners(callers), tensors, callers)
        buffers = {slot.name: array for (_, slot), array in zip(form.buffers, callers, strict=False)}
        for info in self._graph.buffers:
            if info.name not in buffers and not (info.state is not None and info.state.scratch):
                buffers[info.name] = state.cell(info.name).allocate(layout.sizes)
        claim = Claim(ranges_of(callers))
        claim.take()
        try:
            inputs = {slot.name: array for (_, slot), array in zip(form.tensors, tensors, strict=True)}
            results = self._interpreter.run(inputs, buffers)
        finally:
            claim.release()
        return [results[name] for name, _ in self._graph.results]
