"""What each part of a call costs: the store of a row in 8,192, in a state, taken apart.

    python benchmarks/parts.py [--rounds 21] [--threads 1]

It calls the engine's layers one inside the other, and takes differences of their times: the median of those within a
round, and those of the least times of all rounds, which a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

import numpy as np
import row_store
from harness import Case, Form, headline, limit_numpy, measure

from maxgraph.engine import InferenceSession, Model

ROWS = 8192


def layers(model: Model) -> dict[str, Callable[[], object]]:
    """Calls of which each holds the one before it, and `take`, which stands beside them."""
    state, execute = model.new_state(), model.execute
    row, at = np.ones(64, np.float32), np.array(5)
    execute(row, at, state=state)
    program, form = model._executor, model._tensors_only
    bound = state.pools[program].free[0]
    layout, tensors = bound.layout, [row, at]
    writes, memories = bound._writes, bound._results.memories

    def copy_in() -> None:
        for position, memory, index in writes:
            memory[index] = tensors[position]

    return {
        "ort": bound._run,
        "in": copy_in,
        "out": lambda: [memory.copy() for memory in memories],
        "bound": lambda: bound.run(tensors, ()),
        "program": lambda: program.run(form, tensors, [], layout, state),
        "take": lambda: form.take((row, at)),
        "execute": lambda: execute(row, at, state=state),
        "nothing": lambda: None,
    }


#: A part's cost, from the times of the layers.
PARTS: dict[str, Callable[[dict[str, float]], float]] = {
    "arguments taken and checked": lambda t: t["take"] - t["nothing"],
    "index in range, state locked, results wrapped": lambda t: t["execute"] - t["program"] - t["take"] + t["nothing"],
    "binding found": lambda t: t["program"] - t["bound"],
    "inputs copied in": lambda t: t["in"] - t["nothing"],
    "onnxruntime, with its binding's Python": lambda t: t["ort"],
    "results copied out": lambda t: t["out"] - t["nothing"],
    "the rest: calls, loops": lambda t: t["bound"] - t["ort"] - t["in"] - t["out"] + t["nothing"],
    "all of it": lambda t: t["execute"] - t["nothing"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    limit_numpy(options.threads)
    print(headline(options.threads, options.rounds))
    calls = layers(InferenceSession(num_threads=options.threads).load(row_store.graph(ROWS)))
    case = Case("parts", {name: Form(lambda _: [], list, call) for name, call in calls.items()})
    measure(case, options.rounds)
    rounds = [dict(zip(case.times, times, strict=True)) for times in zip(*case.times.values(), strict=True)]
    least = {name: min(times) for name, times in case.times.items()}
    print(f"\nstore of a row, {ROWS} rows, state\n  {'':48}{'median µs':>10}{'of minima':>11}")
    for name, cost in PARTS.items():
        print(f"  {name:48}{statistics.median(map(cost, rounds)):10.2f}{cost(least):11.2f}")


if __name__ == "__main__":
    main()
