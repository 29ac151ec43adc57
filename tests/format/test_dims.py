"""Symbolic dims in a file: each has one form, and a small file cannot make a large one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.errors import FormatError
from maxgraph.format import load
from maxgraph.graph import DeviceRef, Dim, Graph, TensorType, ops

from .files import forged

N, M, K = Dim("n"), Dim("m"), Dim("k")


def written(dims: list[Any], path: Path) -> Path:
    kind = TensorType(DType.float32, dims, DeviceRef.CPU())
    maxgraph.save(Graph("g", lambda x: x, input_types=[kind]), path)
    return path


@pytest.mark.parametrize(
    "dims",
    [
        [N, M, N],
        [N * M + K, K],
        [M + N, N + M],
        [N * N * 3 - 7],
        [0 - N],
        [(N + 1) // 2],
        [((N + 1) // 2 * 3 + 5) // 7],  # a division in a division
        [((N + 1) // 2) * ((M + 1) // 2), (M + 1) // 2],
        [(N // M) // K, N // M],
        [K + (M + 3) // 5 + (N + (K + 3) // 4) // 9, N],
    ],
    ids=str,
)
def test_dims_come_back_as_they_were(dims: list[Any], tmp_path: Path) -> None:
    path = written(dims, tmp_path / "a.maxg")
    graph = load(path)
    assert graph.signature[0].value.type.shape == dims
    maxgraph.save(graph, tmp_path / "b.maxg")
    assert (tmp_path / "b.maxg").read_bytes() == path.read_bytes()


def swap_symbols(model: Any) -> None:
    """The same expression with its symbols numbered in another order."""
    model.symbols[0].name, model.symbols[1].name = model.symbols[1].name, model.symbols[0].name


def again(model: Any) -> None:
    model.floor_divs.append(model.floor_divs[0])
    model.types[0].tensor.shape[0].expr.monomials[0].floor_divs[:] = [1]


def self_reference(model: Any) -> None:
    model.floor_divs[0].numerator.monomials[0].floor_divs.append(0)


def resolvable(model: Any) -> None:
    model.floor_divs[0].numerator.constant = 2


def plain(model: Any) -> None:
    model.types[0].tensor.shape[0].expr.Clear()
    model.types[0].tensor.shape[0].expr.constant = 7


def negative(model: Any) -> None:
    plain(model)
    model.types[0].tensor.shape[0].expr.constant = -7


@pytest.mark.parametrize(
    "change",
    [
        again,
        self_reference,
        resolvable,
        plain,
        negative,
        lambda m: m.floor_divs[0].denominator.Clear(),
        lambda m: setattr(m.floor_divs[0].numerator.monomials[0], "coefficient", 0),
        lambda m: m.floor_divs.append(m.floor_divs[0]),
        lambda m: m.types[0].tensor.shape[0].expr.monomials[0].ClearField("floor_divs"),
        lambda m: m.types[0].tensor.shape[0].expr.monomials[0].symbols.append(9),
        lambda m: m.types[0].tensor.shape[0].expr.monomials[0].floor_divs.append(9),
    ],
)
def test_a_malformed_division_is_refused(change: Callable[[Any], object], tmp_path: Path) -> None:
    path = written([(N + 1) // 2 + N], tmp_path / "a.maxg")
    path.write_bytes(forged(path.read_bytes(), change))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code == "MGT07"


def test_symbols_are_numbered_by_name(tmp_path: Path) -> None:
    path = written([N + M], tmp_path / "a.maxg")
    path.write_bytes(forged(path.read_bytes(), swap_symbols))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code == "MGT01"


def chain(model: Any, length: int, twice: int) -> None:
    """Floor divisions that each name the one before, so many times."""
    del model.floor_divs[:]
    for index in range(length):
        entry = model.floor_divs.add()
        entry.denominator.constant = 2
        entry.numerator.constant = 1
        monomial = entry.numerator.monomials.add(coefficient=1)
        if index:
            monomial.floor_divs.extend([index - 1] * twice)
        else:
            monomial.symbols.append(0)
    model.types[0].tensor.shape[0].expr.Clear()
    model.types[0].tensor.shape[0].expr.monomials.add(coefficient=1, floor_divs=[length - 1])


@pytest.mark.parametrize(("length", "twice"), [(17, 1), (5000, 1), (12, 2), (60, 2), (60, 8)])
def test_nested_divisions_cannot_explode(length: int, twice: int, tmp_path: Path) -> None:
    """Each one that names the last twice doubles the size: sixty of them would be 2**60 terms of text."""
    path = written([(N + 1) // 2], tmp_path / "a.maxg")
    path.write_bytes(forged(path.read_bytes(), lambda m: chain(m, length, twice)))
    with pytest.raises(FormatError, match="too large"):
        load(path)


def test_divisions_may_be_sixteen_deep(tmp_path: Path) -> None:
    dim = N
    for _ in range(16):
        dim = (dim + 1) // 2
    assert load(written([dim], tmp_path / "a.maxg")).signature[0].value.type.shape == [dim]
    with pytest.raises(FormatError, match=r"cannot be written.*too large"):
        written([(dim + 1) // 2], tmp_path / "b.maxg")


def test_the_product_of_a_shape_cannot_explode(tmp_path: Path) -> None:
    """Counting the elements of 32 dims with two terms each gives 2**32 terms."""
    dims = [Dim(f"a{at}") + Dim(f"b{at}") for at in range(9)]
    written(dims[:8], tmp_path / "a.maxg")
    with pytest.raises(FormatError, match="too many terms"):
        written(dims, tmp_path / "a.maxg")


def test_joining_many_symbols_cannot_explode(tmp_path: Path) -> None:
    types = [TensorType(DType.float32, [f"n{at}", 1], DeviceRef.CPU()) for at in range(300)]
    with Graph("g", input_types=types) as graph:
        graph.output(ops.concat([value.tensor for value in graph.inputs]))
    with pytest.raises(FormatError, match="300 different symbolic terms"):
        maxgraph.save(graph, tmp_path / "a.maxg")


@pytest.mark.parametrize("dim", [Dim(2**64), N * 2**63, N + 2**63, Dim("a" * 257)], ids=lambda d: str(d)[:20])
def test_what_a_file_cannot_hold_is_refused_when_it_is_saved(dim: Dim, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be written") as raised:
        written([dim], tmp_path / "a.maxg")
    assert raised.value.code == "MG045"
    assert list(tmp_path.iterdir()) == []
