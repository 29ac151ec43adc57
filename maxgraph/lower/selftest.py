"""The self-test of the allow-list: each kernel, run over its own input, gives what it gives with memory apart.

Operands are generated from the table of kernels: for every way in which a row allows the buffer to stand among the
operands, at several sizes, with broadcast operands, and with one and two threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .kernels import IN_PLACE, Kernel

__all__ = ["SIZES", "Case", "cases", "failing_rows", "run_case", "wrong_at"]

Array = np.ndarray[Any, Any]
#: A kernel that is wrong is often right on small operands.
SIZES = (1, 3, 16, 64, 300, 700)
_THREADS = (1, 2)
_CUDA_PROVIDER = "CUDAExecutionProvider"
_BOOLEAN = frozenset(("And", "Or", "Xor", "Not"))
_ATTRIBUTES: dict[str, dict[str, int]] = {"Mod": {"fmod": 1}, "Softmax": {"axis": 0}, "TensorScatter": {"axis": 1}}
_TOLERANCE = 1e-5

#: Operands, None standing for the buffer, and the buffer's shape.
Case = tuple[list[Array | None], tuple[int, ...]]


def failing_rows(provider: str) -> tuple[int, list[str]]:
    """Tests all rows of a provider; a few seconds.

    Returns:
        How many there are, and the operators that are wrong.
    """
    return len(IN_PLACE), [row.op_type for row in IN_PLACE.values() if wrong_at(row, provider) is not None]


def wrong_at(row: Kernel, provider: str, sizes: Sequence[int] = SIZES) -> tuple[int, int] | None:
    """The first size, and number of threads, at which a row is wrong; None: it is right at all of them."""
    rng = np.random.default_rng(0)
    for size in sizes:
        for operands, shape in cases(row, size, rng):
            state = _elements(rng, shape, row.op_type)
            apart = run_case(row, operands, state.copy(), provider, shared=False, threads=1)
            for threads in _THREADS:
                over = run_case(row, operands, state.copy(), provider, shared=True, threads=threads)
                if not np.allclose(over, apart, rtol=_TOLERANCE, equal_nan=True):
                    return size, threads
    return None


def cases(row: Kernel, n: int, rng: np.random.Generator) -> list[Case]:
    """Operands for every way in which a row allows the buffer to stand among them."""
    op, square = row.op_type, (n, n)

    def make(*shape: int) -> Array:
        return _elements(rng, shape, op)

    if op == "Where":
        chosen = rng.integers(0, 2, square).astype(np.bool_)
        column = rng.integers(0, 2, (n, 1)).astype(np.bool_)
        return [
            ([chosen, None, make(n, n)], square),
            ([chosen, make(n), None], square),
            ([column, None, None], square),
        ]
    if op == "Clip":
        return [([None, np.array(0.3, np.float32), np.array(0.6, np.float32)], square)]
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
        whole = (1, n, n)
        return [
            ([None, make(1, 1, n), np.array([n - 1])], whole),
            ([None, make(*whole), np.array([0])], whole),
        ]
    if op in ("Reshape", "Squeeze", "Unsqueeze"):
        shape = {"Reshape": np.array([n, n]), "Squeeze": np.array([0]), "Unsqueeze": np.array([0])}[op]
        return [([None, shape], (1, n, n) if op == "Squeeze" else square)]
    if len(row.operands) == 1:
        return [([None], square)]
    others = [make(n, n), make(n), make(n, 1), make(1, 1)]
    return [*(([None, x], square) for x in others), *(([x, None], square) for x in others), ([None, None], square)]


def run_case(
    row: Kernel, operands: Sequence[Array | None], state: Array, provider: str, *, shared: bool, threads: int
) -> Array:
    """The kernel's result: in the buffer's own memory, or apart."""
    import onnxruntime as ort
    from onnx import helper

    names = ["s" if x is None else f"x{at}" for at, x in enumerate(operands)]
    given = {"s": state, **{name: x for name, x in zip(names, operands, strict=True) if x is not None}}
    node = helper.make_node(row.op_type, names, ["out"], domain=row.domain, **_ATTRIBUTES.get(row.op_type, {}))
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in given.items()}
    inputs = [helper.make_tensor_value_info(name, kinds[name], array.shape) for name, array in given.items()]
    # Some rows yield another rank; onnxruntime only needs the element type here.
    output = helper.make_tensor_value_info("out", kinds["s"], None)
    graph = helper.make_graph([node], "selftest", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=[provider])
    shape = session.run(None, given)[0].shape
    binding = session.io_binding()
    place = "cuda" if provider == _CUDA_PROVIDER else "cpu"
    values = {name: ort.OrtValue.ortvalue_from_numpy(array, place) for name, array in given.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    target = values["s"] if shared else ort.OrtValue.ortvalue_from_numpy(np.empty_like(state), place)
    binding.bind_output("out", place, 0, state.dtype.type, shape, target.data_ptr())
    session.run_with_iobinding(binding)
    return np.array(target.numpy())


def _elements(rng: np.random.Generator, shape: tuple[int, ...], op_type: str) -> Array:
    if op_type in _BOOLEAN:
        return rng.integers(0, 2, shape).astype(np.bool_)
    return rng.uniform(0.1, 0.9, shape).astype(np.float32)
