"""Weights in safetensors files beside the file: named, never copied, and refused where they are not what was named."""

from __future__ import annotations

import json
import os
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import maxgraph
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import FormatError, UsageError
from maxgraph.format import Limits, load, open_file, verify
from maxgraph.graph import Graph
from maxgraph.shards import SHARD_DTYPES, read_shard_header

from .files import f32, forged, saved, with_weights

Array = np.ndarray[Any, Any]
ARRAYS = {
    "a": np.arange(600, dtype=np.float32).reshape(20, 30),
    "b": np.linspace(0, 1, 500, dtype=np.float32),
    "c": np.full((3, 3), 7, np.float32),
}


def graph() -> Graph:
    return with_weights(a=f32(20, 30), b=f32(500), c=f32(3, 3), tied=f32(500), inside=f32(2))


def mapped(path: Path) -> dict[str, Array]:
    """The tensors of a safetensors file as arrays over a memory map."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        tensors = read_shard_header(descriptor, path.stat().st_size, path.name)
    finally:
        os.close(descriptor)
    whole = np.memmap(path, np.uint8, "r")
    return {
        name: whole[t.offset : t.offset + t.length].view(t.dtype.to_numpy()).reshape(t.shape)
        for name, t in tensors.items()
    }


def checkpoint(folder: Path) -> tuple[Path, dict[str, Array]]:
    """Two shards, and weights over them, in a folder."""
    folder.mkdir(exist_ok=True)
    save_file({"a": ARRAYS["a"], "c": ARRAYS["c"]}, folder / "model-1.safetensors")
    save_file({"b": ARRAYS["b"]}, folder / "model-2.safetensors")
    weights = {**mapped(folder / "model-1.safetensors"), **mapped(folder / "model-2.safetensors")}
    return folder, {**weights, "tied": weights["b"], "inside": np.ones(2, np.float32)}


def test_the_weights_stay_where_they_are(tmp_path: Path) -> None:
    folder, weights = checkpoint(tmp_path / "model")
    path = folder / "model.maxg"
    model_id = maxgraph.save(graph(), path, weights=weights, external=True)
    opened = verify(path)
    assert path.stat().st_size < 4096 + 9
    assert [file.name for file in opened.external] == ["model-1.safetensors", "model-2.safetensors"]
    assert opened.features == ("external_weights",)
    results = InferenceSession().load(path).execute()
    for (name, _), result in zip(opened.graph.results, results, strict=True):
        np.testing.assert_array_equal(result.to_numpy(), weights[name])
    again = folder / "again.maxg"
    assert maxgraph.save(load(path), again, external=True) == model_id
    assert again.read_bytes() == path.read_bytes()


def test_they_are_mapped_and_only_when_they_are_used(tmp_path: Path) -> None:
    folder, weights = checkpoint(tmp_path / "model")
    path = folder / "model.maxg"
    maxgraph.save(graph(), path, weights=weights, external=True)
    loaded = load(path)
    (folder / "model-1.safetensors").unlink()  # nothing of it was opened
    data = {name: info.data for name, info in loaded.weights.items()}
    assert data["b"] is not None
    assert data["tied"] is not None
    assert np.shares_memory(data["b"].numpy(), data["tied"].numpy())
    assert not data["b"].numpy().flags.writeable
    with pytest.raises(FormatError, match=r"model-1\.safetensors cannot be read.*\n.*put it beside") as raised:
        data["a"].numpy()  # type: ignore[union-attr]
    assert raised.value.code == "MGX09"


def test_by_default_they_are_written_into_the_file(tmp_path: Path) -> None:
    folder, weights = checkpoint(tmp_path / "model")
    maxgraph.save(graph(), folder / "beside.maxg", weights=weights, external=True)
    maxgraph.save(load(folder / "beside.maxg"), tmp_path / "whole.maxg")
    maxgraph.save(graph(), tmp_path / "directly.maxg", weights=weights)
    shutil.rmtree(folder)
    assert not verify(tmp_path / "whole.maxg").external
    assert open_file(tmp_path / "whole.maxg").program_hash == open_file(tmp_path / "directly.maxg").program_hash


def test_only_whole_tensors_are_references(tmp_path: Path) -> None:
    folder, weights = checkpoint(tmp_path / "model")
    weights["c"] = weights["a"][:3, :3]
    weights["b"] = weights["tied"] = weights["b"].copy()
    maxgraph.save(graph(), folder / "model.maxg", weights=weights, external=True)
    assert [file.name for file in verify(folder / "model.maxg").external] == ["model-1.safetensors"]


def test_a_hub_cache_of_symbolic_links(tmp_path: Path) -> None:
    """The layout of a hub's cache: the names are links to files that are called by their contents."""
    folder, weights = checkpoint(tmp_path / "model")
    maxgraph.save(graph(), folder / "model.maxg", weights=weights, external=True)
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshots" / "r1").mkdir(parents=True)
    for at, file in enumerate(sorted(folder.iterdir())):
        shutil.move(file, tmp_path / "blobs" / f"{at:064x}")
        (tmp_path / "snapshots" / "r1" / file.name).symlink_to(f"../../blobs/{at:064x}")
    opened = verify(tmp_path / "snapshots" / "r1" / "model.maxg")
    assert len(opened.external) == 2
    for name in ("model-1.safetensors", "model-2.safetensors"):
        weights |= mapped(tmp_path / "snapshots" / "r1" / name)
    weights["tied"] = weights["b"]
    model_id = maxgraph.save(graph(), tmp_path / "snapshots" / "r1" / "m.maxg", weights=weights, external=True)
    assert model_id == opened.model_id


def test_a_file_of_weights_elsewhere_is_not_referred_to(tmp_path: Path) -> None:
    _, weights = checkpoint(tmp_path / "model")
    with pytest.raises(UsageError, match="not beside the file that is written"):
        maxgraph.save(graph(), tmp_path / "model.maxg", weights=weights, external=True)
    assert not (tmp_path / "model.maxg").exists()


def test_the_number_of_external_files_is_limited(tmp_path: Path) -> None:
    folder, weights = checkpoint(tmp_path / "model")
    maxgraph.save(graph(), folder / "model.maxg", weights=weights, external=True)
    open_file(folder / "model.maxg", Limits(external_files=2))
    with pytest.raises(FormatError) as raised:
        open_file(folder / "model.maxg", Limits(external_files=1))
    assert raised.value.code == "MGX01"


def change_byte(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))


def another_header(path: Path) -> None:
    """The same bytes of tensors, called otherwise: the digest of the weight still matches."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    path.write_bytes(data[:8] + data[8 : 8 + length].replace(b'"F32"', b'"I32"') + data[8 + length :])


DAMAGES: dict[str, tuple[str, Any]] = {
    "missing": ("MGX09", lambda p: p.unlink()),
    "a folder": ("MGX09", lambda p: (p.unlink(), p.mkdir())),
    "a pipe": ("MGX09", lambda p: (p.unlink(), os.mkfifo(p))),
    "a byte more": ("MGX10", lambda p: p.write_bytes(p.read_bytes() + b"x")),
    "a byte less": ("MGX10", lambda p: p.write_bytes(p.read_bytes()[:-1])),
    "of another type": ("MGX10", another_header),
    "a link to another file": ("MGX10", lambda p: (p.unlink(), p.symlink_to("/etc/passwd"))),
    "a changed byte": ("MGB12", lambda p: change_byte(p, -1)),
    "no safetensors": ("MGX08", lambda p: p.write_bytes(b"x" * p.stat().st_size)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_not_what_was_named(damage: str, tmp_path: Path) -> None:
    folder, weights = checkpoint(tmp_path / "model")
    maxgraph.save(graph(), folder / "model.maxg", weights=weights, external=True)
    code, change = DAMAGES[damage]
    change(folder / "model-2.safetensors")
    loaded = load(folder / "model.maxg")
    with pytest.raises(FormatError) as raised:
        loaded.weights["b"].data.numpy()  # type: ignore[union-attr]
    assert raised.value.code == code
    for name in ("a", "inside"):
        np.testing.assert_array_equal(loaded.weights[name].data.numpy(), weights[name])  # type: ignore[union-attr]
    with pytest.raises(FormatError):
        verify(folder / "model.maxg")


def test_verify_sees_what_belongs_to_no_weight(tmp_path: Path) -> None:
    folder, weights = checkpoint(tmp_path / "model")
    del weights["c"]
    maxgraph.save(with_weights(a=f32(20, 30)), folder / "model.maxg", weights={"a": weights["a"]}, external=True)
    verify(folder / "model.maxg")
    change_byte(folder / "model-1.safetensors", -1)  # in `c`
    load(folder / "model.maxg").weights["a"].data.numpy()  # type: ignore[union-attr]
    with pytest.raises(FormatError) as raised:
        verify(folder / "model.maxg")
    assert raised.value.code == "MGX11"


def test_blobs_of_external_files_stay_inside(tmp_path: Path) -> None:
    folder, weights = checkpoint(tmp_path / "model")
    path = folder / "model.maxg"
    maxgraph.save(graph(), path, weights=weights, external=True)
    whole = path.read_bytes()
    for field, value in (("offset", 2**63), ("offset", 2**64 - 4), ("length", 2**64 - 1)):
        path.write_bytes(forged(whole, lambda m, f=field, v=value: setattr(m.blobs[0], f, v)))  # type: ignore[misc]
        with pytest.raises(FormatError) as raised:
            load(path)
        assert raised.value.code == "MGB07"


def shard(header: object, data: bytes = b"", *, raw: bytes | None = None) -> bytes:
    text = json.dumps(header).encode() if raw is None else raw
    return struct.pack("<Q", len(text)) + text + data


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
SHARDS = {
    "too short": b"1234567",
    "no header": struct.pack("<Q", 0),
    "a header longer than the file": struct.pack("<Q", 100) + b"{}",
    "a header of 2**63 bytes": struct.pack("<Q", 2**63) + b"{}",
    "no JSON": shard(None, raw=b"{"),
    "no UTF-8": shard(None, raw=b'{"\xff": 1}'),
    "no object": shard([1]),
    "deep nesting": shard(None, raw=b"[" * 200_000),
    "a key twice": shard(None, bytes(8), raw=b'{"a":%s,"a":%s}' % ((json.dumps(ENTRY).encode(),) * 2)),
    "a key twice inside": shard(None, bytes(8), raw=b'{"a":{"dtype":"F32","dtype":"F32"}}'),
    "an unknown dtype": shard({"a": {**ENTRY, "dtype": "F31"}}, bytes(8)),
    "a field more": shard({"a": {**ENTRY, "x": 1}}, bytes(8)),
    "a field less": shard({"a": {"dtype": "F32", "shape": [2]}}, bytes(8)),
    "a negative dim": shard({"a": {**ENTRY, "shape": [-2, -1]}}, bytes(8)),
    "a dim of text": shard({"a": {**ENTRY, "shape": ["2"]}}, bytes(8)),
    "a dim that is true": shard({"a": {**ENTRY, "shape": [True, 2]}}, bytes(8)),
    "a rank of 33": shard({"a": {**ENTRY, "shape": [1] * 32 + [2]}}, bytes(8)),
    "another size": shard({"a": {**ENTRY, "shape": [3]}}, bytes(8)),
    "offsets backwards": shard({"a": {**ENTRY, "data_offsets": [8, 0]}}, bytes(8)),
    "a hole": shard({"a": {**ENTRY, "data_offsets": [4, 12]}}, bytes(12)),
    "overlap": shard({"a": ENTRY, "b": {**ENTRY, "data_offsets": [4, 12]}}, bytes(12)),
    "hidden bytes": shard({"a": ENTRY}, bytes(9)),
    "too few bytes": shard({"a": ENTRY}, bytes(7)),
}


@pytest.mark.parametrize("name", SHARDS)
def test_a_shard_that_cannot_be_trusted(name: str, tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(SHARDS[name])
    with pytest.raises(FormatError) as raised:
        mapped(path)
    assert raised.value.code == "MGX08"
    assert raised.value.summary.isprintable()


def test_a_shard_of_every_dtype(tmp_path: Path) -> None:
    """As the format's own library writes it; floats of eight bits it takes from torch only."""
    small = [dtype for dtype in SHARD_DTYPES.values() if not dtype.is_float8()]
    arrays = {dtype.name: np.ones((2, 3), dtype.to_numpy()) for dtype in small}
    save_file({**arrays, "none": np.zeros((0, 4), np.float32)}, tmp_path / "w.safetensors", {"key": "text"})
    for name, array in mapped(tmp_path / "w.safetensors").items():
        assert (array == 1).all()
        assert name == "none" or array.dtype == DType[name].to_numpy()


def test_an_external_file_is_declared_by_a_feature(tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.write_bytes(forged(path.read_bytes(), lambda m: m.required_features.insert(2, "external_weights")))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code == "MGH07"
