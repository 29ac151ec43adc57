"""The first node whose results differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine import State
from ..errors import SourceLocation
from ..graph import ir
from ..graph.graph import Graph
from ..graph.text import node_text, number_values
from .differences import Difference, difference
from .probes import Probe, probed, probes
from .sides import Running, tensor_inputs
from .tolerance import Tolerances

__all__ = ["Divergence", "step_values", "trace"]

Array = np.ndarray[Any, Any]
#: Values that are looked at one at a time, each with two models of its own.
_MOST_ALONE = 256


@dataclass(frozen=True)
class Divergence:
    """What `trace` found.

    Attributes:
        number: The node's place in the graph's body, from 0; None if no node differs.
        op: The op's name.
        where: The line of the user's program.
        text: The node as `maxg inspect --show nodes` writes it.
        value: Which of its values: "result", "result 1", or "buffer" with its name.
        difference: How the two values differ.
        operands: The largest absolute difference among the node's operands; None if that is not known.
        alone: Whether it was only seen when each value was looked at in a run of its own: with all of them as outputs
            the runtime optimises less.
        note: What else is to be said: that the two programs are not the same from some node on, or that no node
            differs.
    """

    number: int | None = None
    op: str = ""
    where: SourceLocation | None = None
    text: str = ""
    value: str = ""
    difference: Difference | None = None
    operands: float | None = None
    alone: bool = False
    note: str | None = None


def trace(
    actual: Running,
    expected: Running,
    inputs: Mapping[str, Array],
    before: tuple[Mapping[str, Array], Mapping[str, Array]],
    tolerances: Tolerances | None = None,
) -> Divergence:
    """Runs one step of both sides with the values in between as outputs, and finds the first node that differs.

    Nodes inside a branch or a loop are not looked at one by one: the node that holds them is named.

    Args:
        actual, expected: The sides. Their own states are not touched.
        inputs: The step's inputs.
        before: What the buffers of each side hold before the step.
        tolerances: See `compare_steps`; what is given for a name does not count here.

    Raises:
        ExecutionError: A side fails on this data.
    """
    tolerances = tolerances or Tolerances()
    ours, theirs = list(probes(actual.model.graph)), list(probes(expected.model.graph))
    same, note = _matching(actual.model.graph, expected.model.graph, ours, theirs)
    ours, theirs = ours[:same], theirs[:same]
    pair = (step_values(actual, ours, inputs, before[0]), step_values(expected, theirs, inputs, before[1]))
    found = _first(ours, pair, tolerances, alone=False)
    if found is None:
        for mine, other in list(zip(ours, theirs, strict=True))[:_MOST_ALONE]:
            one = (
                step_values(actual, [mine], inputs, before[0], results=True),
                step_values(expected, [other], inputs, before[1], results=True),
            )
            found = _first([mine], one, tolerances, alone=True)
            if found is not None:
                break
    if found is not None:
        return found
    if note is None:
        note = (
            "no node differs by more than the tolerances for all names when its values are looked at, which changes "
            "how the whole is optimised and shares memory"
        )
        note += f"; {_MOST_ALONE} of {same} values were looked at one at a time" if same > _MOST_ALONE else ""
    return Divergence(note=note)


def _matching(a: Graph, b: Graph, ours: Sequence[Probe], theirs: Sequence[Probe]) -> tuple[int, str | None]:
    """How many values of two graphs belong to equal ops, and what differs from there on."""
    for at, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if mine.node.op is not other.node.op or (mine.result, mine.buffer is None) != (
            other.result,
            other.buffer is None,
        ):
            texts = [
                f"`{p.node.op.name}`" + (f" ({p.node.location})" if p.node.location else "") for p in (mine, other)
            ]
            return at, f"from node {mine.number} on the two programs are not the same: {texts[0]} for {texts[1]}"
    if len(ours) != len(theirs):
        longer = a if len(ours) > len(theirs) else b
        more = abs(len(ours) - len(theirs))
        return min(len(ours), len(theirs)), (
            f"graph `{longer.name}` has {more} value{'' if more == 1 else 's'} more than the other"
        )
    return len(ours), None


def step_values(
    side: Running,
    wanted: Sequence[Probe],
    inputs: Mapping[str, Array],
    before: Mapping[str, Array],
    *,
    results: bool = False,
) -> list[Array]:
    """What these values are in one step.

    Args:
        side: Its own state is not touched.
        wanted: Probes of its graph.
        inputs, before: The step's inputs, and what the buffers hold before it.
        results: Whether the graph keeps its own outputs, too.

    Raises:
        ExecutionError: The graph fails on this data.
    """
    if not wanted:
        return []
    graph = probed(side.model.graph, wanted, results=results)
    model = side.load(graph)
    state = State(model)
    for name in state.names:
        if name in before:
            state.set(name, before[name])
    outputs = model.execute(*(inputs[name] for name in tensor_inputs(model)), state=state)
    return [output.to_numpy() for output in outputs[len(outputs) - len(wanted) :]]


def _first(
    wanted: Sequence[Probe], pair: tuple[list[Array], list[Array]], tolerances: Tolerances, *, alone: bool
) -> Divergence | None:
    apart: dict[ir.Value, float] = {}
    for probe, ours, theirs in zip(wanted, *pair, strict=True):
        common = Tolerances(tolerances.rtol, tolerances.atol)
        found = difference(ours, theirs, common.of("", ours.dtype.name))
        if not found.ok:
            return _divergence(probe, found, apart, alone=alone)
        if probe.result is not None:
            apart[probe.node.results[probe.result]] = found.most.amount if found.most is not None else 0.0
    return None


def _divergence(probe: Probe, found: Difference, apart: Mapping[ir.Value, float], *, alone: bool) -> Divergence:
    node = probe.node
    operands = [value for value in node.operands if value.node is not None]
    known = None if alone else max((apart[value] for value in operands if value in apart), default=None)
    if probe.buffer is not None:
        value = f"buffer `{probe.buffer.name}`"
    else:
        value = "result" if len(node.results) == 1 else f"result {probe.result}"
    graph = node.results[0].graph if node.results else node.operands[0].graph
    text = node_text(node, number_values(graph)) if isinstance(graph, Graph) else ""
    return Divergence(probe.number, node.op.name, node.location, text, value, found, known, alone)
