"""Random programs with branches and loops inside one another, over the same buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, BufferValue, TensorType, TensorValue, ops
from tests.lower.programs import CPU, Builder

__all__ = ["BlockBuilder"]

#: How likely a step is a branch or a loop, by the number of blocks around it.
OFTEN = (0.35, 0.3, 0.15, 0.0)


class BlockBuilder(Builder):
    """Draws programs in which some steps are branches and loops, made of such steps."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.depth = 0
        self.counters: list[TensorValue] = []

    def step(self) -> None:
        """One step."""
        if self.depth == 0 and self.rng.random() < 0.05:
            self.buffers.append(ops.buffer_create(BufferType(DType.float32, [self.n, self.n], CPU)))
        if self.rng.random() < OFTEN[self.depth]:
            (self.branch if self.rng.random() < 0.7 else self.loop)()
        else:
            super().step()

    def branch(self) -> None:
        """A branch."""
        kinds = [str(self.rng.choice(["matrix", "row"])) for _ in range(int(self.rng.integers(3)))]
        types = [TensorType(DType.float32, [self.n] * (2 if kind == "matrix" else 1), CPU) for kind in kinds]
        results = ops.cond(self.predicate(), types or None, lambda: self.block(kinds), lambda: self.block(kinds))
        for kind, result in zip(kinds, results, strict=True):
            (self.matrices if kind == "matrix" else self.rows).append(result)

    def block(self, kinds: Sequence[str], carried: Sequence[TensorValue] = ()) -> list[TensorValue]:
        """What is in a block, and its results."""
        with self.inside():
            for kind, value in zip(kinds, carried, strict=False):
                (self.matrices if kind == "matrix" else self.rows).append(value)
            for _ in range(int(self.rng.integers(4))):
                self.step()
            return [self.pick(self.matrices if kind == "matrix" else self.rows) for kind in kinds]

    def loop(self) -> None:
        """A loop of a few rounds, by a counter or by what a buffer holds."""
        kinds = [str(self.rng.choice(["matrix", "row"])) for _ in range(int(self.rng.integers(2)))]
        initial = [self.pick(self.matrices if kind == "matrix" else self.rows) for kind in kinds]
        last = ops.constant(int(self.rng.integers(-1, 4)), DType.int64, CPU)
        if self.rng.random() < 0.4:
            last = (self.at % 3) + last
        watched = self.pick(self.buffers) if self.rng.random() < 0.3 else None

        def predicate(i: TensorValue, *_: TensorValue) -> TensorValue:
            goes_on = i < last
            return goes_on if watched is None else ops.logical_and(goes_on, (watched[0] < 0.8)[0])

        def body(i: TensorValue, *carried: TensorValue) -> list[TensorValue]:
            self.counters.append(i)
            results = self.block(kinds, carried)
            self.counters.pop()
            return [i + 1, *results]

        results = ops.while_loop([ops.constant(0, DType.int64, CPU), *initial], predicate, body)
        for kind, result in zip(kinds, results[1:], strict=True):
            (self.matrices if kind == "matrix" else self.rows).append(result)

    def swap(self, _: BufferValue) -> None:
        """Two buffers change places; perhaps it is one."""
        a, b = self.pick(self.buffers), self.pick(self.buffers)
        old_a, old_b = ops.buffer_load(a), ops.buffer_load(b)
        ops.buffer_store(a, old_b)
        ops.buffer_store(b, old_a)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is made meanwhile is not known afterwards."""
        kept = list(self.matrices), list(self.rows)
        self.depth += 1
        yield
        self.depth -= 1
        self.matrices, self.rows = kept

    def predicate(self) -> TensorValue:
        """A bool that is now this, now that."""
        kinds: list[Callable[[], TensorValue]] = [
            lambda: self.at > int(self.rng.integers(-self.n, self.n)),
            lambda: (self.pick(self.buffers)[int(self.rng.integers(self.n))] > 0)[int(self.rng.integers(self.n))],
            lambda: (self.pick(self.rows) > 0)[0],
            lambda: ops.constant(bool(self.rng.integers(2)), DType.bool, CPU),
            lambda: ops.constant(int(self.rng.integers(3)), DType.int64, CPU) > 1,
        ]
        weights = np.array([4, 3, 2, 0.5, 0.5])
        return kinds[int(self.rng.choice(len(kinds), p=weights / weights.sum()))]()

    def index(self, buffer: BufferValue) -> Any:
        """A place of a row, often the loop's counter."""
        if self.counters and self.rng.random() < 0.5:
            i = self.counters[-1]
            return i if self.rng.random() < 0.7 else (i * 2 + self.at) % self.n
        if self.rng.random() < 0.03:
            return self.at + 1  # sometimes out of range
        return super().index(buffer)
