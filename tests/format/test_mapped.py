"""Weights of a file that was opened: mapped and never copied, checked when they are used."""

from __future__ import annotations

import hashlib
import mmap
import os
import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.errors import FormatError
from maxgraph.format import load, open_file, verify
from maxgraph.graph import DeviceRef, TensorType
from maxgraph.graph.ir import TensorData
from maxgraph.v1 import model_pb2

from .files import f32, header_of, with_header, with_weights


def data_of(path: Path, name: str = "w") -> TensorData:
    data = load(path).weights[name].data
    assert data is not None
    return data


@pytest.fixture
def path(tmp_path: Path) -> Path:
    array = np.arange(500, dtype=np.float32)
    maxgraph.save(with_weights(w=f32(500)), tmp_path / "a.maxg", weights={"w": array})
    return tmp_path / "a.maxg"


def test_a_weight_is_a_view_of_the_mapped_file(path: Path) -> None:
    data = data_of(path)
    found = data.numpy()
    np.testing.assert_array_equal(found, np.arange(500, dtype=np.float32))
    assert not found.flags.writeable
    owner: Any = found
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    assert isinstance(owner.obj if isinstance(owner, memoryview) else owner, mmap.mmap)
    assert np.shares_memory(found, data.numpy())


def test_an_array_outlives_its_graph(path: Path) -> None:
    found = data_of(path).numpy()
    os.unlink(path)
    assert found[-1] == 499


def test_the_file_is_mapped_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {"a": np.ones(300, np.float32), "b": np.zeros(300, np.float32)}
    maxgraph.save(with_weights(a=f32(300), b=f32(300)), path, weights=arrays)
    graph = load(path)
    maps: list[object] = []
    real = mmap.mmap

    def counted(*args: Any, **kwargs: Any) -> mmap.mmap:
        maps.append(args)
        return real(*args, **kwargs)

    monkeypatch.setattr(mmap, "mmap", counted)
    used = [info.data.numpy for info in graph.weights.values() if info.data]
    threads = [threading.Thread(target=use) for use in used * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(maps) == 1


def test_a_damaged_weight_is_noticed_when_it_is_used(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    weight = data_of(path)
    for _ in range(2):
        with pytest.raises(FormatError, match="`w`") as raised:
            weight.numpy()
        assert raised.value.code == "MGB12"
    with pytest.raises(FormatError, match="`w`"):
        maxgraph.save(load(path), path)  # never written on


def test_padding_is_checked(path: Path) -> None:
    padding = next(s for s in open_file(path).sections if s.name == "padding")
    data = bytearray(path.read_bytes())
    data[padding.offset + 3] = 1
    path.write_bytes(data)
    with pytest.raises(FormatError) as raised:
        verify(path)
    assert raised.value.code == "MGB11"


def test_a_file_that_was_cut_since_it_was_opened(path: Path) -> None:
    """Without a check, reading past its end would end the process by a signal."""
    weight = data_of(path)
    os.truncate(path, 100)
    with pytest.raises(FormatError, match="became shorter") as raised:
        weight.numpy()
    assert raised.value.code == "MGP06"


@pytest.mark.parametrize(("dtype", "last"), [(DType.bool, 2), (DType.float4_e2m1fn, 0x10)], ids=lambda v: str(v))
def test_bytes_that_are_no_elements(dtype: DType, last: int, tmp_path: Path) -> None:
    """A forger's digest is right, but a bool of 2 means different things to different readers."""
    path = tmp_path / "a.maxg"
    array = np.zeros(7, dtype.to_numpy())
    maxgraph.save(with_weights(w=TensorType(dtype, [7], DeviceRef.CPU())), path, weights={"w": array})
    file = bytearray(path.read_bytes())
    file[-1] = last
    length = open_file(path).sections[-1].length
    model = model_pb2.Model.FromString(header_of(bytes(file)))
    model.blobs[0].sha256 = hashlib.sha256(file[-length:]).digest()
    path.write_bytes(with_header(bytes(file), model.SerializeToString(deterministic=True)))
    with pytest.raises(FormatError) as raised:
        verify(path)
    assert raised.value.code == "MGW06"


def test_four_bit_elements_are_packed_as_onnx_packs_them(tmp_path: Path) -> None:
    array = np.array([0.5, 1, 6], ml_dtypes.float4_e2m1fn)
    path = tmp_path / "a.maxg"
    maxgraph.save(with_weights(w=TensorType(DType.float4_e2m1fn, [3], DeviceRef.CPU())), path, weights={"w": array})
    assert path.read_bytes()[-2:] == bytes([0x21, 0x07])
