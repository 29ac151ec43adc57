"""Which kernels of CUDA are right over their own input: the evidence for a row of an allow-list of CUDA's own.

There is no such list yet, so every changed buffer has a second memory there. A row may be added when its test here has
passed; ``make test-cuda`` names those that fail.
"""

from __future__ import annotations

import pytest

from maxgraph.driver.device import CUDA_PROVIDER, accelerator_count
from maxgraph.lower.kernels import IN_PLACE, Kernel
from maxgraph.lower.selftest import wrong_at
from maxgraph.lower.trust import distrust


@pytest.mark.cuda
@pytest.mark.parametrize("row", IN_PLACE.values(), ids=lambda row: row.op_type)
def test_a_kernel_over_its_own_input(row: Kernel) -> None:
    if not accelerator_count():
        pytest.skip("this onnxruntime has no CUDAExecutionProvider")
    wrong = wrong_at(row, CUDA_PROVIDER)
    if wrong is not None:
        pytest.xfail(f"wrong at size {wrong[0]}: it must not become a row")


def test_no_kernel_of_cuda_is_trusted_yet() -> None:
    assert distrust(CUDA_PROVIDER) == "no kernel of this provider is known to be safe"
