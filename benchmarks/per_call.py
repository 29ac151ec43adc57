"""What a call of `Model.execute` costs, beside onnxruntime used by hand.

    python benchmarks/per_call.py [--rounds 31] [--threads 1]

See the README here for what is compared and how.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version

import by_hand
import numpy as np

from maxgraph.driver import Buffer
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType

CPU = DeviceRef.CPU()
ROWS = (1024, 8192, 65536)
BASE = "onnxruntime, binding by hand"
PLAIN = "onnxruntime, session.run"


@dataclass
class Case:
    """One program in several forms, each a call that takes nothing."""

    name: str
    calls: dict[str, Callable[[], object]]
    times: dict[str, list[float]] = field(default_factory=dict)


def counter_graph() -> Graph:
    """The old value is the result, the buffer counts up."""
    state_type = BufferType(DType.float32, [4], CPU)
    with Graph("counter", input_types=[state_type], input_names=["state"]) as graph:
        state = graph.inputs[0].buffer
        old = state[...]
        state[...] = old + 1
        graph.output(old=old)
    return graph


def store_graph(rows: int) -> Graph:
    """One row is stored, the row that was there is the result."""
    types = [TensorType(DType.float32, [64], CPU), TensorType(DType.int64, [], CPU)]
    names = ["row", "at", "cache"]
    with Graph("store", input_types=[*types, BufferType(DType.float32, [rows, 64], CPU)], input_names=names) as graph:
        row, at = (value.tensor for value in graph.inputs[:2])
        cache = graph.inputs[2].buffer
        old = cache[at]
        cache[at] = row
        graph.output(old=old)
    return graph


def counter_case(threads: int) -> Case:
    """The counter."""
    bound, plain = by_hand.counter(threads)
    model = InferenceSession(num_threads=threads).load(counter_graph())
    memory, state = Buffer.zeros([4], DType.float32), model.new_state()
    expect_equal(lambda _: bound(), lambda _: model.execute(memory)[0].to_numpy())
    calls: dict[str, Callable[[], object]] = {
        BASE: bound,
        PLAIN: plain,
        "maxgraph, caller's buffer": lambda: model.execute(memory),
        "maxgraph, state": lambda: model.execute(state=state),
    }
    return Case(f"counter, 4 floats ({mode(model)})", calls)


def store_case(rows: int, threads: int) -> Case:
    """The store of one row."""
    bound, plain = by_hand.store(rows, threads)
    model = InferenceSession(num_threads=threads).load(store_graph(rows))
    memory, state = np.zeros((rows, 64), np.float32), model.new_state()
    row, at = np.ones(64, np.float32), np.array(5)
    rows_in = np.arange(640, dtype=np.float32).reshape(10, 64)
    expect_equal(
        lambda i: bound(rows_in[i], i % 3).reshape(64), lambda i: model.execute(rows_in[i], i % 3, memory)[0].to_numpy()
    )
    calls: dict[str, Callable[[], object]] = {
        BASE: lambda: bound(row, 5),
        PLAIN: lambda: plain(row, 5),
        "maxgraph, caller's buffer": lambda: model.execute(row, at, memory),
        "maxgraph, state": lambda: model.execute(row, at, state=state),
    }
    return Case(f"store of a row, {rows} rows ({mode(model)})", calls)


def mode(model: Model) -> str:
    """How the model's one buffer is changed."""
    return str(model.plan.buffers[0].mode) if model.plan else "interpreted"


def expect_equal(one: Callable[[int], object], other: Callable[[int], object]) -> None:
    """Both forms must mean the same, or the comparison means nothing."""
    for step in range(10):
        np.testing.assert_array_equal(one(step), other(step))


def measure(cases: list[Case], rounds: int) -> None:
    """Takes all forms of all cases in turn, in another order each round."""
    pairs = [(case, form) for case in cases for form in case.calls]
    for number in range(rounds + 1):
        random.shuffle(pairs)
        for case, form in pairs:
            call = case.calls[form]
            times = 5 if form == PLAIN and "65536" in case.name else 1000
            start = time.perf_counter()
            for _ in range(times):
                call()
            if number:  # the first round warms up
                case.times.setdefault(form, []).append((time.perf_counter() - start) / times * 1e6)


def report(cases: list[Case]) -> None:
    """Prints medians, and medians of the ratios within one round."""
    for case in cases:
        print(f"\n{case.name}\n  {'':30} {'median µs':>10} {'min µs':>8} {'x by hand':>10}")
        for form, times in case.times.items():
            ratio = statistics.median(t / b for t, b in zip(times, case.times[BASE], strict=True))
            print(f"  {form:30} {statistics.median(times):10.1f} {min(times):8.1f} {ratio:10.2f}")


def main() -> None:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    print(
        f"onnxruntime {version('onnxruntime')}, numpy {np.__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, threads={options.threads}, {options.rounds} rounds"
    )
    cases = [counter_case(options.threads), *(store_case(rows, options.threads) for rows in ROWS)]
    measure(cases, options.rounds)
    report(cases)


if __name__ == "__main__":
    main()
