"""Files that are not ours, or of another time: each is named in a plain sentence that says what to do."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from maxgraph.errors import FormatError, UsageError
from maxgraph.format import load

from .files import forged, saved


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


def code_of(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.summary[0].islower()
    return raised.value.code


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

    def newer_op(model: Any) -> None:
        model.ops[0].version = 9

    assert code_of(tmp_path / "op", forged(data, newer_op)) == "MGO05"
    (tmp_path / "op").write_bytes(forged(data, newer_op))
    with pytest.raises(FormatError, match="version 9"):
        load(tmp_path / "op")
    assert code_of(tmp_path / "f", forged(data, lambda m: m.required_features.append("zebra"))) == "MGH04"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", "there is no such file"),
        ("missing/x", "there is no such file"),
        (".", "is a folder"),
        ("pipe", "is not a regular file"),
        ("file/x", "Not a directory"),
        ("a\0b", "null"),
        ("\x1b[31m", "there is no such file"),
    ],
)
def test_what_cannot_be_opened(name: str, words: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # with no writer: it must not be waited for
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=words) as raised:
        load(os.path.join(tmp_path, name))
    assert raised.value.code == "MG050"
    assert raised.value.summary.isprintable()
    with pytest.raises(UsageError):
        load(os.fsencode(os.path.join(tmp_path, name)))  # type: ignore[arg-type]  # as os.fspath allows
