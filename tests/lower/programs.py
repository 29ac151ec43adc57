"""Random programs over two buffers: loads, stores and slice stores anywhere, values kept alive across stores.

Everything is drawn from one seed, so a failure is reproduced by its number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, BufferValue, DeviceRef, Graph, TensorType, TensorValue, ops

__all__ = ["Builder", "Program", "random_program"]

Array = np.ndarray[Any, Any]
CPU = DeviceRef.CPU()


@dataclass(frozen=True)
class Program:
    """A graph and what to feed it.

    Attributes:
        buffers: Initial contents of the buffers that the caller passes.
    """

    seed: int
    graph: Graph
    buffers: dict[str, Array]
    steps: list[dict[str, Array]]


class Builder:
    """Draws the steps of one program."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.n = int(self.rng.choice([3, 8, 40, 64], p=[0.2, 0.2, 0.4, 0.2]))
        self.weight = (self.rng.standard_normal((self.n, self.n)) / np.sqrt(self.n)).astype(np.float32)
        self.owned = bool(self.rng.integers(2))
        self.matrices: list[TensorValue] = []
        self.rows: list[TensorValue] = []

    def build(self, seed: int) -> Graph:
        square = [self.n, self.n]
        buffer = BufferType(DType.float32, square, CPU)
        types: list[Any] = [
            TensorType(DType.float32, square, CPU),
            TensorType(DType.float32, [self.n], CPU),
            TensorType(DType.int64, [], CPU),
        ]
        names = ["x", "row", "at"]
        if not self.owned:
            types += [buffer, buffer]
            names += ["a", "b"]
        with Graph(f"p{seed}", input_types=types, input_names=names) as graph:
            x, row, at = (v.tensor for v in graph.inputs[:3])
            if self.owned:
                initial = (np.arange(self.n * self.n).reshape(square) % 7 / 7).astype(np.float32)
                a = ops.buffer_create(buffer, initial, name="a")
                b = ops.buffer_create(buffer, 0.0, name="b")
            else:
                a, b = (v.buffer for v in graph.inputs[3:])
            self.at, self.buffers = at, [a, b]
            self.matrices.append(x)
            self.rows.append(row)
            for _ in range(int(self.rng.integers(3, 13))):
                self.step()
            if self.rng.random() < 0.5:  # the last word is a store
                self.store(self.pick(self.buffers))
            outputs = {f"m{i}": self.pick(self.matrices) for i in range(int(self.rng.integers(1, 3)))}
            outputs["r"] = self.pick(self.rows)
            graph.output(**outputs)
        return graph

    def pick(self, items: list[Any]) -> Any:
        # Late values are more interesting than early ones, but early ones must stay alive too.
        return items[int(len(items) * self.rng.random() ** 0.7)]

    def step(self) -> None:
        kinds = ["load", "load_row", "unary", "binary", "reduce", "store", "store_row", "store_part", "swap"]
        weights = np.array([4, 3, 4, 3, 2, 4, 3, 2, 0.5])
        getattr(self, str(self.rng.choice(kinds, p=weights / weights.sum())))(self.pick(self.buffers))

    def load(self, buffer: BufferValue) -> None:
        self.matrices.append(ops.buffer_load(buffer))

    def load_row(self, buffer: BufferValue) -> None:
        self.rows.append(buffer[self.index(buffer)])

    def unary(self, _: BufferValue) -> None:
        value = self.pick(self.matrices)
        match int(self.rng.integers(9)):
            case 0:
                made = ops.relu(value)
            case 1:
                made = ops.tanh(value)
            case 2:
                made = value @ self.weight
            case 3:
                made = value.T
            case 4:
                made = value * ops.sigmoid(value)  # fused to QuickGelu
            case 5:
                made = ops.relu(value @ self.weight + 0.1)  # fused to FusedGemm
            case 6:
                made = value[::-1]
            case 7:
                made = (value.T @ self.weight).reshape([self.n * self.n]).reshape([self.n, self.n])
            case _:
                made = value * 0.5 * (ops.erf(value * 0.7071067811865476) + 1)  # fused to Gelu
        self.matrices.append(made)

    def binary(self, _: BufferValue) -> None:
        lhs, rhs = self.pick(self.matrices), self.pick(self.matrices)
        match int(self.rng.integers(4)):
            case 0:
                made = lhs * 0.5 + rhs * 0.5
            case 1:
                made = lhs - rhs
            case 2:
                made = ops.tanh(lhs + lhs @ self.weight)
            case _:
                made = ops.where(lhs > rhs, lhs, rhs * 0.25)
        self.matrices.append(made)

    def reduce(self, _: BufferValue) -> None:
        self.rows.append(self.rows_of(self.pick(self.matrices)))

    def rows_of(self, value: TensorValue) -> TensorValue:
        return ops.tanh(ops.mean(value, axis=0).reshape([self.n]))

    def store(self, buffer: BufferValue) -> None:
        ops.buffer_store(buffer, self.pick(self.matrices))

    def store_row(self, buffer: BufferValue) -> None:
        row = self.rows_of(self.pick(self.matrices)) if self.rng.random() < 0.5 else self.pick(self.rows)
        if self.rng.random() < 0.7:
            buffer[self.index(buffer)] = row
        else:
            buffer[:, self.index(buffer)] = row

    def store_part(self, buffer: BufferValue) -> None:
        value = self.pick(self.matrices)
        match int(self.rng.integers(3)):
            case 0:
                buffer[1:] = value[:-1]
            case 1:
                buffer[::2, 1:] = value[::2, :-1]
            case _:
                buffer[::-1] = value

    def swap(self, _: BufferValue) -> None:
        a, b = self.buffers
        old_a, old_b = ops.buffer_load(a), ops.buffer_load(b)
        ops.buffer_store(a, old_b)
        ops.buffer_store(b, old_a)

    def index(self, buffer: BufferValue) -> Any:
        match int(self.rng.integers(12)):
            case 0 | 1 | 2 | 3:
                return int(self.rng.integers(-self.n, self.n))
            case 4 | 5 | 6:
                return self.at
            case 7 | 8:
                return (self.at * 2 + 1) % self.n  # computed: checked inside the graph
            case _:  # computed from a buffer: perhaps only after a store
                positive = buffer[int(self.rng.integers(self.n)), 0] > 0.05
                return positive.cast(DType.int64) + int(self.rng.integers(self.n - 1))


def random_program(seed: int, steps: int = 3, kind: type[Builder] = Builder) -> Program:
    """The program with this number, of a kind."""
    builder = kind(seed)
    graph = builder.build(seed)
    rng, n = builder.rng, builder.n

    def matrix() -> Array:
        return rng.standard_normal((n, n)).astype(np.float32)

    feeds = [
        {"x": matrix(), "row": rng.standard_normal(n).astype(np.float32), "at": np.array(rng.integers(-n, n))}
        for _ in range(steps)
    ]
    buffers = {info.name: matrix() for info in graph.buffers if info.state is None}
    return Program(seed, graph, buffers, feeds)
