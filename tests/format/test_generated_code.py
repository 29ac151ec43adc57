"""The checked-in protobuf code is what the pinned generator makes of the schema."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "gen_proto.py"


def test_the_generated_code_is_that_of_the_schema() -> None:
    tool = runpy.run_path(str(TOOL))
    assert version("grpcio-tools") == tool["GENERATOR"]
    assert tool["differences"]() == []


def check(root: Path) -> subprocess.CompletedProcess[str]:
    """What `make check-proto` runs."""
    command = [sys.executable, str(root / "tools" / "gen_proto.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A tree of its own, to be damaged."""
    for part in ("tools", "proto", "maxgraph/v1"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_a_schema_that_changed_names_the_stale_files(copy: Path) -> None:
    schema = copy / "proto/maxgraph/v1/weights.proto"
    schema.write_text(schema.read_text() + "\nmessage Another {}\n")
    done = check(copy)
    assert done.returncode == 1
    assert "maxgraph/v1/weights_pb2.py " in done.stderr
    assert "maxgraph/v1/weights_pb2.pyi " in done.stderr
    assert "types_pb2" not in done.stderr


def test_code_without_a_schema_is_found(copy: Path) -> None:
    (copy / "maxgraph/v1/left_over_pb2.py").write_text("")
    done = check(copy)
    assert done.returncode == 1
    assert "left_over_pb2.py" in done.stderr


def test_a_schema_in_another_style_is_found(copy: Path) -> None:
    schema = copy / "proto/maxgraph/v1/types.proto"
    schema.write_text(schema.read_text().replace("  uint64 min = 2;", "    uint64 min = 2;"))
    done = check(copy)
    assert done.returncode == 1
    assert "min = 2" in done.stdout


def test_another_generator_is_refused(copy: Path) -> None:
    tool = copy / "tools/gen_proto.py"
    tool.write_text(tool.read_text().replace('GENERATOR = "', 'GENERATOR = "0.'))
    done = check(copy)
    assert done.returncode == 2
    assert "grpcio-tools 0." in done.stderr
    assert "is needed, found" in done.stderr
