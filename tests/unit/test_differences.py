"""Arrays compared place by place: against the definition, written as a loop over Python numbers."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from maxgraph.compare import Tolerance, difference

DTYPES = ["float16", "float32", "float64", "int8", "int64", "uint8", "uint64", "bool"]
SMALL = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"]


def arrays(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    dtype = np.dtype(getattr(ml_dtypes, name)) if name in SMALL else np.dtype(name)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, (3, 5), dtype, endpoint=True)
        b = np.where(rng.random((3, 5)) < 0.5, a, rng.integers(info.min, info.max, (3, 5), dtype, endpoint=True))
    else:
        a = rng.normal(size=(3, 5)).astype(dtype)
        b = np.where(rng.random((3, 5)) < 0.5, a, rng.normal(size=(3, 5)).astype(dtype))
    return a, b


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", DTYPES + SMALL)
def test_it_says_what_the_definition_says(name: str, seed: int) -> None:
    a, b = arrays(name, seed)
    tolerance = Tolerance(*[(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.25, 0.125)][seed])
    plain = [int if a.dtype.kind in "iu" else float] * 2
    pairs = [(plain[0](x), plain[1](y)) for x, y in zip(a.reshape(-1), b.reshape(-1), strict=True)]
    apart = [abs(x - y) for x, y in pairs]
    failing = [d > tolerance.atol + tolerance.rtol * abs(y) for d, (_, y) in zip(apart, pairs, strict=True)]
    found = difference(a, b, tolerance)
    assert (found.ok, found.failing) == (not any(failing), sum(failing))
    assert found.special is None
    if max(apart) == 0:
        assert found.most is None
    else:
        assert found.most is not None
        assert found.most.amount == float(max(apart))
        at = int(np.ravel_multi_index(found.most.index, a.shape))
        assert (found.most.actual, found.most.expected) == pairs[at]


@pytest.mark.parametrize("seed", range(50))
def test_the_least_tolerance_passes_and_the_next_smaller_number_does_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.normal(size=(4, 4)) * 10.0 ** rng.integers(-8, 8, (4, 4)) for _ in range(2))
    start = Tolerance(rtol=float(rng.choice([0, 1e-3])), atol=float(rng.choice([0, 1e-6])))
    found = difference(a, b, start)
    assert found.least_rtol is not None
    assert found.least_atol is not None
    for least, made in (
        (found.least_rtol, lambda v: Tolerance(v, start.atol)),
        (found.least_atol, lambda v: Tolerance(start.rtol, v)),
    ):
        assert difference(a, b, made(least)).ok
        assert not difference(a, b, made(least * (1 - 1e-12))).ok


def test_no_rtol_bridges_a_zero() -> None:
    found = difference(np.array([1.0]), np.array([0.0]), Tolerance())
    assert (found.least_rtol, found.least_atol, found.relative) == (None, 1.0, None)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 1)])
def test_every_shape(shape: tuple[int, ...]) -> None:
    assert difference(np.zeros(shape), np.zeros(shape), Tolerance()).ok
    if math.prod(shape):
        found = difference(np.ones(shape), np.zeros(shape), Tolerance())
        assert found.most is not None
        assert found.most.index == (0,) * len(shape)


@pytest.mark.parametrize("low", [-(2**63), 2**62, 0])
def test_the_last_bit_of_an_int_counts(low: int) -> None:
    dtype = np.int64
    assert not difference(np.array([low + 1], dtype), np.array([low], dtype), Tolerance()).ok
    wide = difference(np.array([2**63 - 1], dtype), np.array([-(2**63)], dtype), Tolerance())
    assert wide.most is not None
    assert wide.most.amount == float(2**64 - 1)
