"""`maxg explain` and `maxg ops`."""

from __future__ import annotations

import json

import pytest

from maxgraph.errors import CODES
from maxgraph.graph import ops

from .conftest import Maxg


def test_a_code(maxg: Maxg) -> None:
    done = maxg("explain", "mg012")
    assert done.code == 0
    assert done.out.splitlines()[0] == f"MG012: {CODES['MG012']}"
    assert "ops.matmul(x, w)" in done.out
    assert "mend" in done.out


def test_all_codes(maxg: Maxg) -> None:
    assert [line.split()[0] for line in maxg("explain").out.splitlines()] == list(CODES)
    found = json.loads(maxg("explain", "--json").out)
    assert found["schema"] == "maxg.explain/1"
    assert [row["code"] for row in found["codes"]] == list(CODES)


@pytest.mark.parametrize("command", ["explain", "ops"])
def test_an_unknown_name(command: str, maxg: Maxg) -> None:
    done = maxg(command, "MG0122" if command == "explain" else "conv2")
    assert (done.code, done.out) == (2, "")
    assert "did you mean" in done.err


def test_all_ops(maxg: Maxg) -> None:
    lines = maxg("ops").out.splitlines()
    names = [line.split()[0] for line in lines]
    assert {n.partition(".")[0] for n in names} == set(ops.__all__)
    assert all(len(line) <= 80 and len(line.split()) > 1 for line in lines)


@pytest.mark.parametrize("name", ["conv2d", "ops.conv2d", "random.normal", "acos"])
def test_an_op(name: str, maxg: Maxg) -> None:
    done = maxg("ops", name)
    assert done.code == 0
    assert done.out.startswith(f"ops.{name.removeprefix('ops.')}(")
    assert "Example:" in done.out


def test_an_op_as_json(maxg: Maxg) -> None:
    found = json.loads(maxg("ops", "matmul", "--json").out)
    assert found["schema"] == "maxg.ops/1"
    assert [row["name"] for row in found["ops"]] == ["matmul"]
    assert found["ops"][0]["doc"]
