"""Resizing, against ONNX's own operator on sizes where no float rounds a place, and its refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import ExecutionError, TypeRuleError, UnsupportedError
from maxgraph.graph import DeviceRef, Graph, TensorType, ops

CPU = DeviceRef.CPU()
X = np.random.default_rng(0).normal(size=(2, 3, 6, 4)).astype(np.float32)
COORDINATES = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


def theirs(size: tuple[int, int], **attributes: Any) -> np.ndarray[Any, Any]:
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info("x", 1, X.shape)],
        [helper.make_tensor_value_info("y", 1, None)],
        [helper.make_tensor("sizes", 7, [4], [2, 3, *size])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": X})
    return np.asarray(found)


def ours(function: Any, size: tuple[Any, Any], *args: Any, x: Any = X, dims: Any = None) -> np.ndarray[Any, Any]:
    with Graph("g", input_types=[TensorType(DType.float32, dims or x.shape, CPU)]) as graph:
        graph.output(function(graph.inputs[0].tensor, [2, 3, *size], *args))
    found: np.ndarray[Any, Any] = InferenceSession().load(graph).execute(x)[0].to_numpy()
    return found


@pytest.mark.parametrize("size", [(12, 8), (3, 2), (9, 1)])
@pytest.mark.parametrize("mode", range(4))
def test_as_onnx_has_it(mode: int, size: tuple[int, int]) -> None:
    wanted = theirs(size, mode="linear", coordinate_transformation_mode=COORDINATES[mode])
    np.testing.assert_allclose(ours(ops.resize_linear, size, mode), wanted, rtol=1e-5, atol=1e-5)
    if size != (9, 1):  # 9 / 6 rounds there
        for at, rounding in enumerate(ROUNDINGS):
            attributes = {"coordinate_transformation_mode": COORDINATES[mode], "nearest_mode": rounding}
            if mode == 1:
                continue  # 5 / 11 rounds there; see the test below
            np.testing.assert_array_equal(ours(ops.resize_nearest, size, mode, at), theirs(size, **attributes))
    if mode == 0:
        wanted = theirs(size, mode="cubic", cubic_coeff_a=-0.75)
        np.testing.assert_allclose(ours(ops.resize_bicubic, size), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rounding", range(4))
def test_corners_stay(rounding: int) -> None:
    found = ours(ops.resize_nearest, (11, 7), 1, rounding)
    np.testing.assert_array_equal(found[:, :, ::2, ::2], X)


def test_a_place_is_exact() -> None:
    """Every k-th element of an axis that grew k-fold is the old one, also where 1 / k is no float."""
    for factor in (3, 7, 49):
        found = ours(ops.resize_nearest, (6 * factor, 4 * factor), 2, 2)
        np.testing.assert_array_equal(found, X.repeat(factor, 2).repeat(factor, 3))


def test_modes_by_name() -> None:
    for mode, function in (
        (ops.InterpolationMode.NEAREST, ops.resize_nearest),
        (ops.InterpolationMode.BILINEAR, ops.resize_linear),
        (ops.InterpolationMode.BICUBIC, ops.resize_bicubic),
    ):
        np.testing.assert_array_equal(ours(ops.resize, (5, 5), mode), ours(function, (5, 5)))


def test_sizes_that_are_known_when_run() -> None:
    found = ours(ops.resize_linear, (12, 8), dims=[2, 3, "h", "w"])
    np.testing.assert_array_equal(found, ours(ops.resize_linear, (12, 8)))
    with pytest.raises(ExecutionError, match="no element"):
        ours(ops.resize_linear, (12, 8), x=X[:, :, :0], dims=[2, 3, "h", "w"])


def test_refusals() -> None:
    types = [TensorType(DType.float32, [2, 3], CPU), TensorType(DType.int32, [1, 1, 2, 2], CPU)]
    with Graph("g", input_types=types) as graph:
        flat, whole = (v.tensor for v in graph.inputs)
        with pytest.raises(TypeRuleError, match="rank 4"):
            ops.resize(flat, [4, 6])
        with pytest.raises(TypeRuleError, match="floating-point"):
            ops.resize_linear(whole, [1, 1, 4, 4])
        with pytest.raises(TypeRuleError, match="rank 4"):
            ops.resize_nearest(whole, [4, 4])
        with pytest.raises(TypeRuleError, match="from 0 to 3"):
            ops.resize_nearest(whole, [1, 1, 4, 4], 4)
        with pytest.raises(UnsupportedError, match="antialias"):
            ops.resize_linear(whole, [1, 1, 4, 4], antialias=True)
        graph.output(flat)
