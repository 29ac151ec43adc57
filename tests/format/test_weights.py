"""Weights: any dtype and layout arrives as it was, equal ones are stored once, wrong ones are refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.errors import FormatError, InputError
from maxgraph.format import load, open_file, verify
from maxgraph.graph import DeviceRef, Graph, TensorType, ops

from .files import CPU, f32, forged, with_weights

LARGE = np.arange(3 * 2**18, dtype=np.float32)  # three megabytes, so it is written in pieces


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 4), np.float32),
        np.float32(3.5).reshape(()),
        np.arange(12, dtype=np.float32).reshape(3, 4).T,
        np.arange(12, dtype=np.float32)[::-2],
        np.arange(6, dtype=">f4"),
        np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4)),
        np.broadcast_to(np.float32(2), (3, 5)),
        LARGE,
        LARGE.reshape(3, 512, 512).transpose(2, 0, 1),
        LARGE.reshape(512, -1)[:, ::-3],
        LARGE.astype(">f4")[::-1],
        np.array(7, ">f4"),
    ],
    ids=lambda a: f"{a.dtype.str}{a.shape}{a.strides}",
)
def test_any_layout_arrives_as_it_was(array: np.ndarray[Any, Any], tmp_path: Path) -> None:
    maxgraph.save(with_weights(w=f32(*array.shape)), tmp_path / "a.maxg", weights={"w": array})
    data = load(tmp_path / "a.maxg").weights["w"].data
    assert data is not None
    np.testing.assert_array_equal(data.numpy(), array.astype(np.float32))
    assert data.numpy().shape == array.shape
    verify(tmp_path / "a.maxg")


@pytest.mark.parametrize("count", [64, 63])
@pytest.mark.parametrize("dtype", DType, ids=lambda d: d.name)
def test_every_dtype(dtype: DType, count: int, tmp_path: Path) -> None:
    size = dtype.to_numpy().itemsize
    mask = {DType.bool: 1, DType.float4_e2m1fn: 15}.get(dtype, 255)
    raw = np.arange(count * size, dtype=np.uint8) & mask
    array = raw.view(dtype.to_numpy())
    kind = TensorType(dtype, array.shape, CPU)
    path = tmp_path / "a.maxg"
    maxgraph.save(with_weights(w=kind), path, weights={"w": array})
    graph = load(path)
    data = graph.weights["w"].data
    assert data is not None
    assert graph.weights["w"].type == kind
    assert data.numpy().dtype == array.dtype
    assert data.numpy().tobytes() == array.tobytes()
    assert not data.numpy().flags.writeable
    assert open_file(path).sections[-1].length == kind.num_bytes
    maxgraph.save(graph, tmp_path / "b.maxg")
    assert (tmp_path / "b.maxg").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("dtype", DType, ids=lambda d: d.name)
def test_small_constants_of_every_dtype(dtype: DType, tmp_path: Path) -> None:
    array = np.array([0, 1, 1], dtype.to_numpy())
    with Graph("g") as graph:
        graph.output(ops.constant(array))
    maxgraph.save(graph, tmp_path / "a.maxg")
    (node,) = load(tmp_path / "a.maxg").nodes()
    found: Any = node.attributes["value"]
    assert found.numpy().tobytes() == array.tobytes()


def test_large_constants_become_weights(tmp_path: Path) -> None:
    small, large = np.zeros(256, np.float32), np.arange(257, dtype=np.float32)
    with Graph("g") as graph:
        graph.output(small=ops.constant(small), large=ops.constant(large))
    assert list(graph.weights) == ["constant0"]
    maxgraph.save(graph, tmp_path / "a.maxg")
    assert list(load(tmp_path / "a.maxg").weights) == ["constant0"]


def test_equal_weights_are_stored_once(tmp_path: Path) -> None:
    array = np.arange(1000, dtype=np.float32)
    path = tmp_path / "t.maxg"
    tied = {"a": array, "c": array.copy(), "e": array.astype(">f4")}
    others = {"b": -array, "d": np.zeros(0, np.float32)}
    kinds = {name: f32(*value.shape) for name, value in (tied | others).items()}
    maxgraph.save(with_weights(**kinds), path, weights=tied | others)
    opened = open_file(path)
    assert [s.name for s in opened.sections if s.name.startswith("weight")] == ["weight a, c, e", "weight b"]
    assert sum(s.length for s in opened.sections) == opened.file_length == os.path.getsize(path)
    found = {name: info.data.numpy() for name, info in opened.graph.weights.items() if info.data}
    assert np.shares_memory(found["a"], found["e"])
    np.testing.assert_array_equal(found["b"], -array)
    assert found["d"].shape == (0,)


def test_a_weight_that_no_node_uses_is_not_written(tmp_path: Path) -> None:
    graph = with_weights(w=f32(2))
    graph.new_weight("unused", f32(9), None)
    maxgraph.save(graph, tmp_path / "a.maxg", weights={"w": np.ones(2, np.float32)})
    assert list(load(tmp_path / "a.maxg").weights) == ["w"]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({}, "no elements"),
        ({"w": np.ones(3, np.float32)}, "does not fit"),
        ({"w": np.ones((4, 1), np.float32)}, "does not fit"),
        ({"w": np.ones(4)}, "does not fit"),
        ({"w": [1.0, 2.0, 3.0, 4.0]}, "does not fit"),
        ({"w": np.ones(4, np.float32), "v": np.ones(4)}, "no weight `v`"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words) as raised:
        maxgraph.save(with_weights(w=f32(4)), tmp_path / "a.maxg", weights=weights)
    assert raised.value.code == "MG039"
    assert list(tmp_path.iterdir()) == []


def test_a_bool_is_0_or_1(tmp_path: Path) -> None:
    kind = TensorType(DType.bool, [3], DeviceRef.CPU())
    array = np.array([0, 1, 2], np.uint8).view(np.bool_)
    with pytest.raises(InputError, match="neither 0 nor 1"):
        maxgraph.save(with_weights(w=kind), tmp_path / "a.maxg", weights={"w": array})


@pytest.mark.parametrize(("change", "code"), [("digest", "MGB02"), ("blob", "MGB10")])
def test_blobs_are_of_different_content_and_used(change: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "a.maxg"
    arrays = {"a": np.zeros(4, np.float32), "b": np.ones(4, np.float32)}
    maxgraph.save(with_weights(a=f32(4), b=f32(4)), path, weights=arrays)

    def forge(model: Any) -> None:
        if change == "blob":
            model.weights[1].blob = 0
        else:
            model.blobs[1].sha256 = model.blobs[0].sha256

    path.write_bytes(forged(path.read_bytes(), forge))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code == code
