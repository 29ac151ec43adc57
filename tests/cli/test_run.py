"""`maxg run`: inputs of every kind, state, results, and each wrong use with its code."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import maxgraph
from maxgraph.dtype import DType
from maxgraph.graph import DeviceRef, Graph, TensorType, ops

from .conftest import Maxg


def test_steps_and_the_headline(maxg: Maxg, counter: Path) -> None:
    done = maxg("run", counter, "-i", "x=[1, 2]", "--steps", "3", "--show-state")
    assert done.code == 0
    assert done.out.splitlines() == [
        "cpu · 3 steps · 1 thread · n = 2 · in place 2/2 buffers",
        "step  total      steps",
        "   0  [3 3 3 3]  11",
        "   1  [6 6 6 6]  12",
        "   2  [9 9 9 9]  13",
        "state total  [9 9 9 9]",
        "state steps  13",
    ]
    assert done.err == ""


def test_every_source_of_an_input(maxg: Maxg, counter: Path, tmp_path: Path) -> None:
    x = np.array([1, 2, 4], np.float32)
    np.save("x.npy", x)
    np.savez("x.npz", x=x, other=x)
    save_file({"x": x}, "x.safetensors")
    Path("x.json").write_text('{"x": [1, 2, 4]}')
    sources = ("x=[1, 2, 4]", "x=@x.npy", "x=@x.npz:x", "x=@x.npz", "x=@x.safetensors:x", "x.npz", "x.json")
    for source in sources:
        done = maxg("run", counter, "-i", source, "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out.splitlines()[0])["outputs"]["total"] == [7.0] * 4, source
    assert len(list(tmp_path.iterdir())) == 5


def test_inputs_from_stdin(maxg: Maxg, counter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"x": [2]}'))
    done = maxg("run", counter, "-i", "-", "-o", "-", "-q")
    assert json.loads(done.out) == {"total": [2.0] * 4, "steps": 11}


def test_generated_inputs(maxg: Maxg, counter: Path) -> None:
    assert "[4 4 4 4]" in maxg("run", counter, "-i", "x=ones", "--dim", "n=4").out
    assert "[6 6 6 6]" in maxg("run", counter, "-i", "x=arange", "--dim", "n=4").out
    first = maxg("run", counter, "--random", "--dim", "n=3", "--seed", "5", "--steps", "2")
    assert "seed 5" in first.out
    assert first.out == maxg("run", counter, "--random", "--dim", "n=3", "--seed", "5", "--steps", "2").out
    assert first.out != maxg("run", counter, "--random", "--dim", "n=3", "--seed", "6", "--steps", "2").out
    for how in ("random:normal(0,1)", "random:uniform(2,3)", "random:int(0,9)"):
        assert maxg("run", counter, "-i", f"x={how}", "--dim", "n=2").code == 0


def test_scan_takes_one_entry_a_step(maxg: Maxg, counter: Path) -> None:
    np.savez("x.npz", x=np.arange(12, dtype=np.float32).reshape(6, 2))
    done = maxg("run", counter, "-i", "x.npz", "--scan", "x", "-o", "out.npz", "-q")
    assert done.code == 0
    with np.load("out.npz") as results:
        np.testing.assert_array_equal(results["total"][:, 0], np.cumsum(np.arange(12).reshape(6, 2).sum(1)))
        assert results["steps"].tolist() == [11, 12, 13, 14, 15, 16]


def test_state_goes_from_run_to_run(maxg: Maxg, counter: Path) -> None:
    maxg("run", counter, "-i", "x=[1]", "--steps", "2", "--state-out", "s.safetensors")
    assert {k: v.tolist() for k, v in load_file("s.safetensors").items()} == {"total": [2.0] * 4, "steps": 12}
    done = maxg("run", counter, "-i", "x=[1]", "--state-in", "s.safetensors", "--show-state")
    assert "state total  [3 3 3 3]" in done.out
    done = maxg(
        "run", counter, "-i", "x=[1]", "--state-in", "s.safetensors", "--reset", "steps", "--json", "--show-state"
    )
    assert json.loads(done.out.splitlines()[-1])["state"] == {"total": [3.0] * 4, "steps": 11}
    done = maxg("run", counter, "-i", "x=[1]", "--state", "total=[1, 2, 3, 4]", "--output-name", "total")
    assert done.out.splitlines()[-1].split("  ")[-1] == "[2 3 4 5]"


def test_a_state_of_another_program_is_taken_only_if_told(maxg: Maxg, counter: Path) -> None:
    maxg("run", counter, "-i", "x=[1]", "--state-out", "s.safetensors")
    arrays = load_file("s.safetensors")
    save_file(arrays, "other.safetensors", {"graph": "other", "program": "0" * 64})
    save_file(arrays, "unsaid.safetensors")
    refused = maxg("run", counter, "-i", "x=[1]", "--state-in", "other.safetensors")
    assert refused.code == 2
    assert "error[MG038]" in refused.err
    assert "--any-program" in refused.err
    taken = maxg("run", counter, "-i", "x=[1]", "--state-in", "other.safetensors", "--any-program", "--show-state")
    assert "state total  [2 2 2 2]" in taken.out
    assert maxg("run", counter, "-i", "x=[1]", "--state-in", "unsaid.safetensors").code == 0


def test_results_are_saved_and_compared(maxg: Maxg, counter: Path) -> None:
    for name in ("r.npz", "r.safetensors", "r.json"):
        assert maxg("run", counter, "-i", "x=[0.5]", "-o", name).code == 0
    for name in ("r.npz", "r.safetensors"):
        assert maxg("run", counter, "-i", "x=[0.5]", "--expect", name).code == 0
    failed = maxg("run", counter, "-i", "x=[0.75]", "--expect", "r.npz")
    assert failed.code == 1
    assert "FAIL  total" in failed.out
    assert "needs --atol 0.25 or --rtol 0.5" in failed.out
    assert "ok    steps" in failed.out
    assert maxg("run", counter, "-i", "x=[0.75]", "--expect", "r.npz", "--atol", "0.25").code == 0
    np.savez("nan.npz", total=np.full(4, np.nan, np.float32))
    assert "NaN" in maxg("run", counter, "-i", "x=[1]", "--expect", "nan.npz").out


@pytest.mark.parametrize("provider", ["cpu", "reference"])
def test_providers_agree(provider: str, maxg: Maxg, counter: Path) -> None:
    done = maxg("run", counter, "-i", "x=[1, 2]", "--steps", "2", "--provider", provider, "--json")
    assert [json.loads(line).get("outputs") for line in done.out.splitlines()] == [
        {"total": [3.0] * 4, "steps": 11},
        {"total": [6.0] * 4, "steps": 12},
        None,
    ]
    assert maxg("run", counter, "-i", "x=[1, 2]", "--no-inplace", "--steps", "2").code == 0


def test_quiet_and_printing(maxg: Maxg, counter: Path) -> None:
    assert maxg("run", counter, "-i", "x=[1]", "-qq").out == ""
    assert maxg("run", counter, "-i", "x=[1]", "--print", "none").out == ""
    assert maxg("run", counter, "-i", "x=[1]", "-q").out.startswith("step")
    done = maxg("run", counter, "-i", "x=[1]", "--state-out", "s.safetensors")
    assert done.err == "state → s.safetensors (2 buffers)\n"


WRONG: dict[str, tuple[tuple[str, ...], str, str]] = {
    "a missing input": ((), "MG030", "input `x` is missing"),
    "a misspelt input": (("-i", "xx=[1]"), "MG030", "did you mean `x`?"),
    "a value that is no JSON": (("-i", "x=[1,"), "MG052", "cannot be understood"),
    "ragged rows": (("-i", "x=[[1], [1, 2]]"), "MG052", "differ in length"),
    "text": (("-i", 'x=["a"]'), "MG052", "does not fit float32"),
    "a rank too many": (("-i", "x=[[1]]"), "MG031", "wrong shape"),
    "a missing file": (("-i", "x=@nope.npy"), "MG050", "there is no such file"),
    "a file of another dtype": (("-i", "x=@f64.npy"), "MG032", "wrong dtype"),
    "a damaged file": (("-i", "x=@bad.npy"), "MG050", "cannot be read"),
    "a damaged archive": (("-i", "bad.npz"), "MG050", "cannot be read"),
    "a key that is not there": (("-i", "x=@ok.npz:y"), "MG052", "holds no `y`"),
    "a file of an unknown kind": (("-i", "x=@x.txt"), "MG052", "what kind of file"),
    "an input that is no pair": (("-i", "x"), "MG052", "neither NAME=VALUE nor a file"),
    "a size that is not known": (("-i", "x=zeros"), "MG052", "--dim n=SIZE"),
    "a dim that is no number": (("-i", "x=[1]", "--dim", "n=two"), "MG052", "--dim takes NAME=SIZE"),
    "a scan of no input": (("-i", "x=[1]", "--scan", "y"), "MG030", "there is no input `y`"),
    "more steps than there are": (("-i", "x=@two.npy", "--scan", "x", "--steps", "3"), "MG052", "hold 2"),
    "an unknown output": (("-i", "x=[1]", "--output-name", "totl"), "MG030", "did you mean `total`?"),
    "an unknown buffer": (("-i", "x=[1]", "--state", "totl=[1]"), "MG037", "did you mean `total`?"),
    "a buffer of another shape": (("-i", "x=[1]", "--state", "total=[1]"), "MG037", "`total`"),
    "a state of another graph": (("-i", "x=[1]", "--state-in", "ok.npz"), "MG037", "`x`"),
    "no state at all": (("-i", "x=[1]", "--state-in", "nope.npz"), "MG050", "nope.npz"),
    "an unknown provider": (("-i", "x=[1]", "--provider", "cpuu"), "MG053", "did you mean `cpu`?"),
    "a provider that is not here": (("-i", "x=[1]", "--provider", "cuda"), "MG040", "onnxruntime-gpu"),
    "results of an unknown kind": (("-i", "x=[1]", "-o", "out.txt"), "MG052", "out.txt"),
    "an unknown option": (("-i", "x=[1]", "--stepz", "3"), "MG053", "--steps"),
    "no steps": (("-i", "x=[1]", "--steps", "0"), "MG053", "--steps"),
    "an expectation of nothing": (("-i", "x=[1]", "--expect", "nope.npz"), "MG050", "no such file"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_use_has_its_code(name: str, maxg: Maxg, counter: Path) -> None:
    np.save("f64.npy", np.ones(2))
    np.save("two.npy", np.ones((2, 1), np.float32))
    np.savez("ok.npz", x=np.ones(2, np.float32))
    Path("bad.npy").write_bytes(b"\x93NUMPY junk")
    Path("bad.npz").write_bytes(b"PK\x03\x04 junk")
    Path("s.safetensors").write_bytes(b"kept")
    arguments, code, words = WRONG[name]
    if name == "a provider that is not here":
        import onnxruntime

        if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
            pytest.skip("there is a CUDA provider here")
    done = maxg("run", counter, *arguments, "--state-out", "s.safetensors")
    assert done.code == 2, done
    assert done.err.startswith(f"error[{code}]: "), done.err
    assert words in done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert Path("s.safetensors").read_bytes() == b"kept"


def test_what_a_graph_prints_is_shown_and_escaped(maxg: Maxg, tmp_path: Path) -> None:
    with Graph("shows", input_types=[TensorType(DType.int64, [], DeviceRef.CPU())], input_names=["x"]) as graph:
        ops.print(graph.inputs[0].tensor, "red\x1b[31m")
        graph.output(y=graph.inputs[0].tensor + 1)
    maxgraph.save(graph, tmp_path / "shows.maxg")
    for provider in ("cpu", "reference"):
        done = maxg("run", "shows.maxg", "-i", "x=4", "--provider", provider)
        assert "red\\u001b[31m: int64[] 4\n" in done.out
        # With JSON the answer stays JSON.
        done = maxg("run", "shows.maxg", "-i", "x=4", "--provider", provider, "--json")
        assert [json.loads(line)["schema"] for line in done.out.splitlines()] == ["maxg.run/1"] * 2
        assert "red\\u001b" in done.err


def test_an_expectation_of_ints_counts_all_bits(maxg: Maxg) -> None:
    with Graph("g", input_types=[TensorType(DType.int64, [1], DeviceRef.CPU())], input_names=["x"]) as graph:
        graph.output(y=graph.inputs[0].tensor + 0)
    maxgraph.save(graph, "g.maxg")
    for off, code in ((0, 0), (1, 1)):
        np.savez("r.npz", y=np.array([2**62 + off]))
        assert maxg("run", "g.maxg", "-i", f"x=[{2**62}]", "--expect", "r.npz").code == code
