"""Sizes, indices and dtypes at their edges, at both levels, shared and copied: the engine does as the interpreter.

A case fails in the engine exactly where the interpreter refuses, with the same class of error, and nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model
from maxgraph.errors import LoweringError, MaxGraphError
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops

Array = np.ndarray[Any, Any]
CPU = DeviceRef.CPU()
F, INT = DType.float32, DType.int64


def tensor(dtype: DType, *dims: int | str) -> TensorType:
    return TensorType(dtype, dims, CPU)


def buffer(dtype: DType, *dims: int | str) -> BufferType:
    return BufferType(dtype, dims, CPU)


def numbers(*shape: int) -> Array:
    return (np.arange(np.prod(shape, dtype=int)) % 7 + 1).reshape(shape).astype(np.float32)


def index(value: object) -> Array:
    return np.array(value, np.int64)


@dataclass(frozen=True)
class Case:
    types: list[TensorType | BufferType]
    body: Callable[..., Any]
    feeds: list[tuple[Array, ...]]


CASES: dict[str, Case] = {}


def case(*types: TensorType | BufferType, feeds: list[tuple[Array, ...]]) -> Callable[[Callable[..., Any]], None]:
    def add(body: Callable[..., Any]) -> None:
        CASES[body.__name__] = Case(list(types), body, feeds)

    return add


@case(buffer(F, "n", 3), tensor(F, "n", 3), feeds=[(numbers(n, 3), numbers(n, 3)) for n in (0, 1, 5, 400)])
def symbolic_buffer(c: Any, x: Any) -> Any:
    c[...] = c[...] + x
    return c[...]


PLACES = [(n, p) for n in (1, 5) for p in (0, -1, -n, n - 1, n, -n - 1, 10**12)] + [(0, 0)]


@case(buffer(F, "n", 3), tensor(INT), tensor(F, 3), feeds=[(numbers(n, 3), index(p), numbers(3)) for n, p in PLACES])
def row_of_a_symbolic_buffer(c: Any, p: Any, row: Any) -> Any:
    old = c[p]
    c[p] = row
    return old, c[...]


@case(buffer(F, "n", 5), tensor(INT), tensor(F, "n"), feeds=[(numbers(3, 5), index(p), numbers(3)) for p in (0, -1, 5)])
def column_of_a_symbolic_buffer(c: Any, p: Any, x: Any) -> Any:
    c[:, p] = x
    return c[...].T


@case(tensor(F, "n", 3), feeds=[(numbers(n, 3),) for n in (0, 1, 2, 3, 9)])
def slices_of_a_symbolic_axis(x: Any) -> Any:
    return x[2:], x[:-1], x[::2], x[::-1], x[-1]


@case(
    buffer(F, 6, 3),
    tensor(INT),
    tensor(F, 2, 3),
    feeds=[(numbers(6, 3), index(p), numbers(2, 3)) for p in (0, 4, 5, 6, -2, -1, -6, -7)],
)
def part_at_a_computed_place(c: Any, p: Any, x: Any) -> Any:
    c[(slice(p, p + 2), 2),] = x
    return c[(slice(p, p + 2), 2),]


@case(buffer(F, 6, 3), tensor(INT), feeds=[(numbers(6, 3), index(p)) for p in (0, 1, 6, 7, -1, -6, -7)])
def part_of_a_size_that_depends_on_data(c: Any, p: Any) -> Any:
    return c[...][(slice(0, p), "k"),]


@case(
    buffer(F, 4, 3),
    buffer(F, 4, 3),
    tensor(INT),
    tensor(F, 4, 3),
    feeds=[(numbers(4, 3), numbers(4, 3) * 2, index(p), numbers(4, 3)) for p in (0, 5)],
)
def second_store_out_of_range(a: Any, b: Any, p: Any, x: Any) -> Any:
    a[...] = x * 3
    b[p] = x[0]
    return a[...]


@case(
    buffer(F, 4, 3),
    tensor(INT),
    tensor(F, 4, 3),
    feeds=[(numbers(4, 3) * 0, index(p), numbers(4, 3)) for p in (1, 2, -3)],
)
def computed_load_out_of_range_after_a_store(a: Any, p: Any, x: Any) -> Any:
    a[...] = x
    return x[p * 2]


@case(buffer(F, 3), tensor(F, 3), tensor(INT), feeds=[(numbers(3), numbers(3) * k, index(0)) for k in (0, 1, 5)])
def index_that_was_stored_before(a: Any, x: Any, p: Any) -> Any:
    a[...] = x
    return x[a[0].cast(INT) + p]


INDICES: list[Any] = [[0, 1], [], [3, -4], [4], [-5]]


@case(
    buffer(F, 4, 3),
    tensor(INT, "k"),
    tensor(F, 4, 3),
    feeds=[(numbers(4, 3), index(i), numbers(4, 3)) for i in INDICES],
)
def gather_from_what_was_stored(a: Any, i: Any, x: Any) -> Any:
    a[...] = x
    return ops.gather(a[...], i, axis=0)


@case(buffer(F), buffer(F), feeds=[(numbers(), numbers() * 3)])
def rank_zero_swap(a: Any, b: Any) -> Any:
    x, y = a[...], b[...]
    a[...] = y
    b[...] = x
    return x - b[...]


@case(buffer(F, 3, 3), buffer(F, 3, 3), buffer(F, 3, 3), feeds=[(numbers(3, 3), numbers(3, 3) * 2, numbers(3, 3) * 5)])
def rotation_of_three(a: Any, b: Any, c: Any) -> None:
    x, y, z = a[...], b[...], c[...]
    a[...] = y
    b[...] = z
    c[...] = x


@case(buffer(F, 0, 3), tensor(F, 0, 3), feeds=[(numbers(0, 3), numbers(0, 3))])
def no_elements(c: Any, x: Any) -> Any:
    c[...] = x
    return c[...]


@case(buffer(F, 4, 4), tensor(F, 2, 2), feeds=[(numbers(4, 4), numbers(2, 2))])
def falling_steps(c: Any, x: Any) -> Any:
    c[::-2, 1:3] = x
    return c[3:0:-1, ::-1]


@case(tensor(F, 3), buffer(F, 3), feeds=[(numbers(3), numbers(3))])
def outputs_that_are_inputs_and_constants(x: Any, c: Any) -> Any:
    large = ops.constant(np.ones(300, np.float32))
    return x, x, large, large, c[...], c[...]


@case(tensor(INT), feeds=[(index(p),) for p in (0, 3, -2)])
def range_of_a_computed_length(p: Any) -> Any:
    return ops.range(0, p, 1, out_dim="k", dtype=INT, device=CPU)


BOUNDS = [(0, 3, 1), (0, 4, 1), (3, 0, -1), (0, 0.3, 0.1), (0, 3, 0), (0, 1, np.inf), (0, np.nan, 1), (0, 1e30, 1e-9)]


@case(
    buffer(F, 3),
    *(tensor(F) for _ in range(3)),
    feeds=[(numbers(3), *(np.array(v, np.float32) for v in bounds)) for bounds in BOUNDS],
)
def range_of_a_promised_length_after_a_store(c: Any, start: Any, stop: Any, step: Any) -> Any:
    c[0] = c[1] + 1
    return ops.range(start, stop, step, 3, dtype=F, device=CPU)


@case(
    *(tensor(F) for _ in range(3)),
    feeds=[tuple(np.array(v, np.float32) for v in bounds) for bounds in [*BOUNDS, (0, 1e4, 0.1), (2, -2, -0.1)]],
)
def range_of_floats(start: Any, stop: Any, step: Any) -> Any:
    return ops.range(start, stop, step, "k", dtype=F, device=CPU)


FAR = [(-(2**61), 2**61, 2**60), (2**62, 2**62 + 1, 1), (-(2**63), 2**63 - 1, 2**62), (5, -4, -2), (5, -4, 2)]


@case(*(tensor(INT) for _ in range(3)), feeds=[tuple(map(index, bounds)) for bounds in FAR])
def range_of_ints(start: Any, stop: Any, step: Any) -> Any:
    return ops.range(start, stop, step, "k", dtype=INT, device=CPU)


@case(buffer(F, 64, 64), tensor(F, 64, 64), feeds=[(numbers(64, 64) / 64, numbers(64, 64) / 64)])
def products_over_the_buffer(c: Any, w: Any) -> Any:
    c[...] = c[...] @ w
    c[0] = c[1]
    c[...] = c[...] @ w
    return ops.sum(c[...])


for _d in (DType.int8, DType.int32, DType.int64, DType.uint8):
    _info = np.iinfo(_d.to_numpy())
    _lhs = np.array([_info.min, 7, 0, 3, _info.max], _d.to_numpy())
    _rhs = np.array([-1 if _d.is_signed_integral() else 1, 0, 0, 2, 3]).astype(_d.to_numpy())

    def _division(a: Any, b: Any) -> Any:
        return a // b, a % b, a / b

    _division.__name__ = f"division_of_{_d.name}"
    case(tensor(_d, 5), tensor(_d, 5), feeds=[(_lhs, _rhs)])(_division)

for _d in DType:
    if _d.is_float8() or _d is DType.float4_e2m1fn:
        continue
    _array = np.arange(12).reshape(4, 3)
    _array = (_array % 2 if _d is DType.bool else _array).astype(_d.to_numpy())

    def _stores(c: Any, x: Any, p: Any) -> Any:
        old = c[...]
        c[...] = x
        c[p] = x[0]
        return old, c[1]

    _stores.__name__ = f"stores_of_{_d.name}"
    case(buffer(_d, 4, 3), tensor(_d, 4, 3), tensor(INT), feeds=[(np.zeros_like(_array), _array, index(2))])(_stores)


def build(chosen: Case) -> Graph:
    with Graph("edge", input_types=chosen.types) as graph:
        values = [v.buffer if isinstance(v.type, BufferType) else v.tensor for v in graph.inputs]
        results = chosen.body(*values)
        graph.output(*(() if results is None else results if isinstance(results, tuple) else (results,)))
    return graph


def outcome(model: Model, feeds: tuple[Array, ...]) -> tuple[list[Array] | None, list[Array], MaxGraphError | None]:
    given = [array.copy() for array in feeds]
    try:
        return [output.to_numpy() for output in model.execute(*given)], given, None
    except MaxGraphError as error:
        return None, given, error


def models(graph: Graph) -> Iterator[Model]:
    for optimization in ("none", "all"):
        for buffers in ("auto", "copied"):
            yield InferenceSession(optimization=optimization, buffers=buffers).load(graph)


def close(actual: list[Array], expected: list[Array]) -> None:
    for a, b in zip(actual, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_the_engine_does_what_the_interpreter_does(name: str, tmp_path: Path) -> None:
    chosen = CASES[name]
    graph = build(chosen)
    maxgraph.save(graph, tmp_path / "edge.maxg")
    reference = InferenceSession().load(graph, reference=True)
    for model in models(maxgraph.load(tmp_path / "edge.maxg")):
        for feeds in chosen.feeds:
            wanted, memory, refusal = outcome(reference, feeds)
            given, changed, error = outcome(model, feeds)
            assert type(error) is type(refusal), f"{feeds}: {error!r} where the interpreter says {refusal!r}"
            if wanted is not None:
                assert given is not None
                close(given, wanted)
                close(changed, memory)
            else:
                assert error is not None
                assert error.code not in ("MG043", "MG099")
                close(changed, list(feeds))


@pytest.mark.parametrize("dtype", [d for d in DType if d.is_float8()], ids=lambda d: d.name)
def test_small_floats_are_stored_or_refused(dtype: DType) -> None:
    with Graph("small", input_types=[buffer(dtype, 4), tensor(F, 4)], input_names=["c", "x"]) as graph:
        c, x = graph.inputs[0].buffer, graph.inputs[1].tensor
        old = c[...].cast(F)
        c[...] = x.cast(dtype)
        graph.output(old)
    if dtype is DType.float8_e8m0fnu:
        with pytest.raises(LoweringError, match="no kernel for float8_e8m0fnu"):
            InferenceSession().load(graph)
        return
    memory = np.zeros(4, dtype.to_numpy())
    model = InferenceSession().load(graph)
    model.execute(memory, np.array([0, 1, 2, 0.5], np.float32))
    assert memory.astype(np.float32).tolist() == [0, 1, 2, 0.5]
    with Graph("computed", input_types=[tensor(dtype, 4)]) as graph:
        graph.output(graph.inputs[0].tensor[1:])
    with pytest.raises(LoweringError, match="cast it first") as raised:
        InferenceSession().load(graph)
    assert raised.value.code == "MG042"
