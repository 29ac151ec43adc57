"""Parts of a buffer with every kind of bound: the engine reads, writes and refuses what the interpreter does.

A part has a start, an end or a number of elements, and a step. Each of them may be a number, the size of an axis, or a
value of the execution, and the part may be empty, reach the ends, or leave the axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model
from maxgraph.errors import MaxGraphError
from maxgraph.graph import BufferType, DeviceRef, Dim, Graph, TensorType, ops

Array = np.ndarray[Any, Any]
CPU = DeviceRef.CPU()
F, INT = DType.float32, DType.int64
SCALAR = TensorType(INT, [], CPU)
STEPS = (1, 2, 3, -1, -2)
SIZES = (0, 1, 2, 5)


def memory(size: int) -> Array:
    return np.arange(1, size + 1, dtype=np.float32)


def sized(count: int) -> Array:
    """An input that is there for its size."""
    return np.zeros(count, np.float32)


def index(value: int) -> Array:
    return np.array(value, np.int64)


def graph_of(window: str, size: int | str, step: int) -> Graph:
    """Doubles a part of a buffer, after the part was read."""
    b_type = BufferType(F, [size], CPU)
    types: list[TensorType | BufferType] = {
        "from a value, a number of elements": [SCALAR],
        "from a value, a size of elements": [SCALAR, TensorType(F, ["m"], CPU)],
        "from a value to a value": [SCALAR, SCALAR],
        "from a size to the front": [TensorType(F, ["m"], CPU)],
        "from a size, a size of elements": [TensorType(F, ["p"], CPU), TensorType(F, ["m"], CPU)],
    }[window]
    with Graph("window", input_types=[*types, b_type]) as graph:
        b, given = graph.inputs[-1].buffer, [value.tensor for value in graph.inputs[:-1]]
        match window:
            case "from a value, a number of elements":
                part: Any = (slice(given[0], None, step), 2)
            case "from a value, a size of elements":
                # The end is one that gives that many, so that it says nothing more.
                length = ops.shape_to_tensor([Dim("m")]).reshape([])
                part = (slice(given[0], given[0] + length * step, step), Dim("m"))
            case "from a value to a value":
                part = (slice(given[0], given[1], step), "k")
            case "from a size to the front":
                part = slice(Dim("m") - 1, None, step) if step < 0 else slice(Dim("m"), None, step)
            case _:
                ends = ops.shape_to_tensor([Dim("p") + Dim("m") * step]).reshape([])
                part = (slice(Dim("p"), ends, step), Dim("m"))
        old = b[part,]
        b[part,] = old * 2
        graph.output(old, b[...])
    return graph


def feeds(window: str, size: int) -> Iterator[tuple[Array, ...]]:
    places = range(-size - 1, size + 2)
    match window:
        case "from a value, a number of elements":
            yield from ((index(p), memory(size)) for p in places)
        case "from a value, a size of elements":
            yield from ((index(p), sized(m), memory(size)) for p in places for m in range(size + 2))
        case "from a value to a value":
            yield from ((index(p), index(q), memory(size)) for p in places for q in places)
        case "from a size to the front":
            yield from ((sized(m), memory(size)) for m in range(size + 2))
        case _:
            yield from ((sized(p), sized(m), memory(size)) for p in range(size + 2) for m in range(size + 2))


WINDOWS = (
    "from a value, a number of elements",
    "from a value, a size of elements",
    "from a value to a value",
    "from a size to the front",
    "from a size, a size of elements",
)


def outcome(model: Model, given: tuple[Array, ...]) -> tuple[Any, list[float], MaxGraphError | None]:
    arrays = [array.copy() for array in given]
    try:
        return [r.to_numpy().tolist() for r in model.execute(*arrays)], arrays[-1].tolist(), None
    except MaxGraphError as error:
        return None, arrays[-1].tolist(), error


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("size", [5, "n"])
@pytest.mark.parametrize("window", WINDOWS)
def test_a_part_is_read_written_and_refused_as_by_the_interpreter(window: str, size: int | str, step: int) -> None:
    graph = graph_of(window, size, step)
    reference = InferenceSession().load(graph, reference=True)
    model = InferenceSession().load(graph)
    accepted = refused = 0
    for number in SIZES if isinstance(size, str) else (size,):
        for given in feeds(window, number):
            wanted, kept, refusal = outcome(reference, given)
            result, changed, error = outcome(model, given)
            shown = [array.tolist() if array.dtype == np.int64 else len(array) for array in given]
            assert (result, changed) == (wanted, kept), f"{shown}: {error!r}, {refusal!r}"
            assert type(error) is type(refusal), f"{shown}: {error!r}, {refusal!r}"
            accepted += refusal is None
            refused += refusal is not None
    assert accepted
    assert refused or window == "from a size to the front"


@pytest.mark.parametrize("start", [-1, 0, 5])
@pytest.mark.parametrize("step", [1, 2, -1, -2])
def test_a_start_that_no_builder_makes_is_refused_when_it_leaves_the_axis(start: int, step: int) -> None:
    """A file may say anything that its types allow."""
    from maxgraph.graph.ops.slicing import _slice

    with Graph("window", input_types=[TensorType(F, ["m"], CPU), TensorType(F, ["n"], CPU)]) as graph:
        x = graph.inputs[1].tensor
        window: dict[str, Any] = {"starts": [start], "extents": ["m"], "steps": [step]}
        nothing: dict[str, Any] = {"dynamic_starts": [], "stops": [], "squeezed": [], "dynamic": [], "bounded": []}
        graph.output(_slice(x, **window, **nothing))
    reference = InferenceSession().load(graph, reference=True)
    model = InferenceSession().load(graph)
    for m, n in product(range(4), SIZES):
        wanted, _, refusal = outcome(reference, (sized(m), memory(n)))
        result, _, error = outcome(model, (sized(m), memory(n)))
        assert (result, type(error)) == (wanted, type(refusal)), f"m={m}, n={n}: {error!r}, {refusal!r}"
