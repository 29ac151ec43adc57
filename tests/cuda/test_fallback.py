"""Nothing runs on the CPU unnoticed. Without a GPU, a provider that takes no node stands in for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from maxgraph.driver import Accelerator, Device
from maxgraph.driver.device import CUDA_PROVIDER
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, ort
from maxgraph.errors import DeviceError, UnsupportedError
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
from maxgraph.lower import lower

from .conftest import StandIn

REF = DeviceRef.CPU()
#: It is in every build of onnxruntime, and takes only nodes of its own.
TAKES_NOTHING = "AzureExecutionProvider"


def graph() -> Graph:
    with Graph("small", input_types=[TensorType(DType.float32, [2], REF)], input_names=["x"]) as made:
        made.output(ops.tanh(made.inputs[0].tensor))
    return made


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> Device:
    """An accelerator whose provider takes no node."""
    import onnxruntime

    if TAKES_NOTHING not in onnxruntime.get_available_providers():
        pytest.skip(f"this onnxruntime has no {TAKES_NOTHING}")
    monkeypatch.setattr(ort, "_providers", lambda *_, **__: [TAKES_NOTHING])
    monkeypatch.setattr(ort, "CPU_PROVIDER", "")
    monkeypatch.setattr(InferenceSession, "_open", opened)
    return StandIn()


def opened(session: Any, lowered: Any, graph: Graph, device_id: int) -> Any:
    return ort.OrtSession(
        lowered.model,
        provider=TAKES_NOTHING,
        device_id=0,
        threads=1,
        weights={},
        allow_fallback=session._allow_fallback,
        graph=graph,
    )


def test_a_node_that_would_run_on_the_cpu_is_named(idle: Device) -> None:
    with pytest.raises(DeviceError) as caught:
        InferenceSession(devices=[idle]).load(graph())
    error = caught.value
    assert error.code == "MG046"
    assert error.summary == "1 of the nodes of graph `small` would run on the CPU"
    ((label, node),) = error.details
    assert label == "node"
    assert node.startswith("Tanh, of `tanh` (")
    assert "test_fallback.py:" in node
    assert "allow_fallback=True" in (error.help or "")


def test_falling_back_when_it_is_allowed(idle: Device) -> None:
    model = InferenceSession(devices=[idle], allow_fallback=True).load(graph())
    np.testing.assert_allclose(model.execute(np.ones(2, np.float32))[0].to_numpy(), np.tanh([1, 1]), rtol=1e-6)


def test_a_provider_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime then has the CPU only, and says so to nobody but its log."""
    monkeypatch.setattr(ort, "_providers", lambda *_, **__: ["CPUExecutionProvider"])
    monkeypatch.setattr(ort, "_HOST", StandIn().ort_device())
    with pytest.raises(DeviceError, match="cannot start CUDAExecutionProvider"):
        InferenceSession(devices=[StandIn()]).load(graph())


def test_without_cuda_a_device_is_refused() -> None:
    import onnxruntime

    if CUDA_PROVIDER in onnxruntime.get_available_providers():
        pytest.skip("there is CUDA")
    with pytest.raises(DeviceError, match="no CUDAExecutionProvider"):
        InferenceSession(devices=[Accelerator()])


def test_an_index_that_the_graph_computes_is_refused() -> None:
    """CUDA's kernels do not fail, so a check inside the graph would pass, and the store would go astray."""
    types = [BufferType(DType.float32, [4], REF), TensorType(DType.int64, [], REF)]
    with Graph("computed", input_types=types, input_names=["s", "i"]) as made:
        made.inputs[0].buffer[made.inputs[1].tensor * 2] = made.inputs[0].buffer[0]
        made.output()
    lowered = lower(made, provider=CUDA_PROVIDER)
    assert lowered.guards
    from maxgraph.engine.device_model import DeviceProgram

    with pytest.raises(UnsupportedError, match="checks something that it computes itself"):
        DeviceProgram(lowered, None, StandIn())


def test_on_cuda_no_buffer_shares_memory_and_no_kernel_is_the_cpus_own() -> None:
    types = [BufferType(DType.float32, [4], REF), TensorType(DType.float32, [4], REF)]
    with Graph("plan", input_types=types, input_names=["s", "x"]) as made:
        s = made.inputs[0].buffer
        s[...] = ops.gelu(s[...]) + made.inputs[1].tensor
        made.output(s[...])
    lowered = lower(made, provider=CUDA_PROVIDER)
    assert not lowered.plan["s"].mode.shares_memory
    assert lowered.plan["s"].reason == "no kernel of this provider is known to be safe"
    nodes = onnx.ModelProto.FromString(lowered.model).graph.node
    assert nodes
    assert {node.domain for node in nodes} <= {"", "ai.onnx"}
