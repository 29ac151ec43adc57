"""Files that are not whole, not ours, or not of this time: each refused with its own code and a plain sentence."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from maxgraph.errors import FormatError, UsageError
from maxgraph.format import load, open_file, verify

from .files import forged, saved


def code_of(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(FormatError) as raised:
        verify(path)
    assert raised.value.summary[0].islower()
    return raised.value.code


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    data = saved(tmp_path).read_bytes()
    step = 1 if len(data) < 3000 else 7
    for length in range(0, len(data), step):
        assert code_of(tmp_path / "cut", data[:length]) in ("MGP01", "MGP06"), length


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path = saved(tmp_path)
    data = path.read_bytes()
    sections = open_file(path).sections
    places = {s.offset + at for s in sections for at in (range(s.length) if s.name != "padding" else (0, s.length - 1))}
    for at in sorted(places):
        for mask in (0x01, 0x80, 0xFF) if at % 5 == 0 else (0x10,):
            changed = bytearray(data)
            changed[at] ^= mask
            code_of(tmp_path / "flipped", bytes(changed))


def test_appended_bytes_are_refused(tmp_path: Path) -> None:
    data = saved(tmp_path).read_bytes()
    assert code_of(tmp_path / "long", data + b"\0") == "MGP06"
    assert code_of(tmp_path / "long", data + data) == "MGP06"


def zipped() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("a", "b")
    return target.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "Git LFS pointer"),
        (zipped(), "zip"),
        (gzip.compress(b"x" * 100), "gzip"),
        (b"\x08\x0a\x12\x07pytorch" + b"x" * 100, "ONNX"),
        (b"\x10\0\0\0\0\0\0\0{}" + b" " * 100, "safetensors"),
        (b"<!DOCTYPE html>" + b" " * 100, "HTML"),
        (b"\x93NUMPY" + b" " * 100, "numpy"),
        (b"hello", "not a .maxg file"),
        (b"\0" * 1000, "not a .maxg file"),
    ],
    ids=["lfs", "zip", "gzip", "onnx", "safetensors", "html", "numpy", "text", "zeros"],
)
def test_a_foreign_file_is_named(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=words) as raised:
        load(path)
    assert raised.value.code == "MGP02"


def test_an_empty_file(tmp_path: Path) -> None:
    assert code_of(tmp_path / "empty", b"") == "MGP01"


@pytest.mark.parametrize(
    ("at", "value", "code"),
    [(8, 2, "MGP03"), (8, 0, "MGP03"), (10, 1, "MGP04"), (12, 1, "MGP05"), (16, 0, "MGP08"), (22, 1, "MGP08")],
)
def test_another_preamble(at: int, value: int, code: str, tmp_path: Path) -> None:
    data = bytearray(saved(tmp_path).read_bytes())
    data[at] = value
    if at == 16:
        data[16:24] = bytes(8)
    assert code_of(tmp_path / "changed", bytes(data)) == code


def test_a_file_from_the_future_says_what_to_do(tmp_path: Path) -> None:
    data = bytearray(saved(tmp_path).read_bytes())
    data[10] = 7
    (tmp_path / "future").write_bytes(data)
    with pytest.raises(FormatError, match=r"format 1\.7.*up to 1\.0") as raised:
        load(tmp_path / "future")
    assert "pip install --upgrade" in (raised.value.help or "")


def test_an_unknown_op_and_feature_are_named(tmp_path: Path) -> None:
    data = saved(tmp_path).read_bytes()

    def newer_op(model: object) -> None:
        model.ops[0].version = 9  # type: ignore[attr-defined]

    assert code_of(tmp_path / "op", forged(data, newer_op)) == "MGO05"
    (tmp_path / "op").write_bytes(forged(data, newer_op))
    with pytest.raises(FormatError, match="version 9"):
        load(tmp_path / "op")
    assert code_of(tmp_path / "f", forged(data, lambda m: m.required_features.append("zebra"))) == "MGH04"


def test_what_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(UsageError) as raised:
            load(path)
        assert raised.value.code == "MG050"
