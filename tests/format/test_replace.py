"""A file appears whole or not at all, and whoever has the old one keeps it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import maxgraph
from maxgraph.errors import GraphTypeError, TypeRuleError, UsageError
from maxgraph.format import load, verify
from maxgraph.graph import Graph

from .files import f32, with_weights

ROOT = Path(__file__).resolve().parents[2]


def write(path: Path | str, value: float = 1.0) -> None:
    maxgraph.save(with_weights(w=f32(500)), path, weights={"w": np.full(500, value, np.float32)})


def test_saving_over_a_mapped_file_leaves_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.maxg"
    write(path)
    old = load(path).weights["w"].data
    assert old is not None
    write(path, 2)
    assert old.numpy()[0] == 1
    new = load(path)
    maxgraph.save(new, path)  # from its own mapping
    verify(path)


def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.maxg"
    write(path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(path, 2)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.maxg"]


KILLED = """
import os, signal, sys
from tests.format.test_replace import write
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
write(sys.argv[1], 2)
"""


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.maxg"
    write(path)
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == before


def test_the_file_and_its_name_are_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def replaced(source: str, target: str) -> None:
        done.append("replace")
        assert os.path.dirname(source) == str(tmp_path)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write(tmp_path / "a.maxg")
    assert done == ["file", "replace", "folder"]


def test_permissions_are_what_the_umask_gives(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write(tmp_path / "a.maxg")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a.maxg").stat().st_mode) == 0o640


def test_a_path_may_be_relative_and_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("a.maxg")
    write("b" * 250)
    assert sorted(os.listdir()) == ["a.maxg", "b" * 250]


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "a.maxg"):
        with pytest.raises(UsageError, match="cannot be written") as raised:
            write(path)
        assert raised.value.code == "MG050"
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_finished_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeRuleError, match="no output"):
        maxgraph.save(Graph("unfinished"), tmp_path / "a.maxg")
    with pytest.raises(GraphTypeError, match="not str"):
        maxgraph.save("graph", tmp_path / "a.maxg")  # type: ignore[arg-type]
