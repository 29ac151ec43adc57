"""What is kept while a graph runs: only what may be overwritten before something fails, in proportion to the work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model
from maxgraph.engine.undo import Undo
from maxgraph.errors import ExecutionError, InputError, StateError
from maxgraph.graph import Graph, ops
from maxgraph.graph.dim import Dim
from maxgraph.graph.shape import Shape
from maxgraph.lower import lower
from maxgraph.lower.lowered import IndexInput, Region, RegionAxis, Risk
from tests.runtime.graphs import F32, I64, Array, accumulator, buffer, counter, graph_of, product, store, tensor

BIG = 100_000
FEW = np.ones(4, np.float32)
TOO_MANY = np.ones(3_000_000, np.float32)  # there is no memory for a table of so many rows and columns


def with_table(*stores: Any, sizes: list[int]) -> Graph:
    """Stores to buffers [size, 4], and after them the sum of a table of len(x) * len(x) numbers."""

    def body(x: Any, at: Any, *buffers: Any) -> Any:
        column = x
        for make, one in zip(stores, buffers, strict=True):
            make(one, at)
            column = column + one[0, 0] * 0  # the table comes after the store
        return {"sum": ops.sum(ops.sum(column.reshape(["n", 1]) * x, axis=0), axis=0)}

    names = ["x", "at", *(f"b{number}" for number in range(len(sizes)))]
    return graph_of(body, tensor(["n"]), tensor([], I64), *(buffer([size, 4]) for size in sizes), names=names)


def whole(b: Any, _: Any) -> None:
    b[...] = b[...] * 0.5 + 1


def row(b: Any, at: Any) -> None:
    b[at] = b[at] + 1


def rows(b: Any, at: Any) -> None:
    b[(slice(at, at + 2), 2), 1] = b[0:2, 1] + 1


def steps(b: Any, _: Any) -> None:
    b[1::2, ::-1] = b[1::2] + 1


def last(b: Any, _: Any) -> None:
    b[-1] = b[-1] + 1


def computed(b: Any, at: Any) -> None:
    b[(at * at) % 3] = b[0] + 1


# What is decided ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [counter, accumulator, store, product])
def test_nothing_is_kept_where_nothing_can_fail(graph: Any) -> None:
    for row_ in lower(graph()).buffers:
        assert (row_.risk, row_.kept) == (Risk.NONE, ())


@pytest.mark.parametrize(
    ("make", "size", "kept"),
    [
        (whole, 3, "whole"),
        (whole, BIG, "whole"),
        (row, 3, "part"),
        (row, BIG, "part"),
        (last, BIG, "part"),
        (steps, BIG, "part"),
        (computed, 3, "whole"),
        (computed, BIG, "nothing"),
    ],
)
def test_what_is_kept_is_in_proportion_to_what_is_stored(make: Any, size: int, kept: str) -> None:
    (found,) = lower(with_table(make, sizes=[size])).buffers
    assert found.plan.mode.shares_memory
    assert found.risk is Risk.MEMORY
    assert kept == ("nothing" if not found.kept else "part" if found.kept[0].axes else "whole")


def test_a_branch_that_stores_more_than_the_row_before_it_is_kept_whole() -> None:
    def body(x: Any, at: Any, flag: Any, b: Any) -> Any:
        b[at] = x

        def change() -> None:
            b[0:2] = b[1:3]

        ops.cond(flag, None, change, lambda: None)
        column = x + b[0, 0] * 0
        return {"sum": ops.sum(ops.sum(column.reshape([4, 1]) * x, axis=0), axis=0)}

    types = [tensor([4]), tensor([], I64), tensor([], DType.bool), buffer([8, 4])]
    (found,) = lower(graph_of(body, *types, names=["x", "at", "flag", "b"])).buffers
    assert found.plan.mode.shares_memory
    assert found.kept == (Region(()),)


def bytes_kept(model: Model, monkeypatch: pytest.MonkeyPatch, *arguments: Any) -> int:
    """How many bytes one execution keeps."""
    sizes = []
    keep = Undo.keep

    def counted(self: Undo, *given: Any) -> Any:
        made = keep(self, *given)
        sizes.extend(copy.nbytes for _, copy in made)
        return made

    monkeypatch.setattr(Undo, "keep", counted)
    model.execute(*arguments)
    monkeypatch.undo()
    return sum(sizes)


@pytest.mark.parametrize("size", [8, 1000, BIG])
def test_a_row_costs_a_row(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = InferenceSession().load(with_table(row, sizes=[size]))
    memory = np.zeros((size, 4), np.float32)
    assert bytes_kept(model, monkeypatch, FEW, 3, memory) == 16
    poison = InferenceSession(on_failure="poison").load(with_table(row, sizes=[size]))
    assert bytes_kept(poison, monkeypatch, FEW, 3, memory) == 0


# What happens -------------------------------------------------------------------------------------------------------

KINDS = {"whole": whole, "row": row, "rows": rows, "steps": steps, "last": last, "computed": computed}


@pytest.mark.parametrize("held", ["state", "caller"])
@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_running_out_of_memory_changes_nothing(first: str, second: str, held: str) -> None:
    graph = with_table(KINDS[first], KINDS[second], sizes=[6, 9])
    model = InferenceSession().load(graph)
    reference = InferenceSession().load(graph, reference=True)
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal((size, 4)).astype(np.float32) for size in (6, 9)]
    expected = [array.copy() for array in arrays]
    state = model.new_state()
    for name, array in zip(state.names, arrays, strict=True):
        state.set(name, array)

    def run(x: Array, at: int) -> None:
        if held == "state":
            model.execute(x, at, state=state)
        else:
            model.execute(x, at, *arrays)

    def contents() -> list[Any]:
        return list(state.as_dict().values()) if held == "state" else arrays

    for at in (1, 2, 0):
        before = [array.copy() for array in contents()]
        for _ in range(2):
            with pytest.raises(ExecutionError, match="out of memory while it ran Mul") as raised:
                run(TOO_MANY, at)
            assert raised.value.code == "MG044"
            assert "may have changed" not in str(raised.value)
            for got, wanted in zip(contents(), before, strict=True):
                np.testing.assert_array_equal(got, wanted)
        run(FEW, at)
        reference.execute(FEW, at, *expected)
        for got, wanted in zip(contents(), expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_what_is_too_dear_to_keep_is_not_used_on() -> None:
    model = InferenceSession().load(with_table(computed, last, sizes=[BIG, 5]))
    state, fine = model.new_state(), model.new_state()
    with pytest.raises(ExecutionError, match=r"out of memory[\s\S]*may have changed\s+b0\n?$"):
        model.execute(TOO_MANY, 1, state=state)
    assert state.to_numpy("b1").max() == 0
    for use in (
        lambda: model.execute(FEW, 1, state=state),
        lambda: state.to_numpy("b0"),
        state.as_dict,
        state.fork,
        lambda: state.save("nowhere.safetensors"),
        lambda: state.checkpoint().__enter__(),
    ):
        with pytest.raises(StateError, match=r"half changed[\s\S]*b0[\s\S]*state\.reset") as raised:
            use()
        assert raised.value.code == "MG048"
    model.execute(FEW, 1, state=fine)
    with pytest.raises(ExecutionError, match="may have changed"):
        model.execute(TOO_MANY, 1, np.zeros((BIG, 4), np.float32), np.zeros((5, 4), np.float32))


@pytest.mark.parametrize("mend", ["reset", "reset one", "set", "load", "checkpoint"])
def test_a_half_changed_state_is_mended(mend: str, tmp_path: Any) -> None:
    model = InferenceSession(on_failure="poison").load(with_table(whole, sizes=[3]))
    state = model.new_state()
    state.save(tmp_path / "s.safetensors")

    def fail() -> None:
        with pytest.raises(ExecutionError, match=r"may have changed\s+b0"):
            model.execute(TOO_MANY, 0, state=state)
        assert state.doubtful == {"b0"}

    if mend == "checkpoint":

        def block() -> None:
            with state.checkpoint():
                fail()
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            block()
    else:
        fail()
        {
            "reset": state.reset,
            "reset one": lambda: state.reset("b0"),
            "set": lambda: state.set("b0", np.zeros((3, 4), np.float32)),
            "load": lambda: state.load(tmp_path / "s.safetensors"),
        }[mend]()
    assert not state.doubtful
    model.execute(FEW, 0, state=state)
    assert state.to_numpy("b0").tolist() == [[1] * 4] * 3


def test_a_check_never_leaves_doubt() -> None:
    """It comes before every store, also where nothing is kept."""

    def body(at: Any, s: Any, t: Any) -> Any:
        s[...] = s[...] + 1
        t[(at * 2)] = s[0]
        return {}

    graph = graph_of(body, tensor([], I64), buffer([3, 4]), buffer([3, 4]), names=["at", "s", "t"])
    model = InferenceSession(on_failure="poison").load(graph)
    state = model.new_state()
    with pytest.raises(ExecutionError, match="out of range"):
        model.execute(2, state=state)
    assert not state.doubtful
    assert state.to_numpy("s").max() == 0


def test_a_print_that_fails_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def body(s: Any) -> Any:
        s[...] = s[...] + 1
        ops.print(s[0:1], "now")
        return {}

    model = InferenceSession().load(graph_of(body, buffer([3], F32), names=["s"]))
    memory = np.zeros(3, np.float32)

    def broken(*_: Any, **__: Any) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", broken)
    with pytest.raises(Exception, match="graph `g`"):
        model.execute(memory)
    monkeypatch.undo()
    assert memory.tolist() == [0, 0, 0]
    model.execute(memory)
    assert memory.tolist() == [1, 1, 1]


def test_no_memory_to_begin_with() -> None:
    """A result of known size for which there is no room: nothing has run."""

    def body(x: Any, s: Any) -> Any:
        s[...] = s[...] + 1
        return {"y": ops.broadcast_to(x.reshape(["n", 1, 1]), ["n", 10**7, 10**6])}

    graph = graph_of(body, tensor(["n"]), buffer([3]), names=["x", "s"])
    model = InferenceSession().load(graph)
    memory = np.zeros(3, np.float32)
    with pytest.raises(ExecutionError, match="out of memory") as raised:
        model.execute(np.ones(1, np.float32), memory)
    assert raised.value.code == "MG044"
    assert memory.max() == 0


def test_only_known_answers_to_failure_are_taken() -> None:
    with pytest.raises(InputError, match="`on_failure` has no value 'poisoned'"):
        InferenceSession(on_failure="poisoned")


def test_every_part_is_put_back_where_it_was() -> None:
    """The index of what is kept covers exactly what numpy overwrites, for every step and sign."""
    for step in (1, 2, 3, -1, -2):
        for extent in (1, 2, 3):
            for start in range(-12, 12):
                first = start + 12 if start < 0 else start
                touched = [first + at * step for at in range(extent)]
                if not all(0 <= place < 12 for place in touched):
                    continue
                memory = np.arange(24).reshape(12, 2)
                undo = Undo()
                region = Region((RegionAxis(IndexInput(7), Dim(extent), step), RegionAxis(Dim(1), Dim(1), 1)))
                undo.add(0, Shape([12, 2]), [region], {}, {7: 0})
                ((part, copy),) = undo.keep([np.array(start)], [memory])
                assert sorted(copy.ravel().tolist()) == sorted(2 * place + 1 for place in touched)
                memory[touched, 1] = -1
                part[...] = copy
                assert memory.ravel().tolist() == list(range(24))
