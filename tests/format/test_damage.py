"""Files that are not whole: every truncation, every appended byte and every flipped bit is noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.errors import FormatError
from maxgraph.format import open_file, verify
from maxgraph.graph import BufferType, DeviceRef, Graph, ops


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file that has everything: a header, padding, and two blobs with padding between."""
    path = tmp_path_factory.mktemp("damage") / "small.maxg"
    with Graph("small", input_types=[BufferType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        state = ops.buffer_create(BufferType(DType.float32, [2], DeviceRef.CPU()), np.ones(2, np.float32), name="s")
        graph.output(graph.inputs[0].buffer[...], ops.constant(np.arange(300, dtype=np.float32)), state[...])
    maxgraph.save(graph, path)
    return path


def code_of(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(FormatError) as raised:
        verify(path)
    assert raised.value.summary[0].islower()
    return raised.value.code


def test_every_truncation_is_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    whole = open_file(path).sections[1]
    for length in (*range(whole.offset + whole.length + 70), *range(4000, len(data))):
        code = code_of(tmp_path / "cut", data[:length])
        assert code == ("MGP01" if length < 64 else "MGP06"), length


def test_every_flipped_byte_is_noticed(path: Path, tmp_path: Path) -> None:
    """Three flips of every byte; of the long padding, its ends."""
    data = path.read_bytes()
    codes = {"preamble": "MGP MGH", "header": "MGH", "padding": "MGB", "weight": "MGB"}
    for section in open_file(path).sections:
        ends = {*range(70), *range(section.length - 70, section.length)}
        for at in sorted(ends & set(range(section.length))) if section.name == "padding" else range(section.length):
            for mask in (0x01, 0x80, 0xFF):
                changed = bytearray(data)
                changed[section.offset + at] ^= mask
                code = code_of(tmp_path / "flipped", bytes(changed))
                assert code[:3] in codes[section.name.split()[0]], (section, at)


def test_sections_leave_no_byte_out(path: Path) -> None:
    opened = open_file(path)
    end = 0
    for section in opened.sections:
        assert section.offset == end
        end += section.length
    assert end == opened.file_length == path.stat().st_size
    assert [s.name for s in opened.sections] == [
        "preamble",
        "header",
        "padding",
        "weight constant0",
        "padding",
        "weight s.initial",
    ]


def test_appended_bytes_are_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    assert code_of(tmp_path / "long", data + b"\0") == "MGP06"
    assert code_of(tmp_path / "long", data + data) == "MGP06"


def test_an_empty_file(tmp_path: Path) -> None:
    assert code_of(tmp_path / "empty", b"") == "MGP01"
