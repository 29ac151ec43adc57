"""`maxg compare`: what it compares with, what it shows, its exit codes, and each wrong use with its code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import maxgraph
from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops

from .conftest import Maxg

CPU = DeviceRef.CPU()
WEIGHT = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)


def saved(path: str, weight: np.ndarray[Any, Any] = WEIGHT, *, added: float = 1.0, dtype: DType = DType.float32) -> str:
    """A product, a row stored at an index, and a counter of the model's own."""
    types = [
        TensorType(DType.float32, ["n", 4], CPU),
        TensorType(DType.int32, [], CPU),
        BufferType(dtype, ["rows", 4], CPU),
    ]
    with Graph("model", input_types=types, input_names=["x", "at", "cache"]) as graph:
        x, at, cache = graph.inputs[0].tensor, graph.inputs[1].tensor, graph.inputs[2].buffer
        count = ops.buffer_create(BufferType(DType.float32, [], CPU), 3.0, name="count")
        count[...] = count[...] + added
        y = ops.tanh(x) @ ops.constant(weight, DType.float32, CPU)
        cache[at.cast(DType.int64)] = ops.sum(y, axis=0).reshape([4]).cast(dtype)
        graph.output(y=y, rows=ops.shape_to_tensor(y.shape))
    maxgraph.save(graph, path)
    return path


def answer(maxg: Maxg, *arguments: str) -> dict[str, Any]:
    done = maxg("compare", *arguments, "--json")
    assert done.code in (0, 1), done.err
    found: dict[str, Any] = json.loads(done.out)
    assert found["schema"] == "maxg.compare/1"
    assert found["equal"] == (done.code == 0)
    return found


def value(found: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    (one,) = [v for v in found["values"] if (v["kind"], v["name"]) == (kind, name)]
    return dict(one)


@pytest.mark.parametrize("against", [(), ("reference",), ("--against", "copied"), ("--with", "no-inplace"), ("cpu",)])
def test_a_file_agrees_with_itself(against: tuple[str, ...], maxg: Maxg, tmp_path: Path) -> None:
    path = saved("model.maxg")
    done = maxg("compare", path, *against, "--random", "--steps", "3")
    assert done.code == 0, done
    lines = done.out.splitlines()
    assert lines[0].endswith(" · 3 steps · 1 thread · seed 0 · n = 8 · rows = 9")
    marked = [line.split()[:3] for line in lines if line.startswith(("ok", "FAIL"))]
    assert marked == [
        ["ok", "output", "y"],
        ["ok", "output", "rows"],
        ["ok", "buffer", "cache"],
        ["ok", "buffer", "count"],
    ]
    assert lines[-1] == "equal within the tolerances: 4 values, 3 steps"


def test_one_weight_that_differs_is_found_and_named(maxg: Maxg) -> None:
    other = WEIGHT.copy()
    other[1, 2] += 0.5
    saved("a.maxg")
    saved("b.maxg", other)
    done = maxg("compare", "a.maxg", "b.maxg", "--random", "--steps", "2", "--trace")
    assert done.code == 1
    assert "FAIL  output y" in done.out
    assert "FAIL  buffer cache" in done.out
    assert "ok    buffer count" in done.out
    assert "first difference: node " in done.out
    assert done.out.splitlines()[-1] == "2 of 4 values differ, first in step 0 of 2 steps"
    found = answer(maxg, "a.maxg", "b.maxg", "--random", "--trace")["trace"]
    assert found["op"] == "constant"
    assert found["where"].startswith("test_compare.py:")
    place = found["place"]
    assert (place["index"], place["actual"], place["expected"]) == ([1, 2], float(WEIGHT[1, 2]), float(other[1, 2]))


def test_the_node_that_the_runtime_gets_wrong_is_found(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAXG_CACHE", "off")  # what is lowered here must meet nobody else
    path = saved("model.maxg")
    monkeypatch.setattr(ops.tanh, "_lowering", lambda b, x: b.node("Sin", x))
    found = answer(maxg, path, "--random", "--trace")
    assert not value(found, "output", "y")["equal"]
    assert found["trace"]["op"] == "tanh"
    assert not found["trace"]["alone"]
    done = maxg("compare", path, "--random", "--trace")
    assert "tanh (test_compare.py:" in done.out


def test_a_fault_of_the_optimiser_is_found_one_value_at_a_time(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all values as outputs nothing is wrong here: the broken lowering looks at what else is an output."""
    monkeypatch.setenv("MAXG_CACHE", "off")
    with Graph("g", input_types=[TensorType(DType.float32, [8], CPU)], input_names=["x"]) as graph:
        graph.output(y=ops.tanh(ops.exp(graph.inputs[0].tensor)))
    maxgraph.save(graph, "g.maxg")
    right = ops.tanh.lowering
    from maxgraph.compare import probes

    made = probes.probed
    asked: list[int] = []

    def noted(source: Graph, wanted: Any, *, results: bool) -> Graph:
        asked.append(len(wanted))
        return made(source, wanted, results=results)

    monkeypatch.setattr("maxgraph.compare.tracing.probed", noted)
    monkeypatch.setattr(
        ops.tanh, "_lowering", lambda b, x: right(b, x) if asked and asked[-1] > 1 else b.node("Sin", x)
    )
    found = answer(maxg, "g.maxg", "--random", "--trace")["trace"]
    assert (found["op"], found["alone"]) == ("tanh", True)


def test_files_of_another_program_are_traced_as_far_as_they_are_the_same(maxg: Maxg) -> None:
    for name, op in (("a", ops.tanh), ("b", ops.exp)):
        with Graph("g", input_types=[TensorType(DType.float32, [3], CPU)], input_names=["x"]) as graph:
            graph.output(y=op(ops.abs(graph.inputs[0].tensor)))
        maxgraph.save(graph, f"{name}.maxg")
    found = answer(maxg, "a.maxg", "b.maxg", "--random", "--trace")["trace"]
    assert found["node"] is None
    assert found["note"].startswith("from node 1 on the two programs are not the same: `tanh`")


def test_programs_that_have_no_node_in_common_are_not_traced(maxg: Maxg) -> None:
    for name, added in (("a", False), ("b", True)):
        with Graph("g", input_types=[TensorType(DType.float32, [3], CPU)], input_names=["x"]) as graph:
            x = graph.inputs[0].tensor
            graph.output(y=x + x if added else x)
        maxgraph.save(graph, f"{name}.maxg")
    found = answer(maxg, "a.maxg", "b.maxg", "-i", "x=[1, 2, 3]", "--trace")["trace"]
    assert found["note"] == "graph `g` has 1 value more than the other"


def test_a_buffer_that_differs_while_the_outputs_agree(maxg: Maxg) -> None:
    types = [TensorType(DType.float32, [3], CPU)] * 2 + [BufferType(DType.float32, [3], CPU)]
    for path, which in (("a.maxg", 0), ("b.maxg", 1)):
        with Graph("g", input_types=types, input_names=["a", "b", "s"]) as graph:
            s = graph.inputs[2].buffer
            graph.output(y=s[...] * 0 + 1)
            s[...] = graph.inputs[which].tensor
        maxgraph.save(graph, path)
    same = answer(maxg, "a.maxg", "b.maxg", "-i", "a=[1, 2, 3]", "-i", "b=[1, 2, 3]")
    assert same["equal"]
    found = answer(maxg, "a.maxg", "b.maxg", "-i", "a=[1, 2, 3]", "-i", "b=[1, 2, 4]", "--trace")
    assert value(found, "output", "y")["equal"]
    worst = value(found, "buffer", "s")
    assert (worst["equal"], worst["max_abs"]["index"], worst["max_abs"]["amount"]) == (False, [2], 1.0)
    assert (found["trace"]["op"], found["trace"]["value"]) == ("buffer_store", "buffer `s`")


def test_a_difference_that_grows_is_seen_at_its_worst_step(maxg: Maxg) -> None:
    saved("a.maxg")
    saved("b.maxg", added=1.5)
    found = answer(maxg, "a.maxg", "b.maxg", "--random", "--steps", "4")
    count = value(found, "buffer", "count")
    assert (count["first_step"], count["max_abs"]["step"], count["max_abs"]["amount"]) == (0, 3, 2.0)
    assert answer(maxg, "a.maxg", "b.maxg", "--random", "--steps", "4", "--tolerance", "count=0,2")["equal"]
    assert not answer(maxg, "a.maxg", "b.maxg", "--random", "--steps", "5", "--tolerance", "count=0,2")["equal"]


def test_buffers_that_begin_with_other_values_are_said_to(maxg: Maxg) -> None:
    for path, start in (("a.maxg", 0.0), ("b.maxg", 5.0)):
        with Graph("g") as graph:
            s = ops.buffer_create(BufferType(DType.float32, [2], CPU), start, name="s")
            s[...] = s[...] + 1
            graph.output()
        maxgraph.save(graph, path)
    assert "note: buffer `s` differs before the first step" in maxg("compare", "a.maxg", "b.maxg").out
    # A state that is given goes to both.
    assert answer(maxg, "a.maxg", "b.maxg", "--state", "s=[1, 2]")["equal"]


# Recorded results ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["r.npz", "r.safetensors"])
def test_recorded_results(name: str, maxg: Maxg) -> None:
    path = saved("model.maxg")
    done = maxg("compare", path, "--random", "--steps", "3", "--record", name)
    assert (done.code, done.err) == (0, f"results → {name}\n")
    found = answer(maxg, path, name, "--random")
    assert (found["equal"], found["steps"], len(found["values"])) == (True, 3, 4)
    assert all(v["max_abs"] is None for v in found["values"])
    assert not answer(maxg, path, name, "--random", "--seed", "1")["equal"]


def test_results_of_a_run_are_recorded_results(maxg: Maxg, counter: Path) -> None:
    maxg("run", counter, "-i", "x=[1, 2]", "--steps", "2", "-o", "r.npz")
    found = answer(maxg, str(counter), "r.npz", "-i", "x=[1, 2]")
    assert (found["steps"], [v["name"] for v in found["values"]]) == (2, ["total", "steps"])
    maxg("run", counter, "-i", "x=[1, 2]", "-o", "one.npz")
    assert answer(maxg, str(counter), "one.npz", "-i", "x=[1, 2]")["steps"] == 1


def test_recorded_bfloat16_keeps_its_type(maxg: Maxg) -> None:
    with Graph("g", input_types=[TensorType(DType.bfloat16, [3], CPU)], input_names=["x"]) as graph:
        graph.output(y=graph.inputs[0].tensor * 2)
    maxgraph.save(graph, "g.maxg")
    assert maxg("compare", "g.maxg", "--random", "--record", "r.npz").code == 0
    assert answer(maxg, "g.maxg", "r.npz", "--random")["equal"]


# Tolerances ---------------------------------------------------------------------------------------------------------


def identity(path: str, dtype: DType, shape: list[Any]) -> str:
    with Graph("same", input_types=[TensorType(dtype, shape, CPU)], input_names=["x"]) as graph:
        graph.output(y=graph.inputs[0].tensor.reshape(shape))
    maxgraph.save(graph, path)
    return path


@pytest.mark.parametrize(
    ("options", "equal"),
    [
        (("--atol", "0.25"), True),
        (("--atol", "0.2499"), False),
        (("--atol", "y:0.25"), True),
        (("--rtol", "0.125", "--atol", "0"), True),
        (("--rtol", "0.1249", "--atol", "0"), False),
        (("--rtol", "y:0.125"), True),
        (("--tolerance", "y=0,0.25"), True),
        (("--tolerance", "y=0.125,0"), True),
        (("--tolerance", "y=0.0625,0.125"), True),
        (("--tolerance", "y=0.0625,0.1249"), False),
        (("--atol", "1", "--tolerance", "y=0,0"), False),  # what is said of the name goes before what is said of all
    ],
)
def test_the_boundary_of_a_tolerance(options: tuple[str, ...], equal: bool, maxg: Maxg) -> None:
    identity("g.maxg", DType.float64, [1])
    np.savez("r.npz", y=np.array([2.0]))
    assert answer(maxg, "g.maxg", "r.npz", "-i", "x=[2.25]", *options)["equal"] == equal


@pytest.mark.parametrize("seed", range(5))
def test_the_least_tolerance_that_is_shown_passes_and_less_does_not(seed: int, maxg: Maxg) -> None:
    identity("g.maxg", DType.float32, [50])
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(size=50).astype(np.float32) for _ in range(2))
    np.save("x.npy", x)
    np.savez("r.npz", y=y)
    common = ("compare", "g.maxg", "r.npz", "-i", "x=@x.npy")
    shown = maxg(*common).out.split("needs rtol ")[1].splitlines()[0]
    rtol, atol = shown.split(" or atol ")
    for option, least in (("--rtol", float(rtol)), ("--atol", float(atol))):
        assert maxg(*common, option, str(least)).code == 0
        assert maxg(*common, option, str(least * 0.98)).code == 1


def test_default_tolerances_are_those_of_the_dtype(maxg: Maxg) -> None:
    identity("g.maxg", DType.float32, [1])
    for offset, equal in ((1e-6, True), (1e-4, False)):
        np.savez("r.npz", y=np.array([1 + offset], np.float32))
        assert answer(maxg, "g.maxg", "r.npz", "-i", "x=[1]")["equal"] == equal


def test_ints_are_equal_or_not_in_all_their_bits(maxg: Maxg) -> None:
    identity("g.maxg", DType.int64, [2])
    np.save("x.npy", np.array([2**62 + 1, -5]))
    np.savez("r.npz", y=np.array([2**62, -5]))
    found = value(answer(maxg, "g.maxg", "r.npz", "-i", "x=@x.npy"), "output", "y")
    assert found["max_abs"] == {
        "amount": 1.0,
        "step": 0,
        "index": [0],
        "actual": 2**62 + 1,
        "expected": 2**62,
    }
    assert found["least_atol"] == 1.0


def test_nan_and_infinity(maxg: Maxg) -> None:
    identity("g.maxg", DType.float32, [4])
    odd = np.array([np.nan, np.inf, -np.inf, 0.0], np.float32)
    np.save("x.npy", odd)
    np.savez("same.npz", y=odd * np.array([1, 1, 1, -1], np.float32))
    assert answer(maxg, "g.maxg", "same.npz", "-i", "x=@x.npy")["equal"]
    for at, other in ((0, 1.0), (1, np.nan), (2, np.inf), (3, np.nan), (3, -np.inf)):
        changed = odd.copy()
        changed[at] = other
        np.savez("r.npz", y=changed)
        done = maxg("compare", "g.maxg", "r.npz", "-i", "x=@x.npy", "--rtol", "1e300", "--atol", "1e300")
        assert done.code == 1
        assert "no tolerance passes" in done.out
        assert f"NaN or infinity at [{at}]: " in done.out
        found = value(answer(maxg, "g.maxg", "r.npz", "-i", "x=@x.npy"), "output", "y")
        assert (found["special"]["index"], found["least_rtol"], found["least_atol"]) == ([at], None, None)


def test_another_shape_or_dtype_is_a_difference(maxg: Maxg) -> None:
    identity("a.maxg", DType.float32, ["n"])
    for wrong, words in (
        (np.ones(4, np.float32), "float32[3] against float32[4]"),
        (np.ones(3), "float32[3] against float64[3]"),
    ):
        np.savez("r.npz", y=wrong)
        done = maxg("compare", "a.maxg", "r.npz", "-i", "x=[1, 1, 1]")
        assert done.code == 1
        assert words in done.out


def test_an_output_that_only_one_file_has(maxg: Maxg) -> None:
    for path, names in (("a.maxg", ("y",)), ("b.maxg", ("y", "z"))):
        with Graph("g", input_types=[TensorType(DType.float32, [2], CPU)], input_names=["x"]) as graph:
            graph.output(**dict.fromkeys(names, graph.inputs[0].tensor + 1))
        maxgraph.save(graph, path)
    done = maxg("compare", "a.maxg", "b.maxg", "--random")
    assert done.code == 1
    assert "FAIL  output z  " in done.out
    assert "cpu has none" in done.out


# Failures -----------------------------------------------------------------------------------------------------------


def test_a_side_that_fails_is_a_difference_and_two_are_no_answer(maxg: Maxg) -> None:
    for path, rows in (("a.maxg", 4), ("b.maxg", 8)):
        with Graph("g", input_types=[TensorType(DType.int64, [], CPU)], input_names=["at"]) as graph:
            table = ops.constant(np.arange(rows, dtype=np.float32), DType.float32, CPU)
            graph.output(y=ops.gather(table, graph.inputs[0].tensor, axis=0))
        maxgraph.save(graph, path)
    assert answer(maxg, "a.maxg", "b.maxg", "-i", "at=3")["equal"]
    done = maxg("compare", "a.maxg", "b.maxg", "-i", "at=5", "--trace")
    assert (done.code, "FAIL  step 0: cpu fails, b.maxg does not" in done.out) == (1, True)
    assert answer(maxg, "a.maxg", "b.maxg", "-i", "at=5")["failure"]["side"] == "cpu"
    done = maxg("compare", "a.maxg", "b.maxg", "-i", "at=9")
    assert done.code == 2
    assert done.err.startswith("error[MG")


def test_random_indices_are_in_range(maxg: Maxg) -> None:
    types = [
        TensorType(DType.int64, [50], CPU),
        TensorType(DType.int32, [], CPU),
        TensorType(DType.int64, [], CPU),
        TensorType(DType.float32, ["rows", 2], CPU),
    ]
    with Graph("g", input_types=types, input_names=["many", "narrow", "start", "table"]) as graph:
        many, narrow, start, table = (v.tensor for v in graph.inputs)
        window = table[(slice(start, None), 3),]
        graph.output(a=ops.gather(table, many, axis=0), b=table[narrow.cast(DType.int64)], c=window)
    maxgraph.save(graph, "g.maxg")
    assert maxg("compare", "g.maxg", "--random", "--steps", "40", "--dim", "rows=4").code == 0
    done = maxg("run", "g.maxg", "--random", "--dim", "rows=4")
    assert done.code == 0, done.err


def test_what_a_graph_prints_is_no_part_of_the_answer(maxg: Maxg) -> None:
    with Graph("shows", input_types=[TensorType(DType.int64, [], CPU)], input_names=["x"]) as graph:
        ops.print(graph.inputs[0].tensor, "seen")
        graph.output(y=graph.inputs[0].tensor + 1)
    maxgraph.save(graph, "g.maxg")
    assert answer(maxg, "g.maxg", "-i", "x=4", "--trace")["equal"]


def test_the_json_has_the_fields_that_are_documented(maxg: Maxg) -> None:
    saved("a.maxg")
    saved("b.maxg", WEIGHT * 2)
    page = (Path(__file__).parents[2] / "docs" / "cli-json.md").read_text()
    section = page.split("`maxg.compare/1`")[1].split("\n## ")[0]
    found = answer(maxg, "a.maxg", "b.maxg", "--random", "--trace")
    fields = {*found, *found["values"][0], *found["trace"], *found["trace"]["place"]} - {"schema"}
    assert {field for field in fields if f"`{field}`" not in section} == set()


def test_a_file_that_gives_nothing_is_no_answer(maxg: Maxg) -> None:
    with Graph("g", input_types=[TensorType(DType.float32, [], CPU)], input_names=["x"]) as graph:
        graph.output()
    maxgraph.save(graph, "g.maxg")
    done = maxg("compare", "g.maxg", "--random")
    assert (done.code, done.err.startswith("error[MG052]: ")) == (2, True)


def test_quiet(maxg: Maxg) -> None:
    path = saved("model.maxg")
    assert maxg("compare", path, "--random", "-q").out.startswith("ok    output y")
    assert maxg("compare", path, "--random", "-qq").out == ""


WRONG: dict[str, tuple[tuple[str, ...], str, str]] = {
    "a missing input": ((), "MG030", "input `x` is missing"),
    "two things to compare with": (("copied", "--against", "cpu"), "MG053", "give one of them"),
    "nothing of this name": (("copyed",), "MG053", "did you mean `copied`?"),
    "an unknown provider": (("--provider", "cpuu"), "MG053", "did you mean `cpu`?"),
    "no such file": (("nope.maxg",), "MG050", "nope.maxg"),
    "no such recording": (("nope.npz",), "MG050", "no such file"),
    "a damaged recording": (("bad.npz",), "MG050", "cannot be read"),
    "a recording of something else": (("other.npz",), "MG030", "no output of graph `model`"),
    "an empty recording": (("none.npz",), "MG052", "holds no results"),
    "a recording of another rank": (("rank.npz",), "MG031", "has rank 1"),
    "a recording of unequal lengths": (("uneven.npz",), "MG031", "different numbers of steps"),
    "more steps than recorded": (("one.npz", "--random", "--steps", "2"), "MG052", "holds 1"),
    "a trace of recorded results": (("one.npz", "--trace"), "MG052", "no values in between"),
    "a tolerance of nothing": (("--rtol", "yy:1"), "MG030", "did you mean `y`?"),
    "a tolerance of no number": (("--atol", "small"), "MG052", "--atol takes a number"),
    "a negative tolerance": (("--rtol", "-1"), "MG052", "at least 0"),
    "a tolerance of NaN": (("--rtol", "nan"), "MG052", "at least 0"),
    "a tolerance of one number": (("--tolerance", "y=1"), "MG052", "NAME=RTOL,ATOL"),
    "other inputs": (("inputs.maxg", "--random"), "MG030", "do not take the same inputs"),
    "a record of an unknown kind": (("--record", "r.txt"), "MG052", "r.txt"),
    "a record on stdout": (("--record", "-"), "MG052", "--record writes a file"),
    "an unknown buffer": (("--random", "--state", "cach=[1]"), "MG037", "did you mean `cache`?"),
    "a wrong shape": (("-i", "x=[[1]]", "-i", "at=0"), "MG031", "wrong shape"),
    "a buffer of another type": (("buffers.maxg", "--random"), "MG037", "cannot begin as in the other file"),
    "a buffer of a size that nothing tells": (("-i", "x=[[1, 2, 3, 4]]", "-i", "at=0"), "MG037", "not known yet"),
    "no steps": (("--steps", "0"), "MG053", "--steps"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_use_has_its_code(name: str, maxg: Maxg) -> None:
    path = saved("model.maxg")
    identity("inputs.maxg", DType.float32, [1])
    y = np.ones((2, 4), np.float32)
    saved("buffers.maxg", dtype=DType.float64)
    Path("bad.npz").write_bytes(b"PK\x03\x04 junk")
    np.savez("other.npz", yy=y)
    np.savez("none.npz")
    np.savez("rank.npz", y=y[0])
    np.savez("one.npz", y=y)
    np.savez("uneven.npz", y=y[None], rows=np.ones((3, 2), np.int64))
    save_file({"y": y}, "one.safetensors")
    arguments, code, words = WRONG[name]
    done = maxg("compare", path, *arguments)
    assert done.code == 2, done
    assert done.err.startswith(f"error[{code}]: "), done.err
    assert words in done.err
    assert "Traceback" not in done.err
