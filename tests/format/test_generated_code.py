"""The checked-in protobuf code is what the pinned generator makes of the schema."""

from __future__ import annotations

import runpy
from importlib.metadata import version
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "gen_proto.py"


def test_the_generated_code_is_that_of_the_schema() -> None:
    tool = runpy.run_path(str(TOOL))
    assert version("grpcio-tools") == tool["GENERATOR"]
    assert tool["differences"]() == []
