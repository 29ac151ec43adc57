"""Every op on every element type that its rule accepts, on ordinary and on extreme elements.

The samples beside an op show what it is for; here no dtype is forgotten. What must agree with the interpreter is the
bits of ints at both ends of their range, and NaN, infinities and zeros of floats.
"""

from __future__ import annotations

import contextlib
import io
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.errors import TypeRuleError
from maxgraph.graph.ops.registry import REGISTRY, Op
from maxgraph.graph.ops.samples import Sample, Spec
from maxgraph.lower import lower
from maxgraph.reference import Interpreter
from tests.lower.runner import Runner
from tests.ops.test_samples import build, has_bfloat16, same, specs_of

# The small floats have no arithmetic on any runtime; `tests/runtime` has them as values.
DTYPES = [dtype for dtype in DType if dtype.size_in_bits >= 8 and not dtype.is_float8()]
SPECIAL = [float("nan"), float("inf"), -float("inf"), -0.0, 1e-30]
# Integer powers are exact only while they fit (see `pow`); an infinity makes `logsoftmax` of its row meaningless, and
# the single- and double-precision kernels differ in how they say so.
ORDINARY_ONLY = {"pow", "logsoftmax"}


def _elements(dtype: DType, count: int, extreme: bool, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    kind = dtype.to_numpy()
    if dtype is DType.bool:
        return rng.integers(0, 2, count).astype(kind)
    if not dtype.is_integral():
        values = rng.uniform(0.1, 3, count)
        if extreme:
            values[: len(SPECIAL)] = SPECIAL[:count]
        return rng.permuted(values).astype(kind)
    if not extreme:
        return rng.integers(0, 5, count).astype(kind)
    info = np.iinfo(kind)
    values = rng.integers(info.min, info.max, count, dtype=kind, endpoint=True)
    values[:2] = [info.min, info.max][:count]
    return rng.permuted(values)


def _variant(sample: Sample, dtype: DType, extreme: bool, rng: np.random.Generator) -> Sample:
    """The sample with every operand that has the first one's dtype in another."""
    old = specs_of(sample)[0].dtype

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(v) for v in value]
        if not isinstance(value, Spec) or value.dtype is not old:
            return value
        count = int(np.prod([int(d.partition(":")[2]) if isinstance(d, str) else d for d in value.dims]))
        return replace(value, dtype=dtype, values=_elements(dtype, count, extreme, rng))

    return {name: moved(value) for name, value in sample.items()}


def _plain(made: Op[..., Any]) -> Sample | None:
    """The first sample whose operands may have any elements."""
    for sample in made.cases:
        specs = specs_of(sample)
        if specs and specs[0].values is None and all(v.values is None or v.dtype is not specs[0].dtype for v in specs):
            return sample
    return None


OPS = [made for made in REGISTRY.values() if _plain(made) is not None]


@pytest.mark.parametrize("made", OPS, ids=lambda made: made.name)
def test_every_dtype_agrees_with_the_interpreter(made: Op[..., Any]) -> None:
    rng = np.random.default_rng(zlib.crc32(made.name.encode()))
    sample = _plain(made)
    assert sample is not None
    accepted = []
    for dtype in DTYPES:
        for extreme in (False, True):
            if extreme and made.name in ORDINARY_ONLY:
                continue
            if dtype is DType.bfloat16 and any(spec.is_buffer for spec in specs_of(sample)):
                continue  # the runner cannot bind it
            variant = _variant(sample, dtype, extreme, rng)
            try:
                graph, inputs, buffers = build(made, variant)
            except TypeRuleError:
                continue
            accepted.append(dtype)
            expected_buffers = {name: array.copy() for name, array in buffers.items()}
            with contextlib.redirect_stdout(io.StringIO()):
                expected = Interpreter(graph).run(inputs, expected_buffers)
            actual = Runner(lower(graph)).run(inputs, buffers)
            rounded_to = "bfloat16" if has_bfloat16(variant) else None
            for name, array in expected.items():
                same(actual[name], array, rounded_to)
            for name, array in expected_buffers.items():
                same(buffers[name], array)
    assert accepted
