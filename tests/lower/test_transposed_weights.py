"""A product with a weight's transpose keeps one copy of the weight: the one that was given."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.graph import DeviceRef, Graph, TensorType, Weight, ops
from maxgraph.lower import lower
from maxgraph.reference import Interpreter

CPU = DeviceRef.CPU()


def product(*shape: int | str, dtype: DType = DType.float32) -> tuple[Graph, dict[str, np.ndarray]]:
    with Graph("g", input_types=[TensorType(dtype, shape, CPU)], input_names=["x"]) as graph:
        weight = graph.add_weight(Weight("w", dtype, [3, 4], CPU))
        graph.output(y=graph.inputs[0].tensor @ weight.T, z=ops.transpose(weight, 0, 1) * 2)
    return graph, {"w": np.arange(12, dtype=dtype.to_numpy()).reshape(3, 4)}


@pytest.mark.parametrize("level", ["none", "all"])
@pytest.mark.parametrize("shape", [(2, 4), ("n", 4), (2, "n", 4), (4,), (0, 4)])
@pytest.mark.parametrize("dtype", [DType.float32, DType.float64, DType.float16, DType.int32])
def test_it_agrees_with_the_interpreter(shape: tuple[int | str, ...], level: str, dtype: DType) -> None:
    graph, weights = product(*shape, dtype=dtype)
    sizes = [3 if isinstance(dim, str) else dim for dim in shape]
    x = np.random.default_rng(0).uniform(-3, 3, sizes).astype(dtype.to_numpy())
    session = InferenceSession(optimization=level)
    found = session.load(graph, weights_registry=weights).execute(x)
    wanted = Interpreter(graph, weights=weights).run({"x": x}, {})
    for result, array in zip(found, wanted.values(), strict=True):
        np.testing.assert_allclose(result.to_numpy(), array, rtol=1e-5 if dtype is not DType.float16 else 1e-2)


def test_the_transpose_is_not_made() -> None:
    with Graph("g", input_types=[TensorType(DType.float32, ["n", 64], CPU)]) as graph:
        weight = graph.add_weight(Weight("w", DType.float32, [128, 64], CPU))
        graph.output(graph.inputs[0].tensor @ weight.T)
    lowered = lower(graph, weights={"w": np.ones((128, 64), np.float32)})
    assert [node.op_type for node in onnx.load_from_string(lowered.model).graph.node] == ["FusedMatMul"]
    assert [weight.folded for weight in lowered.external] == [False]
