"""Nothing in a file acts: no code, no path, no escape sequence."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import maxgraph.format
from maxgraph.errors import FormatError
from maxgraph.format import load, open_file

from .files import forged, saved

CALLS = {"eval", "exec", "compile", "__import__", "import_module", "system", "popen", "fork", "execv", "spawnv"}
MODULES = {"pickle", "marshal", "subprocess", "zipfile", "importlib", "ctypes", "shelve", "urllib", "socket", "runpy"}


@pytest.mark.parametrize("source", sorted(Path(maxgraph.format.__file__).parent.glob("*.py")), ids=lambda p: p.name)
def test_the_source_executes_nothing(source: Path) -> None:
    """No file content can reach an interpreter, an importer, an unpickler or a process."""
    for item in ast.walk(ast.parse(source.read_text())):
        if isinstance(item, ast.Call) and ast.unparse(item.func) != "re.compile":
            assert getattr(item.func, "id", getattr(item.func, "attr", "")) not in CALLS
        names = [a.name for a in item.names] if isinstance(item, ast.Import | ast.ImportFrom) else []
        names += [item.module or ""] if isinstance(item, ast.ImportFrom) else []
        assert not {name.partition(".")[0] for name in names} & MODULES


def test_opening_imports_neither_numpy_nor_onnx(tmp_path: Path) -> None:
    code = (
        "import sys, maxgraph; assert 'google.protobuf' not in sys.modules; maxgraph.load(sys.argv[1]);"
        "print([m for m in ('numpy', 'onnx', 'onnxruntime', 'ml_dtypes', 'concurrent.futures') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(saved(tmp_path))], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout == "[]\n"


WEIRD = ["*/_ORT_MEM_ADDR_/*", "../x", "/etc/passwd", "\x1b[31mred", "\u202eevil", "a b", "", "x" * 300, "é", "a\n"]


@pytest.mark.parametrize("name", WEIRD, ids=repr)
@pytest.mark.parametrize("table", ["weights", "states"])
def test_a_weird_name_is_refused_and_shown_harmlessly(name: str, table: str, tmp_path: Path) -> None:
    path = saved(tmp_path)

    def rename(model: object) -> None:
        entry = getattr(model, table)[0]
        for given in model.graphs[0].inputs:  # type: ignore[attr-defined]
            if given.name == entry.name:
                given.name = name
        entry.name = name

    path.write_bytes(forged(path.read_bytes(), rename))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code in ("MGW01", "MGS01", "MGG03")
    assert raised.value.summary.isprintable()
    assert len(raised.value.summary) < 200


def test_debug_text_is_kept_and_inert(tmp_path: Path) -> None:
    """Names of values are text for people: any text, but never one that a path or a graph is made of."""
    path = saved(tmp_path)

    def name(model: object) -> None:
        model.debug_info.value_names.add(graph=0, value=20, name="../\x1b[31m")  # type: ignore[attr-defined]

    path.write_bytes(forged(path.read_bytes(), name))
    graph = load(path)
    maxgraph.save(graph, tmp_path / "again.maxg")
    assert (tmp_path / "again.maxg").read_bytes() == path.read_bytes()
    assert str(graph).replace("\n", "").isprintable()
    assert sorted(os.listdir(tmp_path)) == ["again.maxg", "model.maxg"]


def test_the_producer_is_shown_harmlessly(tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.write_bytes(forged(path.read_bytes(), lambda m: setattr(m.producer, "name", "\x1b]0;title\a")))
    assert open_file(path).producer.isprintable()
