"""The self-test of the allow-list: every row is right here, and the test sees kernels that are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import onnx
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidGraph
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.graph import BufferType, DeviceRef, Graph, ops
from maxgraph.lower import Mode, selftest
from maxgraph.lower.kernel_cases import Case, Draw, cases_of
from maxgraph.lower.kernels import IN_PLACE, Kernel, may_overwrite
from maxgraph.lower.selftest import SELF_TEST_SIZES, SIZES, failing_rows, open_case, wrong_at
from maxgraph.reference import Interpreter

CPU = "CPUExecutionProvider"
MS = "com.microsoft"
ROWS = pytest.mark.parametrize("row", IN_PLACE.values(), ids=lambda row: f"{row.op_type}-{row.output}")
TYPES = ("float32", "float64", "float16", "bool", *(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)))


@ROWS
def test_a_row_of_the_allow_list_is_right_over_its_own_input(row: Kernel) -> None:
    wrong = wrong_at(row, CPU)
    assert wrong is None, f"wrong in {wrong[0]} at size {wrong[1]} with {wrong[2]} threads"


@ROWS
def test_a_row_names_every_type_that_its_kernel_has(row: Kernel) -> None:
    """A type that is not named is not tested: onnxruntime must refuse it."""
    has = set()
    for dtype in TYPES:
        draw = Draw(3, dtype)
        case = cases_of(row, draw)[0]
        try:
            open_case(row, case, draw(*case.shape), CPU)
        except (InvalidGraph, NoKernel):
            continue
        has.add(dtype)
    assert has == set(row.types)


def gather(draw: Draw) -> list[Case]:
    return [Case([None, draw.rng.permutation(draw.n)], draw.square)]


def gather_elements(draw: Draw) -> list[Case]:
    return [Case([None, draw.rng.integers(0, draw.n, draw.square)], draw.square)]


def reversal(draw: Draw) -> list[Case]:
    limits = [np.array([x]) for x in (-1, -draw.n - 1, 0, -1)]
    return [Case([None, *limits], draw.square)]


def reverse_sequence(draw: Draw) -> list[Case]:
    return [Case([None, np.full(draw.n, draw.n)], draw.square, {"batch_axis": 0, "time_axis": 1})]


def at_operand(operand: int, draw: Draw, others: int = 1, **attributes: Any) -> list[Case]:
    operands: list[Any] = [draw(*draw.square) for _ in range(others)]
    operands.insert(operand, None)
    return [Case(operands, draw.square, attributes)]


def updates(draw: Draw) -> list[Case]:
    places = np.array([*draw.rng.permutation(draw.n)]).reshape(-1, 1)
    return [Case([draw(*draw.square), places, None], draw.square)]


def exclusive(draw: Draw) -> list[Case]:
    return [Case([None, np.array(1, np.int32)], draw.square, {"exclusive": 1})]


#: Kernels that are wrong over their own input: by name, operator, element type, and how to call it.
WRONG: dict[str, tuple[str, str, str, Callable[[Draw], Sequence[Case]]]] = {
    "product": ("MatMul", "", "float32", partial(at_operand, 0)),
    "product_from_the_left": ("MatMul", "", "float32", partial(at_operand, 1)),
    "gemm_of_the_first": ("Gemm", "", "float32", partial(at_operand, 0, others=2)),
    "transposition": ("Transpose", "", "float32", lambda draw: [Case([None], draw.square, {"perm": [1, 0]})]),
    "permuted_rows": ("Gather", "", "float32", gather),
    "elements": ("GatherElements", "", "float32", gather_elements),
    "reversal": ("Slice", "", "float32", reversal),
    "reversed_sequences": ("ReverseSequence", "", "float32", reverse_sequence),
    "hardmax": ("Hardmax", "", "float32", lambda draw: [Case([None], draw.square, {"axis": 1})]),
    "quick_gelu": ("QuickGelu", MS, "float32", lambda draw: [Case([None], draw.square, {"alpha": 1.702})]),
    "fast_gelu": ("FastGelu", MS, "float32", lambda draw: [Case([None], draw.square)]),
    "gelu_by_tanh": ("Gelu", "", "float32", lambda draw: [Case([None], draw.square, {"approximate": "tanh"})]),
    "updates": ("ScatterND", "", "float32", updates),
    "sums_before": ("CumSum", "", "float32", exclusive),
    "sums_before_of_integers": ("CumSum", "", "int64", exclusive),
    "log_softmax": ("LogSoftmax", "", "float64", lambda draw: [Case([None], draw.square, {"axis": 1})]),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_test_sees_a_kernel_that_is_not_safe(name: str) -> None:
    op_type, domain, dtype, make = WRONG[name]
    draw = Draw(3, dtype)
    (case,) = make(draw)
    operands = frozenset(at for at, x in enumerate(case.operands) if x is None)
    row = Kernel(op_type, operands, (dtype,), domain)
    assert wrong_at(row, CPU, SELF_TEST_SIZES, cases=lambda _, drawn: make(drawn)) is not None
    names = [str(at) for at in range(len(case.operands))]
    node = onnx.helper.make_node(op_type, names, ["out"], domain=domain, **case.attributes)
    assert not may_overwrite(node, operands), "it is in the table"


def test_a_row_that_is_wrong_fails_the_self_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A MatMul over its own input is right on small operands."""
    row = Kernel("MatMul", frozenset({0}), ("float32",))

    def product(_: Kernel, draw: Draw) -> list[Case]:
        return at_operand(0, draw)

    assert wrong_at(row, CPU, sizes=[1], cases=product) is None
    monkeypatch.setattr(selftest, "IN_PLACE", {("", "MatMul", 0): Kernel("Transpose", frozenset({0}), ("float32",))})
    assert failing_rows(CPU) == (1, ["Transpose"])


SUMS = {
    "sums_before": lambda x: ops.cumsum(x, axis=1, exclusive=True),
    "sums_after": lambda x: ops.cumsum(x, axis=0, exclusive=True, reverse=True),
    "sums": lambda x: ops.cumsum(x, axis=1),
}
SOFTMAX = {"logsoftmax": ops.logsoftmax, "softmax": ops.softmax}
HALF, FLOATS = DType.float16, (DType.float32, DType.float64)
MADE = [
    *((name, dtype, body) for name, body in SUMS.items() for dtype in (HALF, *FLOATS, DType.int64)),
    *((name, dtype, body) for name, body in SOFTMAX.items() for dtype in (HALF, *FLOATS)),
]


@pytest.mark.parametrize("n", [3, 64])
@pytest.mark.parametrize(("name", "dtype", "body"), MADE, ids=[f"{name}-{dtype}" for name, dtype, _ in MADE])
def test_a_buffer_gets_what_is_made_of_it(name: str, body: Any, n: int, dtype: DType) -> None:
    """Kernels that are safe with one attribute or element type, and not with another."""
    with Graph(name, input_types=[BufferType(dtype, [n, n], DeviceRef.CPU())], input_names=["b"]) as graph:
        b = graph.inputs[0].buffer
        b[...] = body(b[...])
        graph.output()
    model = InferenceSession(cache=False).load(graph)
    memory = np.random.default_rng(0).uniform(0, 4, (n, n)).astype(dtype.to_numpy())
    expected = {"b": memory.copy()}
    Interpreter(graph).run({}, expected)
    model.execute(memory)
    tolerance = 2e-2 if dtype is DType.float16 else 1e-5
    np.testing.assert_allclose(memory, expected["b"], rtol=tolerance, atol=tolerance)
    assert model.plan is not None
    assert model.plan["b"].mode in (Mode.IN_PLACE, Mode.WRITTEN_THROUGH)


@ROWS
def test_every_operand_of_a_row_is_tested(row: Kernel) -> None:
    tested = {at for case in cases_of(row, Draw(3, row.types[0])) for at, x in enumerate(case.operands) if x is None}
    assert tested >= row.operands


def test_sizes_reach_beyond_small_operands() -> None:
    assert min(SIZES) == 1
    assert max(SIZES) >= 512


def test_every_row_names_an_operator() -> None:
    for domain, op_type, _ in IN_PLACE:
        assert domain == MS or onnx.defs.has(op_type, domain), op_type
