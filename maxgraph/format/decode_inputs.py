"""From the header's inputs and states to the graph's signature."""

from __future__ import annotations

from ..graph import ir
from ..graph.graph import Graph
from ..graph.type import BufferType, TensorType
from ..v1 import graph_pb2, model_pb2
from .checks import check_sorted, identifier
from .decode_types import TypeTable
from .decode_values import Values
from .errors import fail, need

__all__ = ["InputDecoder"]


class InputDecoder:
    """Decodes the inputs of a graph, and the states that some of them are bound to.

    Args:
        weights: The names of the model's weights, by index.

    Attributes:
        initials: The states that begin as a weight, with its index.
    """

    def __init__(
        self, model: model_pb2.Model, graph: Graph, types: TypeTable, values: Values, weights: list[str]
    ) -> None:
        check_sorted([state.name for state in model.states], "MGS01", "states")
        self._states = model.states
        self._graph = graph
        self._types = types
        self._values = values
        self._weights = weights
        self._bound: set[int] = set()
        self.initials: list[tuple[ir.StateInfo, int]] = []

    def inputs(self, written: graph_pb2.Graph) -> list[ir.InputInfo]:
        """The signature; every state of the model is bound to one input."""
        names = [entry.name for entry in written.inputs]
        need(len(set(names)) == len(names), "MGG03", "two inputs have one name")
        found = [self._input(entry) for entry in written.inputs]
        need(len(self._bound) == len(self._states), "MGG06", "a state is bound to no input")
        return found

    def _input(self, entry: graph_pb2.Input) -> ir.InputInfo:
        name = identifier(entry.name, "MGG03", "an input")
        type_ = self._types.type(entry.type)
        value = self._values.define(ir.Value(type_, self._graph, name=name))
        if isinstance(type_, TensorType):
            need(entry.access == 0 and not entry.HasField("state"), "MGG05", f"tensor `{name}` has access or state")
            return ir.InputInfo(name, value)
        need(entry.access in (0, 1, 2, 3), "MGG05", f"buffer `{name}` has access {entry.access}")
        state = self._state(entry, name, type_) if entry.HasField("state") else None
        return ir.InputInfo(name, value, state)

    def _state(self, entry: graph_pb2.Input, name: str, type_: BufferType) -> ir.StateInfo:
        """The state that an input is bound to; it has the input's name and type."""
        index = entry.state
        free = index < len(self._states) and index not in self._bound
        need(free, "MGG06", f"`{name}` is bound to a state that is not there, or bound already")
        self._bound.add(index)
        state = self._states[index]
        need(state.name == name and state.type == entry.type, "MGG06", f"input `{name}` and its state differ")
        self._types.static(type_, "MGS02", f"state `{name}`")
        initial = state.WhichOneof("initial")
        if initial is None:
            fail("MGS04", f"state `{name}` does not say how it begins")
        if initial != "weight":
            return ir.StateInfo(name, type_, scratch=initial == "scratch")
        need(state.weight < len(self._weights), "MGS04", f"state `{name}` names weight {state.weight}")
        made = ir.StateInfo(name, type_, self._weights[state.weight])
        self.initials.append((made, state.weight))
        return made
