"""Level run of `maxg check`: random inputs, the plan beside other ways to run it, and onnxruntime's own trace."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from maxgraph.compare import Running, compare_steps
from maxgraph.engine import InferenceSession
from maxgraph.errors import ExecutionError
from maxgraph.verify import trace

from .console import number
from .feeds import Feeds, read_feeds
from .states import begin_state
from .values import parse_dims

if TYPE_CHECKING:
    from maxgraph.engine import Model, State
    from maxgraph.graph import Graph

__all__ = ["WrongError", "run_beside"]


class WrongError(Exception):
    """The plan does not do what it should."""


@dataclass
class _Trial:
    """The same random inputs and buffers, as often as they are asked for."""

    graph: Graph
    steps: int
    seed: int
    dims: Sequence[str]

    def feeds(self) -> Feeds:
        return read_feeds(
            self.graph,
            (),
            scan=(),
            steps=self.steps,
            dims=parse_dims(self.dims),
            random=True,
            rng=np.random.default_rng(self.seed),
            fresh=True,
        )

    def state(self, model: Model) -> State:
        return begin_state(
            self.graph,
            model,
            state_in=None,
            any_program=False,
            reset=(),
            set_state=(),
            dims=self.feeds().sizes,
            rng=np.random.default_rng(self.seed),
            fill=self.seed,
        )

    def side(self, name: str, session: InferenceSession, *, reference: bool = False) -> Running:
        def load(graph: Graph) -> Model:
            return session.load(graph, reference=reference)

        model = load(self.graph)
        return Running(name, model, self.state(model), load)

    def run(self, model: Model) -> None:
        state = self.state(model)
        for feed in self.feeds().each():
            model(**feed, state=state)


def run_beside(graph: Graph, steps: int, seed: int, dims: Sequence[str]) -> str:
    """Runs a graph in three ways and under the profiler; gives what is to be said of it.

    Raises:
        WrongError: An output or a buffer differs, or a node ran too late.
    """
    trial, plain = _Trial(graph, steps, seed, dims), InferenceSession()
    sides = {"copied": (InferenceSession(buffers="copied"), False), "reference": (plain, True)}
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # what the graph prints
            for name, (session, reference) in sides.items():
                other = trial.side(name, session, reference=reference)
                report = compare_steps(trial.side("plan", plain), other, trial.feeds().each())
                if not report.ok:
                    wrong = ", ".join(entry.name for entry in report.entries if not entry.ok) or "the plan"
                    step = report.first.step if report.first else 0
                    raise WrongError(f"{wrong} differs from {name} in step {step}; see maxg compare --random --trace")
            violations = trace(graph, trial.run)
    except ExecutionError as error:
        return f"not told: the graph refuses random inputs ({error.summary})"
    if violations:
        raise WrongError(str(violations[0]))
    return f"{number(steps, 'step')} as the copied form and the meaning; the trace is in order"
