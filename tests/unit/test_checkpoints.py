"""Weights from checkpoints: by name, in shards, mapped, and left where they are when a graph is saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

import maxgraph
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import FormatError, MaxGraphError
from maxgraph.format import verify
from maxgraph.graph import DeviceRef, Graph, TensorType, weights
from maxgraph.graph.weights import SafetensorWeights, WeightData, WeightsFormat, load_weights, weights_format

TENSORS = {
    "embed.weight": np.arange(8, dtype=np.float32).reshape(4, 2),
    "layers.0.w": np.eye(2, dtype=np.float32) * 3,
    "layers.1.w": np.eye(2, dtype=np.float32) * 5,
    "half": np.ones(3, ml_dtypes.bfloat16),
}


def checkpoint(folder: Path) -> Path:
    """As a hub lays it out: two shards and an index."""
    folder.mkdir(exist_ok=True)
    first = ["embed.weight", "layers.0.w"]
    save_file({name: TENSORS[name] for name in first}, folder / "model-00001-of-00002.safetensors")
    rest = {name: array for name, array in TENSORS.items() if name not in first}
    save_file(rest, folder / "model-00002-of-00002.safetensors")
    where = {name: f"model-0000{1 if name in first else 2}-of-00002.safetensors" for name in TENSORS}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    return folder


@pytest.mark.parametrize("how", ["folder", "index", "files"])
def test_a_checkpoint_in_each_form(how: str, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "m")
    paths = {
        "folder": [folder],
        "index": [folder / "model.safetensors.index.json"],
        "files": sorted(folder.glob("*.safetensors")),
    }[how]
    loaded = load_weights(paths)
    assert sorted(name for name, _ in loaded.items()) == sorted(TENSORS)
    assert [name for name, _ in loaded.layers.items()] == ["layers.0.w", "layers.1.w"]
    assert loaded.layers[1].w.name == "layers.1.w"
    assert loaded["layers"]["0"]["w"].exists()
    assert not loaded.layers.exists()
    data = loaded.half.data()
    assert (data.dtype, list(data.shape)) == (DType.bfloat16, [3])
    np.testing.assert_array_equal(loaded.embed.weight.data().data, TENSORS["embed.weight"])


def model(loaded: SafetensorWeights) -> Graph:
    with Graph("model", input_types=[TensorType(DType.int64, ["n"], DeviceRef.CPU())]) as graph:
        from maxgraph.graph import ops

        x = ops.gather(loaded.embed.weight.allocate(DType.float32, [4, 2]), graph.inputs[0].tensor, axis=0)
        for layer in range(2):
            x = x @ loaded.layers[layer].w.allocate()
        graph.output(x)
    return graph


def test_a_graph_over_a_checkpoint(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "m")
    loaded = load_weights([folder])
    graph = model(loaded)
    assert set(loaded.allocated_weights) == {"embed.weight", "layers.0.w", "layers.1.w"}
    assert not any(array.flags.writeable for array in loaded.allocated_weights.values())
    ids = np.array([3, 0])
    wanted = TENSORS["embed.weight"][ids] * 15
    (result,) = InferenceSession().load(graph, weights_registry=loaded.allocated_weights).execute(ids)
    np.testing.assert_array_equal(result.to_numpy(), wanted)

    maxgraph.save(graph, folder / "model.maxg", weights=loaded.allocated_weights, external=True)
    opened = verify(folder / "model.maxg")
    assert [file.name for file in opened.external] == [path.name for path in sorted(folder.glob("*.safetensors"))]
    (result,) = InferenceSession().load(folder / "model.maxg").execute(ids)
    np.testing.assert_array_equal(result.to_numpy(), wanted)


FIRST = "model-00001-of-00002.safetensors"
REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "no such tensor": (lambda w, p: w.layers[2].w.allocate(), KeyError, r"did you mean `layers\.[01]\.w`"),
    "no tensor but a place": (lambda w, p: w.layers.data(), KeyError, "no tensor `layers`"),
    "another shape": (lambda w, p: w.half.allocate(shape=[4]), ValueError, r"bfloat16\[4\]"),
    "another dtype": (lambda w, p: w.half.allocate(DType.float32), ValueError, r"float32\[3\]"),
    "quantised": (lambda w, p: w.half.allocate(quantization_encoding="Q4_0"), NotImplementedError, "quantised"),
    "no file": (lambda w, p: load_weights([p / "none.safetensors"]), ValueError, "cannot be read"),
    "an empty folder": (lambda w, p: load_weights([p]), ValueError, "holds no safetensors"),
    "another format": (lambda w, p: load_weights([p / "x.bin"]), ValueError, "no known format"),
    "nothing": (lambda w, p: load_weights([]), ValueError, "no known format"),
    "GGUF": (lambda w, p: load_weights([p / "x.gguf"]), NotImplementedError, "GGUF"),
    "a tensor twice": (
        lambda w, p: load_weights([p / "m" / "model-00001-of-00002.safetensors"] * 2),
        ValueError,
        "two",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    body, error, text = REFUSED[name]
    loaded = load_weights([checkpoint(tmp_path / "m")])
    with pytest.raises(error, match=text) as raised:
        body(loaded, tmp_path)
    assert isinstance(raised.value, MaxGraphError)


@pytest.mark.parametrize("index", ["{", "[]", '{"weight_map": 3}', '{"weight_map": {"a": "../x.safetensors"}}'])
def test_an_index_that_is_none(index: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(index)
    with pytest.raises(ValueError, match=r"is no index|names a file in another folder"):
        load_weights([path])


def test_a_file_that_cannot_be_trusted(tmp_path: Path) -> None:
    (tmp_path / "m.safetensors").write_bytes(b"x" * 100)
    with pytest.raises(FormatError) as raised:
        load_weights([tmp_path / "m.safetensors"])
    assert raised.value.code == "MGX08"


def test_weight_data() -> None:
    data = WeightData.from_numpy(np.array([1, 2], np.float32), "w")
    assert data.astype(DType.int64).data.tolist() == [1, 2]
    assert np.from_dlpack(data).tolist() == [1, 2]
    assert weights_format(["a.safetensors"]) is WeightsFormat.safetensors
    assert weights.load_weights is load_weights
