"""Each limit at its value, and one past it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.errors import FormatError
from maxgraph.format import Limits, open_file
from maxgraph.graph import BufferType, DeviceRef, Dim, Graph, TensorType, ops

CPU = DeviceRef.CPU()
LONG = "k" * 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A graph of which each size is known."""
    n, m = Dim("n"), Dim("m")
    types = [
        TensorType(DType.float32, [n * n + m + 1, 2, 3], CPU),
        TensorType(DType.float32, [(n + 1) // 2, n + m], CPU),
        BufferType(DType.float32, [4], CPU),
    ]
    with Graph("g", input_types=types, input_names=["x", "y", "b"]) as graph:
        x = graph.inputs[0].tensor
        big = ops.constant(np.arange(400, dtype=np.float32))
        other = ops.constant(np.arange(300, dtype=np.float32))
        small = ops.constant(np.zeros(8, np.float32))
        graph.output(x=ops.permute(x, [2, 1, 0]), big=big, other=other, small=small)
    maxgraph.save(graph, tmp_path / "a.maxg", metadata={LONG: "v", "b": "v"})
    return tmp_path / "a.maxg"


def sizes(path: Path) -> dict[str, int]:
    opened = open_file(path)
    return {
        "header_bytes": opened.header_length,
        "file_bytes": opened.file_length,
        "nodes": 4,
        "values": 3 + 4,
        "list_items": 3,
        "blobs": 2,
        "rank": 3,
        "elements": 400,
        "string_bytes": len(LONG),
        "literal_bytes": 32,
        "metadata": 2,
        "dim_terms": 2,
        "dim_degree": 2,
        "dim_size": 3,
        "dim_depth": 1,
        "shape_terms": 3,
    }


CODES = {
    "header_bytes": "MGP08",
    "file_bytes": "MGP07",
    "nodes": "MGG09",
    "values": "MGG04",
    "list_items": "MGA02",
    "blobs": "MGB01",
    "rank": "MGT05",
    "elements": "MGW02",
    "string_bytes": "MGM01",
    "literal_bytes": "MGA02",
    "metadata": "MGM01",
} | dict.fromkeys(("dim_terms", "dim_degree", "dim_size", "dim_depth", "shape_terms"), "MGT07")


# Files with these are in `test_external` and `test_blocks`.
ELSEWHERE = {"external_files", "block_depth"}


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Limits) if field.name not in ELSEWHERE])
def test_a_limit_holds_exactly(name: str, path: Path) -> None:
    size: Any = sizes(path)[name]
    open_file(path, dataclasses.replace(Limits(), **{name: size}))
    with pytest.raises(FormatError) as raised:
        open_file(path, dataclasses.replace(Limits(), **{name: size - 1}))
    assert raised.value.code == CODES[name]


def test_what_is_saved_can_be_loaded_or_is_refused(tmp_path: Path) -> None:
    """A limit that the writer did not know would make files that only it can produce."""
    with Graph("g") as graph:
        graph.output(ops.constant(np.zeros(4, np.float32)))
    maxgraph.save(graph, tmp_path / "a.maxg", metadata={str(at): "" for at in range(1024)})
    open_file(tmp_path / "a.maxg")
    with pytest.raises(FormatError, match="cannot be written: 1025 entries") as raised:
        maxgraph.save(graph, tmp_path / "b.maxg", metadata={str(at): "" for at in range(1025)})
    assert raised.value.code == "MG045"
    with pytest.raises(FormatError, match="cannot be written"):
        maxgraph.save(graph, tmp_path / "b.maxg", metadata={"a": "\ud800"})
    assert [p.name for p in tmp_path.iterdir()] == ["a.maxg"]
