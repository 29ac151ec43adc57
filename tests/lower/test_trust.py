"""Kernels of an onnxruntime that was not tested change nothing in place, until the self-test has passed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import LoweringError
from maxgraph.graph import BufferType, DeviceRef, Graph
from maxgraph.lower import Mode, lower, selftest, trust
from maxgraph.lower import machine as machine_module
from maxgraph.store import Store

CPU_PROVIDER = "CPUExecutionProvider"
REAL = machine_module.machine_facts


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MAXG_CACHE")
    monkeypatch.setenv("MAXG_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(trust, "_known", {})
    return tmp_path / "cache"


def pretend(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Another onnxruntime, as far as trust goes."""
    facts = {**REAL(), "onnxruntime": f"{version} build"}
    monkeypatch.setattr(trust, "machine_facts", lambda: facts)


def counter() -> Graph:
    kind = BufferType(DType.int64, [2], DeviceRef.CPU())
    with Graph("count", input_types=[kind], input_names=["total"]) as graph:
        total = graph.inputs[0].buffer
        total[...] = total[...] + 1
        graph.output(total[...])
    return graph


def passing(provider: str) -> tuple[int, list[str]]:
    return 70, []


@pytest.mark.parametrize(
    ("version", "trusted"),
    [("1.32.0", True), ("1.32.9", True), ("1.33.0", False), ("1.3.2", False), ("2.32.0", False), ("1.320.1", False)],
)
def test_only_tested_minor_versions_are_trusted(version: str, trusted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, version)
    row = lower(counter()).plan["total"]
    assert row.mode is (Mode.IN_PLACE if trusted else Mode.COPIED_BACK)
    if not trusted:
        assert row.reason == f"onnxruntime {version} is not tested; `maxg doctor` tests it"
        with pytest.raises(LoweringError, match="is not tested"):
            lower(counter(), buffers="in_place")


def test_an_untested_version_runs_right_and_trusted_once_it_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also through the compile cache: what was lowered without trust is not found with it, nor the other way round."""
    pretend(monkeypatch, "1.33.0")
    monkeypatch.setattr(selftest, "failing_rows", passing)
    modes = []
    for tested in (False, False, True, True):
        if tested:
            trust.self_test(CPU_PROVIDER)
            monkeypatch.setattr(trust, "_known", {})  # another process
        model, memory = InferenceSession().load(counter()), np.zeros(2, np.int64)
        model.execute(memory)
        model.execute(memory)
        assert memory.tolist() == [2, 2]
        assert model.plan is not None
        modes.append(model.plan["total"].mode)
    assert modes == [Mode.COPIED_BACK] * 2 + [Mode.IN_PLACE] * 2


@pytest.mark.parametrize("version", ["1.32.0", "1.33.0"])
def test_one_failing_row_switches_all_off(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, version)
    monkeypatch.setattr(selftest, "failing_rows", lambda provider: (70, ["Exp"]))
    assert trust.self_test(CPU_PROVIDER).failed == ("Exp",)
    assert lower(counter()).plan["total"].reason == "on this machine kernels failed the self-test: Exp"


def test_a_verdict_is_of_one_build_one_provider_and_one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "1.33.0")
    monkeypatch.setattr(selftest, "failing_rows", passing)
    trust.self_test(CPU_PROVIDER)
    assert trust.distrust(CPU_PROVIDER) is None
    assert trust.distrust("CUDAExecutionProvider") is not None
    for fact in ("onnxruntime", "processor", "code"):
        facts = {**REAL(), "onnxruntime": "1.33.0 build", fact: "1.33.0 another"}
        monkeypatch.setattr(trust, "machine_facts", lambda facts=facts: facts)
        assert trust.distrust(CPU_PROVIDER) is not None


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b'{"rows": 0, "failed": []}', b'{"rows": "70", "failed": []}', b'{"rows": 70}', b"\x80\x04"],
)
def test_a_verdict_that_is_none(body: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "1.33.0")
    Store(str(folder)).put(trust._key(CPU_PROVIDER), {}, [body])
    assert trust.distrust(CPU_PROVIDER) is not None


def test_without_a_store_a_verdict_lives_as_long_as_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "1.33.0")
    monkeypatch.setenv("MAXG_CACHE", "off")
    monkeypatch.setattr(selftest, "failing_rows", passing)
    assert not trust.self_test(CPU_PROVIDER).stored
    assert trust.distrust(CPU_PROVIDER) is None
    monkeypatch.setattr(trust, "_known", {})
    assert trust.distrust(CPU_PROVIDER) is not None
