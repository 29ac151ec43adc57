"""The command, run in this process, and files for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops

CPU = DeviceRef.CPU()


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


Maxg = Callable[..., Done]


@pytest.fixture
def maxg(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Maxg:
    """Runs ``maxg`` with arguments, in a folder of its own."""
    from maxgraph_cli.main import main

    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "MAXG_PROVIDER", "MAXG_THREADS", "MAXG_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["maxg", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as done:
            main()
        captured = capsys.readouterr()
        assert isinstance(done.value.code, int)
        return Done(done.value.code, captured.out, captured.err)

    return run


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """A buffer of the caller's that counts up by an input, and one of the model's that counts steps."""
    types = [TensorType(DType.float32, ["n"], CPU), BufferType(DType.float32, [4], CPU)]
    with Graph("counter", input_types=types, input_names=["x", "total"]) as graph:
        x, total = graph.inputs[0].tensor, graph.inputs[1].buffer
        steps = ops.buffer_create(BufferType(DType.int64, [], CPU), 10, name="steps")
        total[...] = total[...] + ops.sum(x, axis=0)
        steps[...] = steps[...] + 1
        graph.output(total=total[...], steps=steps[...])
    path = tmp_path / "counter.maxg"
    maxgraph.save(graph, path, metadata={"license": "MIT"})
    return path
