"""Weights: mapped and never copied, checked when used, stored once, of any size."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.errors import FormatError, InputError
from maxgraph.format import load, open_file, verify
from maxgraph.graph import DeviceRef, Graph, TensorType, Weight, ops

CPU = DeviceRef.CPU()
ROOT = Path(__file__).resolve().parents[2]


def with_weights(**types: TensorType) -> Graph:
    with Graph("weighted") as graph:
        graph.output(**{name: Weight(name, kind.dtype, kind.shape) for name, kind in types.items()})
    return graph


def f32(*dims: int) -> TensorType:
    return TensorType(DType.float32, dims, CPU)


def test_a_weight_is_a_view_of_the_mapped_file(tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    maxgraph.save(with_weights(w=f32(3, 4)), tmp_path / "a.maxg", weights={"w": array})
    data = load(tmp_path / "a.maxg").weights["w"].data
    assert data is not None
    found = data.numpy()
    np.testing.assert_array_equal(found, array)
    assert not found.flags.writeable
    owner = found
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    assert isinstance(owner, memoryview | mmap.mmap)
    assert np.shares_memory(found, data.numpy())


def test_equal_weights_are_stored_once(tmp_path: Path) -> None:
    array = np.arange(1000, dtype=np.float32)
    maxgraph.save(with_weights(a=f32(1000), b=f32(1000)), tmp_path / "t.maxg", weights={"a": array, "b": array.copy()})
    opened = open_file(tmp_path / "t.maxg")
    assert [s.name for s in opened.sections if s.name.startswith("weight")] == ["weight a, b"]
    assert sum(s.length for s in opened.sections) == opened.file_length == os.path.getsize(tmp_path / "t.maxg")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 4), np.float32),
        np.float32(3.5).reshape(()),
        np.arange(12, dtype=np.float32).reshape(3, 4).T,
        np.arange(12, dtype=np.float32)[::-2],
        np.arange(6, dtype=">f4"),
        np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4)),
    ],
    ids=["empty", "scalar", "transposed", "reversed", "big-endian", "fortran"],
)
def test_any_layout_arrives_as_it_was(array: np.ndarray, tmp_path: Path) -> None:
    maxgraph.save(with_weights(w=f32(*array.shape)), tmp_path / "a.maxg", weights={"w": array})
    data = load(tmp_path / "a.maxg").weights["w"].data
    assert data is not None
    np.testing.assert_array_equal(data.numpy(), array.astype(np.float32))
    verify(tmp_path / "a.maxg")


@pytest.mark.parametrize("dtype", [d for d in DType if d is not DType.float4_e2m1fn], ids=lambda d: d.name)
def test_every_dtype(dtype: DType, tmp_path: Path) -> None:
    raw = np.arange(64, dtype=np.uint8) % 2 if dtype is DType.bool else np.arange(64, dtype=np.uint8)
    array = raw.view(dtype.to_numpy())
    kind = TensorType(dtype, array.shape, CPU)
    maxgraph.save(with_weights(w=kind), tmp_path / "a.maxg", weights={"w": array})
    graph = load(tmp_path / "a.maxg")
    data = graph.weights["w"].data
    assert data is not None
    assert graph.weights["w"].type == kind
    assert data.numpy().tobytes() == array.tobytes()


def test_a_damaged_weight_is_noticed_when_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "a.maxg"
    maxgraph.save(with_weights(w=f32(500)), path, weights={"w": np.ones(500, np.float32)})
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    weight = load(path).weights["w"].data
    assert weight is not None
    with pytest.raises(FormatError, match="`w`") as raised:
        weight.numpy()
    assert raised.value.code == "MGB12"


def test_padding_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.maxg"
    maxgraph.save(with_weights(w=f32(500)), path, weights={"w": np.ones(500, np.float32)})
    padding = next(s for s in open_file(path).sections if s.name == "padding")
    data = bytearray(path.read_bytes())
    data[padding.offset + 3] = 1
    path.write_bytes(data)
    with pytest.raises(FormatError) as raised:
        verify(path)
    assert raised.value.code == "MGB11"


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({}, "no elements"),
        ({"w": np.ones(3, np.float32)}, "does not fit"),
        ({"w": np.ones(4)}, "does not fit"),
        ({"w": np.ones(4, np.float32), "v": np.ones(4)}, "no weight `v`"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights: dict[str, np.ndarray], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words) as raised:
        maxgraph.save(with_weights(w=f32(4)), tmp_path / "a.maxg", weights=weights)
    assert raised.value.code == "MG039"
    assert list(tmp_path.iterdir()) == []


def test_saving_over_a_mapped_file_leaves_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.maxg"
    maxgraph.save(with_weights(w=f32(500)), path, weights={"w": np.ones(500, np.float32)})
    old = load(path).weights["w"].data
    assert old is not None
    maxgraph.save(with_weights(w=f32(500)), path, weights={"w": np.full(500, 2, np.float32)})
    assert old.numpy()[0] == 1
    # Also where the file is written from its own mapping.
    graph = load(path)
    maxgraph.save(graph, path)
    verify(path)


def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.maxg"
    maxgraph.save(with_weights(w=f32(500)), path, weights={"w": np.ones(500, np.float32)})
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        maxgraph.save(with_weights(w=f32(5)), path, weights={"w": np.ones(5, np.float32)})
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.maxg"]


KILLED = """
import os, signal, sys
import numpy as np
import maxgraph
from tests.format.test_weights import f32, with_weights
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
maxgraph.save(with_weights(w=f32(5)), sys.argv[1], weights={"w": np.ones(5, np.float32)})
"""


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.maxg"
    maxgraph.save(with_weights(w=f32(500)), path, weights={"w": np.ones(500, np.float32)})
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, check=False)
    assert done.returncode == -9
    assert path.read_bytes() == before


READ = """
import sys
from maxgraph.format import open_file
def read_bytes():
    return int(next(line for line in open("/proc/self/io") if line.startswith("rchar")).split()[1])
before = read_bytes()
opened = open_file(sys.argv[1])
print(read_bytes() - before, "numpy" in sys.modules, opened.file_length)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="counts bytes by /proc")
def test_the_header_of_a_huge_file_costs_its_header(tmp_path: Path) -> None:
    """Over 2 GiB of zeros with a number at the end: written sparse, opened without reading, used from the mapping."""
    count = (1 << 29) + 1000
    array = np.zeros(count, np.float32)
    array[-1] = 7
    path = tmp_path / "huge.maxg"
    maxgraph.save(with_weights(w=f32(count)), path, weights={"w": array})
    del array
    assert os.path.getsize(path) > 2 << 30
    assert os.stat(path).st_blocks * 512 < 64 << 20
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True, cwd=ROOT)
    read, numpy_loaded, length = done.stdout.split()
    assert int(read) < 64 << 10
    assert numpy_loaded == "False"
    assert int(length) == os.path.getsize(path)
    data = load(path).weights["w"].data
    assert data is not None
    assert data.numpy()[-1] == 7


def test_large_constants_become_weights(tmp_path: Path) -> None:
    with Graph("g") as graph:
        graph.output(
            small=ops.constant(np.zeros(256, np.float32)), large=ops.constant(np.arange(257, dtype=np.float32))
        )
    assert list(graph.weights) == ["constant0"]
    maxgraph.save(graph, tmp_path / "a.maxg")
    assert [w.name for w in load(tmp_path / "a.maxg").weights.values()] == ["constant0"]
