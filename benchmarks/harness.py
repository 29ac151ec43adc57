"""What all benchmarks share: cases, the check that their forms mean the same, interleaved rounds, and the report."""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from maxgraph.engine import Model

Array = np.ndarray[Any, Any]
BY_HAND = "onnxruntime, binding by hand"
PLAIN = "onnxruntime, session.run"
NUMPY = "numpy"
STATE = "maxgraph, state"
CALLERS = "maxgraph, caller's buffers"

#: One form takes about so long in a round.
_SECONDS = 0.01


@dataclass
class Form:
    """One way to run a program.

    Attributes:
        step: A step on inputs that depend on its number; gives the results, and changes the buffers.
        buffers: What the buffers hold.
        call: What is measured: a step whose inputs are there already. The step itself if it is not given.
    """

    step: Callable[[int], Sequence[Array]]
    buffers: Callable[[], Sequence[Array]]
    call: Callable[[], object] | None = None


@dataclass
class Case:
    """One program in several forms.

    Attributes:
        name: What it is, with how the plan changes its buffers.
        forms: By name; they must mean the same.
        exact: Whether their results are equal to the bit.
    """

    name: str
    forms: dict[str, Form]
    exact: bool = True
    times: dict[str, list[float]] = field(default_factory=dict)

    def check(self, steps: int = 5) -> None:
        """Runs a few steps of every form: a benchmark of programs that differ says nothing."""
        wanted: list[list[Array]] = []
        for name, form in self.forms.items():
            found = [[*map(np.copy, form.step(step))] for step in range(steps)]
            found.append([*map(np.copy, form.buffers())])
            wanted = wanted or found
            for ours, theirs in zip(found, wanted, strict=True):
                for pair in zip(ours, theirs, strict=True):
                    flat = [array.reshape(-1) for array in pair]
                    if self.exact:
                        np.testing.assert_array_equal(*flat, err_msg=f"{self.name}: {name}")
                    else:
                        np.testing.assert_allclose(*flat, rtol=1e-4, atol=1e-5, err_msg=f"{self.name}: {name}")


def modes(model: Model) -> str:
    """How a model changes its buffers."""
    return ", ".join(dict.fromkeys(str(row.mode) for row in model.plan.buffers)) if model.plan else "interpreted"


def measure(case: Case, rounds: int) -> None:
    """Takes all forms in turn, in another order each round."""
    order = random.Random(0)
    calls = {name: form.call or partial(form.step, 3) for name, form in case.forms.items()}
    counts = {name: _count(call) for name, call in calls.items()}
    case.times = {name: [] for name in calls}
    names = list(calls)
    for _ in range(rounds):
        order.shuffle(names)
        for name in names:
            call, count = calls[name], counts[name]
            start = time.perf_counter()
            for _ in range(count):
                call()
            case.times[name].append((time.perf_counter() - start) / count * 1e6)


def _count(call: Callable[[], object]) -> int:
    """How often a call is made in a round; it is warm then."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        taken = time.perf_counter() - start
        if taken >= _SECONDS / 2:
            return max(1, round(count * _SECONDS / taken))
        count *= 4


def report(case: Case) -> None:
    """Medians, minima, and the medians of the ratios within one round."""
    bases = [name for name in (BY_HAND, NUMPY) if name in case.times]
    heads = "".join(f"{'x by hand' if base == BY_HAND else 'x numpy':>11}" for base in bases)
    print(f"\n{case.name}\n  {'':30}{'median µs':>11}{'min µs':>11}{heads}")
    for name in case.forms:
        times = case.times[name]
        ratios = [statistics.median(a / b for a, b in zip(times, case.times[base], strict=True)) for base in bases]
        shown = "".join(f"{ratio:11.2f}" for ratio in ratios)
        print(f"  {name:30}{statistics.median(times):11.1f}{min(times):11.1f}{shown}", flush=True)


def limit_numpy(threads: int) -> None:
    """Starts the program again with so many threads for numpy's products, which are read when numpy is imported."""
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    if any(os.environ.get(name) != str(threads) for name in names):
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **dict.fromkeys(names, str(threads))})


def headline(threads: int, rounds: int) -> str:
    """What was run, and on what."""
    return (
        f"onnxruntime {version('onnxruntime')}, numpy {np.__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, {threads} thread(s), {rounds} rounds"
    )


def main(made: Callable[[int], Sequence[Callable[[], Case]]], description: str | None) -> None:
    """Checks, measures and reports one case after another, so that only one of them is in memory."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    limit_numpy(options.threads)
    print(headline(options.threads, options.rounds))
    for make in made(options.threads):
        case = make()
        case.check()
        measure(case, options.rounds)
        report(case)
