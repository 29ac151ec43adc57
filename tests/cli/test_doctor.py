"""`maxg doctor`: each thing that can be broken is found, named, and gives exit code 1."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
from pathlib import Path
from typing import Any

import pytest

from maxgraph.lower import selftest, trust

from .conftest import Maxg


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, and a self-test that takes no time; tests/lower has the real one."""
    monkeypatch.delenv("MAXG_CACHE")
    monkeypatch.setenv("MAXG_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(trust, "_known", {})
    monkeypatch.setattr(selftest, "failing_rows", lambda provider: (70, []))


def answer(maxg: Maxg) -> tuple[int, dict[str, dict[str, Any]]]:
    done = maxg("doctor", "--json")
    found = json.loads(done.out)
    assert found["schema"] == "maxg.doctor/1"
    assert found["ok"] == (done.code == 0)
    return done.code, {check["check"]: check for check in found["checks"]}


def broken(maxg: Maxg) -> dict[str, dict[str, Any]]:
    code, found = answer(maxg)
    wrong = {name: check for name, check in found.items() if check["status"] == "broken"}
    assert code == (1 if wrong else 0)
    return wrong


def test_all_is_well_here(maxg: Maxg) -> None:
    code, found = answer(maxg)
    assert code == 0
    assert list(found)[:3] == ["python", "maxgraph", "numpy"]
    for name in ("numpy", "onnx", "onnxruntime", "protobuf"):
        assert found[name]["version"] == importlib.metadata.version(name)
        assert found[name]["wanted"]
    assert found["cpu"]["text"].endswith("buffer update verified (in place)")
    assert (found["in place"]["rows"], found["in place"]["failed"]) == (70, [])
    assert "AzureExecutionProvider" not in found


def test_as_text(maxg: Maxg) -> None:
    done = maxg("doctor")
    assert done.code == 0
    assert all(line.split()[0] in ("ok", "-", "hint:") for line in done.out.splitlines())
    assert "\x1b" not in done.out


def test_two_distributions_of_onnxruntime(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.packages_distributions()
    both = {**real, "onnxruntime": ["onnxruntime-gpu", "onnxruntime"]}
    monkeypatch.setattr(importlib.metadata, "packages_distributions", lambda: both)
    clash = broken(maxg)["clash"]
    assert clash["text"].startswith("onnxruntime and onnxruntime-gpu share a folder")
    assert clash["hint"] == "pip uninstall onnxruntime onnxruntime-gpu; pip install onnxruntime-gpu"


@pytest.mark.parametrize(("version", "wrong"), [("1.18.2", True), ("1.19", False), ("10.0", False), ("0.9rc1", True)])
def test_a_version_that_is_too_old(version: str, wrong: bool, maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version if name == "onnx" else real(name))
    found = broken(maxg)
    assert list(found) == (["onnx"] if wrong else [])
    if wrong:
        assert found["onnx"]["hint"] == "pip install 'onnx>=1.19'"


def test_a_package_that_is_not_there(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name == "safetensors":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert broken(maxg)["safetensors"]["text"] == "not installed"


def test_a_package_that_cannot_be_imported(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def load(name: str, package: str | None = None) -> object:
        if name == "safetensors":
            raise ImportError("libx.so.1: cannot open shared object file")
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", load)
    assert broken(maxg)["safetensors"]["text"].endswith("cannot be imported: libx.so.1: cannot open shared object file")


def test_a_provider_that_does_not_work(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    from maxgraph.engine import ort

    def refuse(*args: object, **kwargs: object) -> None:
        raise RuntimeError("text of onnxruntime")

    monkeypatch.setattr(ort.OrtSession, "__init__", refuse)
    found = broken(maxg)
    assert found["cpu"]["text"] == "a session of one op failed with RuntimeError"


def test_a_provider_that_computes_wrong_results(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    from maxgraph.engine import Model

    monkeypatch.setattr(Model, "execute", lambda self, *arguments: [])
    assert list(broken(maxg)) == ["cpu"]


def test_kernels_that_fail(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "failing_rows", lambda provider: (70, ["Add", "Gemm"]))
    found = broken(maxg)["in place"]
    assert found["text"] == "2 of 70 kernels are wrong over their own input: Add, Gemm"
    assert found["failed"] == ["Add", "Gemm"]


def test_the_verdict_is_kept(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer(maxg)[1]["in place"]["kept"] is False
    monkeypatch.setattr(trust, "_known", {})  # another process

    def again(provider: str) -> tuple[int, list[str]]:
        raise AssertionError("tested again")

    monkeypatch.setattr(selftest, "failing_rows", again)
    assert answer(maxg)[1]["in place"]["kept"] is True
    assert maxg("cache", "list").out.splitlines()[1].split()[1] == "self-test"


@pytest.mark.parametrize("how", ["size", "folder", "mode"])
def test_a_cache_that_cannot_be_used(how: str, maxg: Maxg, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    if how == "size":
        monkeypatch.setenv("MAXG_CACHE_SIZE", "much")
    elif how == "folder":
        folder.write_text("")
    else:
        if os.name != "posix":
            pytest.skip("modes are POSIX's")
        folder.mkdir()
        folder.chmod(0o777)
    found = broken(maxg)
    assert list(found) == ["cache"]
    assert found["cache"]["text"].startswith("off: ")
    assert found["cache"]["hint"]


def test_a_cache_that_is_switched_off_is_no_fault(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAXG_CACHE", "off")
    code, found = answer(maxg)
    assert (code, found["cache"]["status"]) == (0, "absent")


def test_a_check_that_fails_itself(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(provider: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(selftest, "failing_rows", fault)
    assert broken(maxg)["self-test"]["text"] == "the check itself failed with ZeroDivisionError"
