"""Each row of the allow-list: the kernel, run over its own input, gives what it gives with memory apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from maxgraph.lower.kernels import IN_PLACE, Kernel

SIZES = (1, 3, 16, 64, 300, 700)
Array = np.ndarray[Any, Any]
BOOLEAN = {"And", "Or", "Xor", "Not"}
ATTRIBUTES: dict[str, dict[str, object]] = {"Mod": {"fmod": 1}, "Softmax": {"axis": 0}, "TensorScatter": {"axis": 1}}


def elements(rng: np.random.Generator, shape: tuple[int, ...], op_type: str) -> Array:
    if op_type in BOOLEAN:
        return rng.integers(0, 2, shape).astype(np.bool_)
    return rng.uniform(0.1, 0.9, shape).astype(np.float32)


def operand_sets(rng: np.random.Generator, row: Kernel, n: int) -> list[tuple[list[Array | None], tuple[int, ...]]]:
    """Operands (None: the state itself) and the state's shape, for every way that the row allows the state to stand."""
    op, square = row.op_type, (n, n)

    def make(*shape: int) -> Array:
        return elements(rng, shape, op)

    if op == "Where":
        chosen = rng.integers(0, 2, square).astype(np.bool_)
        column = rng.integers(0, 2, (n, 1)).astype(np.bool_)
        return [
            ([chosen, None, make(n, n)], square),
            ([chosen, make(n), None], square),
            ([column, None, None], square),
        ]
    if op == "Clip":
        return [([None, np.float32(0.3), np.float32(0.6)], square)]
    if op == "CumSum":
        return [([None, np.array(axis, np.int32)], square) for axis in (0, 1)]
    if op == "Gemm":
        return [([make(n, n), make(n, n), None], square)]
    if op == "ScatterND":
        rows = rng.permutation(n)[: max(1, n // 2)].reshape(-1, 1)
        return [([None, rows, make(len(rows), n)], square)]
    if op == "ScatterElements":
        return [([None, np.zeros((1, n), np.int64), make(1, n)], square)]
    if op == "TensorScatter":
        return [
            ([None, make(1, 1, n), np.array([n - 1])], (1, n, n)),
            ([None, make(1, n, n), np.array([0])], (1, n, n)),
        ]
    if op in ("Reshape", "Squeeze", "Unsqueeze"):
        shape = {"Reshape": np.array([n, n]), "Squeeze": np.array([0]), "Unsqueeze": np.array([0])}[op]
        return [([None, shape], (1, n, n) if op == "Squeeze" else square)]
    if len(row.operands) == 1:
        return [([None], square)]
    others = [make(n, n), make(n), make(n, 1), make(1, 1)]
    return [*(([None, x], square) for x in others), *(([x, None], square) for x in others), ([None, None], square)]


def run(row: Kernel, operands: list[Array | None], state: Array, *, shared: bool, threads: int) -> Array:
    names = ["s" if x is None else f"x{at}" for at, x in enumerate(operands)]
    given = {"s": state, **{n: np.asarray(x) for n, x in zip(names, operands, strict=True) if x is not None}}
    kind = helper.np_dtype_to_tensor_dtype(state.dtype)
    node = helper.make_node(row.op_type, names, ["out"], domain=row.domain, **ATTRIBUTES.get(row.op_type, {}))
    # Reshape-like rows yield another rank; onnxruntime only needs the element type here.
    output = helper.make_tensor_value_info("out", kind, None)
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()
    ]
    graph = helper.make_graph([node], "g", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    expected_shape = session.run(None, given)[0].shape
    binding = session.io_binding()
    keep = {n: ort.OrtValue.ortvalue_from_numpy(a) for n, a in given.items()}
    for name, value in keep.items():
        binding.bind_ortvalue_input(name, value)
    target = given["s"] if shared else np.empty_like(state)
    out = ort.OrtValue.ortvalue_from_numpy(target.reshape(expected_shape))
    assert out.data_ptr() == target.ctypes.data
    binding.bind_ortvalue_output("out", out)
    session.run_with_iobinding(binding)
    return target


@pytest.mark.parametrize("row", IN_PLACE.values(), ids=lambda row: row.op_type)
def test_a_row_of_the_allow_list_is_right_over_its_own_input(row: Kernel) -> None:
    rng = np.random.default_rng(0)
    for n in SIZES:
        for operands, shape in operand_sets(rng, row, n):
            state = elements(rng, shape, row.op_type)
            apart = run(row, operands, state.copy(), shared=False, threads=1)
            for threads in (1, 2):
                over = run(row, operands, state.copy(), shared=True, threads=threads)
                np.testing.assert_allclose(over, apart, rtol=1e-5, err_msg=f"n={n}, threads={threads}")


def test_the_check_sees_a_kernel_that_is_not_safe() -> None:
    """The test above can fail: a MatMul over its own input is wrong at some size."""
    rng = np.random.default_rng(0)
    row = Kernel("MatMul", frozenset({0, 1}))
    wrong = 0
    for n in SIZES:
        state, other = elements(rng, (n, n), "MatMul"), elements(rng, (n, n), "MatMul")
        apart = run(row, [None, other], state.copy(), shared=False, threads=1)
        over = run(row, [None, other], state.copy(), shared=True, threads=1)
        wrong += not np.allclose(apart, over)
    assert wrong


def test_every_row_names_an_onnx_operator() -> None:
    for domain, op_type in IN_PLACE:
        assert onnx.defs.has(op_type, domain), op_type
    assert TensorProto.FLOAT
