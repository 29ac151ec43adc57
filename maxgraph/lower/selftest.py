"""The self-test of the allow-list: each kernel, run over its own input, gives what it gives with memory apart.

Operands are generated from the table of kernels: for every way in which a row allows the buffer to stand among the
operands, in each element type of the row, at several sizes, with broadcast operands, and with one and two threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .kernel_cases import Case, Draw, cases_of
from .kernels import IN_PLACE, Kernel

if TYPE_CHECKING:
    import onnxruntime

__all__ = ["FEWER_SIZES", "SELF_TEST_SIZES", "SIZES", "Wrong", "failing_rows", "open_case", "wrong_at"]

Array = np.ndarray[Any, Any]
#: Element type, size, and number of threads.
Wrong = tuple[str, int, int]

#: A kernel that is wrong is often right on small operands.
SIZES = (1, 3, 16, 64, 300, 700)
#: For the element types of a row after its first.
FEWER_SIZES = (1, 3, 64, 300)
#: On a user's machine, in some seconds: every kernel known to be wrong is wrong at one of them.
SELF_TEST_SIZES = (3, 64)
_THREADS = (1, 2)
_CUDA_PROVIDER = "CUDAExecutionProvider"
#: Kernels with more than one output.
OUTPUTS = {"GroupQueryAttention": 3}
_OPSETS = {"": 24, "com.microsoft": 1}
_TOLERANCE = 1e-5
_TOLERANCE_16 = 1e-2


def failing_rows(provider: str) -> tuple[int, list[str]]:
    """Tests all rows of a provider; some seconds.

    Returns:
        How many there are, and the operators that are wrong.
    """
    wrong = [row.op_type for row in IN_PLACE.values() if wrong_at(row, provider, SELF_TEST_SIZES) is not None]
    return len(IN_PLACE), wrong


def wrong_at(
    row: Kernel,
    provider: str,
    sizes: Sequence[int] = SIZES,
    cases: Callable[[Kernel, Draw], Sequence[Case]] = cases_of,
) -> Wrong | None:
    """The first element type, size and number of threads at which a row is wrong; None: it is right at all of them."""
    for dtype in row.types:
        for size in sizes if dtype == row.types[0] else [n for n in sizes if n in FEWER_SIZES]:
            draw = Draw(size, dtype)
            for case in cases(row, draw):
                state = draw(*case.shape)
                for threads in _THREADS:
                    if not _is_right(row, case, state, provider, threads):
                        return dtype, size, threads
    return None


def open_case(row: Kernel, case: Case, state: Array, provider: str, threads: int = 1) -> onnxruntime.InferenceSession:
    """A session of this one node; onnxruntime refuses it where it has no such kernel."""
    import onnxruntime as ort
    from onnx import helper

    given = _given(case, state)
    names = ["s" if x is None else f"x{at}" for at, x in enumerate(case.operands)]
    results = [f"out{at}" for at in range(OUTPUTS.get(row.op_type, 1))]
    node = helper.make_node(row.op_type, names, results, domain=row.domain, **case.attributes)
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in given.items()}
    inputs = [helper.make_tensor_value_info(name, kinds[name], array.shape) for name, array in given.items()]
    # Some rows yield another rank; onnxruntime only needs the element type here.
    outputs = [helper.make_tensor_value_info(name, kinds["s"], None) for name in results]
    graph = helper.make_graph([node], "selftest", inputs, outputs)
    opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return ort.InferenceSession(model.SerializeToString(), options, providers=[provider])


def _is_right(row: Kernel, case: Case, state: Array, provider: str, threads: int) -> bool:
    """Whether the result in the buffer's own memory is the result apart, and so are the other results."""
    import onnxruntime as ort

    session, given = open_case(row, case, state, provider, threads), _given(case, state)
    apart = session.run(None, given)
    binding = session.io_binding()
    place = "cuda" if provider == _CUDA_PROVIDER else "cpu"
    values = {name: ort.OrtValue.ortvalue_from_numpy(array.copy(), place) for name, array in given.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for at, expected in enumerate(apart):
        if at == row.output:
            binding.bind_output(f"out{at}", place, 0, state.dtype.type, expected.shape, values["s"].data_ptr())
        else:
            binding.bind_output(f"out{at}", place)
    session.run_with_iobinding(binding)
    found = [value.numpy() for value in binding.get_outputs()]
    found[row.output] = values["s"].numpy().reshape(apart[row.output].shape)
    return all(_same(ours, expected) for ours, expected in zip(found, apart, strict=True))


def _same(over: Array, apart: Array) -> bool:
    if apart.dtype.kind != "f":
        return bool(np.array_equal(over, apart))
    tolerance = _TOLERANCE_16 if apart.dtype.itemsize == 2 else _TOLERANCE
    return bool(np.allclose(over, apart, rtol=tolerance, atol=tolerance / 10, equal_nan=True))


def _given(case: Case, state: Array) -> dict[str, Array]:
    others = {f"x{at}": x for at, x in enumerate(case.operands) if x is not None}
    return {"s": state, **others}
