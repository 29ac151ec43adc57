"""`maxg cache` and `maxg run` with and without it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from .conftest import Maxg

RUN = ("-i", "x=[1]", "--steps", "2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MAXG_CACHE")
    monkeypatch.setenv("MAXG_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_run_leaves_an_entry_and_says_the_same_with_it(maxg: Maxg, counter: Path, folder: Path) -> None:
    assert maxg("cache", "list").out == ""
    first = maxg("run", counter, *RUN)
    assert len(os.listdir(folder)) == 1
    assert maxg("run", counter, *RUN) == first
    assert maxg("run", counter, *RUN, "--no-cache") == first
    header, row = maxg("cache", "list").out.splitlines()
    assert header.split() == ["name", "kind", "size", "used", "provider", "onnxruntime", "key"]
    assert row.startswith("counter  compiled graph  ")
    assert row.split()[-3:-2] == ["cpu"]


@pytest.mark.parametrize("off", ["--no-cache", "environment"])
def test_without_the_cache(off: str, maxg: Maxg, counter: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if off == "environment":
        monkeypatch.setenv("MAXG_CACHE", "off")
    assert maxg("run", counter, *RUN, *([off] if off.startswith("-") else [])).code == 0
    assert not folder.exists()


def test_list_as_json(maxg: Maxg, counter: Path, folder: Path) -> None:
    maxg("run", counter, *RUN)
    answer = json.loads(maxg("cache", "list", "--json").out)
    assert {key: type(value) for key, value in answer.items()} == {
        "schema": str,
        "folder": str,
        "bytes": int,
        "limit_bytes": int,
        "entries": list,
    }
    assert (answer["schema"], answer["folder"], answer["limit_bytes"]) == ("maxg.cache/1", str(folder), 1 << 30)
    (entry,) = answer["entries"]
    assert entry["name"] == "counter"
    assert entry["provider"] == "CPUExecutionProvider"
    assert entry["bytes"] == answer["bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    assert entry["used_seconds_ago"] < 600
    assert entry["options"] == {"optimization": "all", "buffers": "auto"}
    assert (folder / f"{entry['key']}.entry").exists()


def test_clear_by_age(maxg: Maxg, counter: Path, folder: Path) -> None:
    maxg("run", counter, *RUN)
    maxg("run", counter, *RUN, "--no-inplace")
    old = next(folder.iterdir())
    os.utime(old, (time.time() - 3 * 86400,) * 2)
    assert maxg("cache", "list").out.splitlines()[-1].split()[-4] == "3d"
    assert maxg("cache", "clear", "--older-than", "4d").out == "removed 0 entries, 0 B\n"
    assert maxg("cache", "clear", "--older-than", "2d").out.startswith("removed 1 entry, ")
    assert not old.exists()
    answer = json.loads(maxg("cache", "clear", "--json").out)
    assert (answer["removed"], answer["folder"]) == (1, str(folder))
    assert os.listdir(folder) == []


def test_the_folder_is_shown_and_not_made(maxg: Maxg, folder: Path) -> None:
    assert maxg("cache", "dir").out == f"{folder}\n"
    assert not folder.exists()


def test_an_age_that_is_none(maxg: Maxg, folder: Path) -> None:
    done = maxg("cache", "clear", "--older-than", "soon")
    assert (done.code, done.out) == (2, "")
    assert "'soon' is no age; write e.g. 90m" in done.err


def test_an_unknown_subcommand(maxg: Maxg) -> None:
    done = maxg("cache", "lst")
    assert done.code == 2
    assert done.err.startswith("error[MG053]: ")


def test_a_name_cannot_write_to_the_terminal(maxg: Maxg, folder: Path) -> None:
    from maxgraph.store import Store

    Store(str(folder)).put("0" * 64, {"name": "\x1b[2Jevil", "kind": "\n"}, [b""])
    assert "\x1b" not in maxg("cache", "list").out


def test_listing_imports_neither_numpy_nor_onnxruntime(folder: Path) -> None:
    import subprocess
    import sys

    script = (
        "import sys; from maxgraph_cli.main import cli; cli(['cache', 'list'], standalone_mode=False)\n"
        "assert not {'numpy', 'onnx', 'onnxruntime', 'google.protobuf'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
