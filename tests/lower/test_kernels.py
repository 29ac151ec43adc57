"""The self-test of the allow-list: every row is right here, and the test sees one that is not."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from maxgraph.lower import selftest
from maxgraph.lower.kernels import IN_PLACE, Kernel
from maxgraph.lower.selftest import SIZES, cases, failing_rows, wrong_at

CPU = "CPUExecutionProvider"


@pytest.mark.parametrize("row", IN_PLACE.values(), ids=lambda row: row.op_type)
def test_a_row_of_the_allow_list_is_right_over_its_own_input(row: Kernel) -> None:
    wrong = wrong_at(row, CPU)
    assert wrong is None, f"wrong at size {wrong[0]} with {wrong[1]} threads"


@pytest.mark.parametrize("operand", [0, 1])
def test_the_test_sees_a_kernel_that_is_not_safe(operand: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A MatMul over its own input is wrong, though right on small operands."""
    row = Kernel("MatMul", frozenset({operand}))

    def product(row: Kernel, n: int, rng: np.random.Generator) -> list[selftest.Case]:
        other = rng.uniform(0.1, 0.9, (n, n)).astype(np.float32)
        return [([None, other] if operand == 0 else [other, None], (n, n))]

    monkeypatch.setattr(selftest, "cases", product)
    assert wrong_at(row, CPU, sizes=[1]) is None
    assert wrong_at(row, CPU) is not None
    monkeypatch.setattr(selftest, "IN_PLACE", {("", "MatMul"): row})
    assert failing_rows(CPU) == (1, ["MatMul"])


@pytest.mark.parametrize("row", IN_PLACE.values(), ids=lambda row: row.op_type)
def test_every_operand_of_a_row_is_tested(row: Kernel) -> None:
    tested = {
        at for operands, _ in cases(row, 3, np.random.default_rng(0)) for at, x in enumerate(operands) if x is None
    }
    assert tested == row.operands


def test_sizes_reach_beyond_small_operands() -> None:
    assert min(SIZES) == 1
    assert max(SIZES) >= 512


def test_every_row_names_an_onnx_operator() -> None:
    for domain, op_type in IN_PLACE:
        assert onnx.defs.has(op_type, domain), op_type
