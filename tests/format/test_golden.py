"""The same program gives the same bytes: in any process, from any folder, and after being read."""

from __future__ import annotations

import hashlib
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maxgraph
from maxgraph.format import load, open_file

from .files import f32, rich_graph, saved, with_weights

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).with_name("golden")
SEED = ROOT / "samples" / "counter" / "build.py"
SCRIPT = """
import runpy, sys
import maxgraph
from tests.format.files import rich_graph
graph = runpy.run_path(sys.argv[1])["graph"] if sys.argv[1] else rich_graph()
maxgraph.save(graph, sys.argv[2], metadata={"license": "MIT", "com.example.run": "7"})
"""


def test_the_seed_program_gives_the_golden_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To change the format on purpose: delete the golden files, run this once, and look at the difference."""
    path = saved(tmp_path, runpy.run_path(str(SEED))["graph"])
    assert capsys.readouterr().out == "dtype: DType.float32\nshape: [Dim(4)]\n"
    data = path.read_bytes()
    text = f"{load(path)}\n"
    golden, dump = GOLDEN / "buffer_demo.hex", GOLDEN / "buffer_demo.txt"
    if not golden.exists():
        golden.write_text("\n".join(data[at : at + 16].hex(" ") for at in range(0, len(data), 16)) + "\n")
        dump.write_text(text)
        pytest.fail("the golden files were missing and have been written: look at them, then run this again")
    assert data == bytes.fromhex(golden.read_text())
    assert text == dump.read_text()
    assert 250 < len(data) < 350


@pytest.mark.parametrize("script", [str(SEED), ""], ids=["seed", "rich"])
def test_every_process_gives_the_same_bytes(script: str, tmp_path: Path) -> None:
    files = []
    for hash_seed, folder in (("0", ROOT), ("1", tmp_path), ("4242", Path("/"))):
        path = tmp_path / f"{hash_seed}.maxg"
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", SCRIPT, script, str(path)], cwd=folder, env=env, check=True)
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]


def test_a_file_that_was_read_is_written_as_it_was(tmp_path: Path) -> None:
    first = saved(tmp_path).read_bytes()
    graph = load(tmp_path / "model.maxg")
    assert str(graph) == str(rich_graph())
    maxgraph.save(graph, tmp_path / "again.maxg")
    assert (tmp_path / "again.maxg").read_bytes() == first


def test_metadata_survive(tmp_path: Path) -> None:
    metadata = {"license": "MIT", "com.example.run": "7", "\u00fc": ""}
    maxgraph.save(rich_graph(), tmp_path / "a.maxg", metadata=metadata)
    opened = open_file(tmp_path / "a.maxg")
    assert opened.metadata == metadata
    maxgraph.save(opened.graph, tmp_path / "b.maxg", metadata=dict(reversed(opened.metadata.items())))
    assert (tmp_path / "b.maxg").read_bytes() == (tmp_path / "a.maxg").read_bytes()


def test_a_programs_hash_is_that_of_what_it_computes(tmp_path: Path) -> None:
    """Not of who wrote it, nor of its weights' elements: a program that was trained on keeps it."""

    def hashes(name: str, weight: float, size: int = 400, **options: Any) -> tuple[str, str]:
        maxgraph.save(
            with_weights(w=f32(size)), tmp_path / name, weights={"w": np.full(size, weight, np.float32)}, **options
        )
        opened = open_file(tmp_path / name)
        assert opened.model_id == hashlib.sha256((tmp_path / name).read_bytes()[:64]).hexdigest()
        return opened.program_hash, opened.model_id

    first = hashes("a", 1)
    assert first == hashes("b", 1)
    for other in (hashes("c", 2), hashes("d", 1, metadata={"a": "b"}), hashes("e", 1, strip_debug=True)):
        assert other[0] == first[0]
        assert other[1] != first[1]
    assert hashes("f", 1, size=401)[0] != first[0]
