"""The two sides of a comparison, as the command line names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from maxgraph.compare import Running
from maxgraph.driver import CPU, Accelerator
from maxgraph.engine import InferenceSession, Model
from maxgraph.errors import StateError, UsageError
from maxgraph.graph import Graph
from maxgraph.graph.type import TensorType

from .console import safe
from .states import begin_state

__all__ = ["COPIED", "PROVIDERS", "Start", "actual_side", "check_inputs", "expected_side"]

PROVIDERS = ("cpu", "cuda", "reference")
#: What else a file can be compared with: itself, with no memory shared.
COPIED = ("copied", "no-inplace")


@dataclass(frozen=True)
class Start:
    """What the buffers begin with.

    Attributes:
        state_in, any_program, set_state: The options of that name.
        seed: Of the random values for the buffers that a caller passes; None: they begin with zeros.
    """

    state_in: str | None
    any_program: bool
    set_state: Sequence[str]
    seed: int | None


def actual_side(graph: Graph, provider: str, threads: int, start: Start, sizes: Mapping[str, int]) -> Running:
    """The file that is judged.

    Raises:
        UsageError, StateError: A buffer is unknown, or its value does not fit.
        DeviceError: The provider is not there.
    """
    side = _running(provider, graph, provider, "auto", threads)
    side.state = begin_state(
        graph,
        side.model,
        state_in=start.state_in,
        any_program=start.any_program,
        reset=(),
        set_state=start.set_state,
        dims=sizes,
        rng=np.random.default_rng(start.seed or 0),
        fill=start.seed,
    )
    return side


def expected_side(
    against: str, other: Graph | None, actual: Running, provider: str, threads: int, start: Start
) -> Running:
    """What it is judged by, at the same state; buffers that another file owns begin as that file says.

    Args:
        against: What the user calls it.
        other: The other file's graph, if it is one.
        actual: The file that is judged.
        provider, threads: What runs that.
        start: What the buffers begin with.

    Raises:
        UsageError: A buffer of the other file has another type.
        DeviceError: The provider is not there.
    """
    graph = actual.model.graph
    given = set(actual.state.names)
    if other is None:
        copied = against in COPIED
        side = _running(against, graph, provider if copied else against, "copied" if copied else "auto", threads)
    else:
        side = _running(against, other, provider, "auto", threads)
        if start.state_in is None:
            given = {info.name for info in graph.buffers if info.state is None}
            given |= {text.partition("=")[0] for text in start.set_state}
    for name, array in actual.state.items():
        if name in given and name in side.state:
            try:
                side.state.set(name, array)
            except StateError as error:
                raise UsageError(
                    f"buffer `{safe(name)}` of {against} cannot begin as in the other file",
                    code=error.code,
                    details=error.details,
                ) from None
    return side


def check_inputs(graph: Graph, other: Graph, file: str, against: str) -> None:
    """Refuses two files that cannot be given the same inputs.

    Raises:
        UsageError: An input is only in one of them, or has another dtype or rank.
    """
    kinds, others = (
        {info.name: info.value.type for info in g.signature if isinstance(info.value.type, TensorType)}
        for g in (graph, other)
    )
    for name in (*kinds, *(n for n in others if n not in kinds)):
        ours, theirs = kinds.get(name), others.get(name)
        if ours is None or theirs is None or ours.dtype is not theirs.dtype or ours.rank != theirs.rank:
            raise UsageError(
                f"the two files do not take the same inputs: `{safe(name)}` differs",
                code="MG030",
                details=[(file, str(ours or "has none")), (against, str(theirs or "has none"))],
            )


def _running(name: str, graph: Graph, provider: str, buffers: str, threads: int) -> Running:
    """A side at its initial state; graphs that are made for a trace are not kept in the cache."""
    model = _loader(provider, buffers, threads, cache=True)(graph)
    return Running(name, model, model.new_state(), _loader(provider, buffers, threads, cache=False))


def _loader(provider: str, buffers: str, threads: int, *, cache: bool) -> Callable[[Graph], Model]:
    """How one side makes a model of a graph."""
    device = Accelerator() if provider == "cuda" else CPU()
    session = InferenceSession(devices=[device], num_threads=threads, buffers=buffers, cache=cache)
    return lambda graph: session.load(graph, reference=provider == "reference")
