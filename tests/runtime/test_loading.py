"""Sessions: what they load, weights, devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import maxgraph
from maxgraph.driver import CPU, Accelerator, Buffer, accelerator_count
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import DeviceError, InputError, InputTypeError, LoweringError, UsageError
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, Weight, ops
from tests.runtime.graphs import F32, accumulator, counter, graph_of, product, tensor


def test_a_file_runs_like_its_graph(tmp_path: Path) -> None:
    path = tmp_path / "a.maxg"
    maxgraph.save(accumulator(), path)
    one = np.ones(3, np.float32)
    for given in (path, str(path)):
        for reference in (False, True):
            model = InferenceSession().load(given, reference=reference)
            assert [model.execute(one)[0].to_numpy().tolist() for _ in range(2)] == [[1, 2, 3], [2, 3, 4]]
            assert (model.plan is None) == reference
            assert model.name == "g"


def test_what_is_no_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="not dict"):
        InferenceSession().load({})  # type: ignore[arg-type]  # the mistake that is tested
    with pytest.raises(InputError, match="has no output"):
        InferenceSession().load(Graph("g"))
    with pytest.raises(UsageError):
        InferenceSession().load(tmp_path / "none.maxg")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"num_threads": 0}, "1 to 1024"),
        ({"num_threads": 10**9}, "1 to 1024"),
        ({"optimization": "al"}, "did you mean `all`"),
        ({"buffers": "inplace"}, "did you mean `in_place`"),
        ({"devices": ["cpu"]}, "not str"),
        ({"device_map": {"gpu:0": "cpu"}}, "not str"),
        ({"device_map": {"gpu:0": CPU()}}, "has no device gpu:0"),
    ],
)
def test_bad_arguments_of_a_session(arguments: Any, text: str) -> None:
    with pytest.raises((InputError, InputTypeError, DeviceError), match=text):
        InferenceSession(**arguments).load(counter())


def test_in_place_can_be_demanded() -> None:
    with pytest.raises(LoweringError, match="`s` cannot be changed in place"):
        InferenceSession(buffers="in_place").load(_rotation())
    InferenceSession(buffers="in_place").load(counter())
    InferenceSession(buffers="in_place").load(product())  # written through


def _rotation() -> Graph:
    """A check that may fail needs a value that is stored before it, so `s` needs a second memory."""
    from tests.runtime.graphs import I64, buffer

    def body(x: Any, s: Any, t: Any) -> Any:
        s[...] = s[...] + x
        t[s[0].cast(I64)] = x[0]
        return {}

    return graph_of(body, tensor([2]), buffer([2]), buffer([2]), names=["x", "s", "t"])


# Weights ------------------------------------------------------------------------------------------------------------


def weighted(dtype: DType = F32) -> Graph:
    with Graph("g", input_types=[tensor([2, 300], dtype)], input_names=["x"]) as graph:
        graph.output(y=graph.inputs[0].tensor + Weight("layer.w", dtype, [300]))
    return graph


W = np.arange(300, dtype=np.float32)


@pytest.mark.parametrize("reference", [False, True])
def test_weights_are_given_when_a_graph_is_loaded(reference: bool) -> None:
    for given in (W, Buffer.from_numpy(W.copy()), np.arange(600, dtype=np.float32)[::2] / 2):
        registry = {"layer.w": given, "another": np.zeros(1)}
        model = InferenceSession().load(weighted(), weights_registry=registry, reference=reference)
        del registry, given
        y = model.execute(np.ones((2, 300), np.float32))[0].to_numpy()
        np.testing.assert_array_equal(y, np.stack([W + 1, W + 1]))


@pytest.mark.parametrize("reference", [False, True])
def test_initial_values_cannot_be_changed_through_a_model(reference: bool) -> None:
    with Graph("g") as graph:
        total = ops.buffer_create(BufferType(F32, [2], DeviceRef.CPU()), np.ones(2, np.float32), name="total")
        total[...] = total[...] + 1
        graph.output(total[...])
    model = InferenceSession().load(graph, reference=reference)
    with pytest.raises(ValueError, match="read-only"):
        model.initial_values["total"][0] = 55
    model.execute()
    assert model.new_state().to_numpy("total").tolist() == [1, 1]


def test_weights_of_small_floats() -> None:
    w = W.astype(ml_dtypes.bfloat16)
    model = InferenceSession().load(weighted(DType.bfloat16), weights_registry={"layer.w": w}, reference=True)
    assert model.execute(np.ones((2, 300), ml_dtypes.bfloat16))[0].to_numpy()[0, 5] == 6


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize(
    ("registry", "text"),
    [
        ({}, "`layer.w` has no elements"),
        ({"layer.v": W}, r"`layer\.w` has no elements[\s\S]*did you mean `layer\.v`"),
        ({"layer.w": W[:3]}, r"does not fit[\s\S]*wanted\s+float32\[300\][\s\S]*given\s+float32\[3\]"),
        ({"layer.w": W.astype(np.float64)}, r"given\s+float64\[300\]"),
    ],
)
def test_weights_that_are_missing_or_do_not_fit(registry: Any, text: str, reference: bool) -> None:
    with pytest.raises(InputError, match=text) as raised:
        InferenceSession().load(weighted(), weights_registry=registry, reference=reference)
    assert raised.value.code == "MG039"
    with pytest.raises(InputTypeError, match="list is no array"):
        InferenceSession().load(weighted(), weights_registry={"layer.w": [1.0]}, reference=reference)


# Devices ------------------------------------------------------------------------------------------------------------


def on_gpu() -> Graph:
    gpu = DeviceRef.GPU()
    types = [TensorType(F32, [2], gpu), BufferType(F32, [2], gpu)]
    with Graph("g", input_types=types, input_names=["x", "s"]) as graph:
        state = graph.inputs[1].buffer
        state[...] = state[...] + graph.inputs[0].tensor
        graph.output(y=state[...])
    return graph


def test_a_gpu_is_never_the_cpu_silently() -> None:
    with pytest.raises(DeviceError, match=r"wants gpu:0, and this session has only cpu:0[\s\S]*device_map") as raised:
        InferenceSession().load(on_gpu())
    assert raised.value.code == "MG040"


def test_a_device_can_be_mapped() -> None:
    model = InferenceSession(device_map={"gpu:0": CPU()}).load(on_gpu())
    memory = np.ones(2, np.float32)
    assert model.execute(np.ones(2, np.float32), memory)[0].to_numpy().tolist() == [2, 2]
    assert memory.tolist() == [2, 2]
    assert model.devices == [CPU()]


@pytest.mark.skipif(accelerator_count() > 0, reason="onnxruntime has CUDA here")
def test_an_accelerator_that_is_not_there() -> None:
    with pytest.raises(DeviceError, match="onnxruntime-gpu"):
        InferenceSession(devices=[Accelerator()])
    with pytest.raises(DeviceError, match="onnxruntime-gpu"):
        InferenceSession(device_map={"cpu:0": Accelerator()}).load(counter())


@pytest.mark.skipif(accelerator_count() == 0, reason="onnxruntime has no CUDA provider on this machine")
def test_an_accelerator_runs_a_graph() -> None:
    model = InferenceSession(devices=[Accelerator()]).load(on_gpu())
    memory = np.ones(2, np.float32)
    for step in range(3):
        y = model.execute(np.ones(2, np.float32), memory)[0]
        assert y.to_numpy().tolist() == memory.tolist() == [step + 2] * 2
        assert y.device == Accelerator()
    assert model.plan is not None
    assert not model.plan["s"].mode.shares_memory
