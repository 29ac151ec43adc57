"""Random numbers: determined by the seed, distributed as they say, and refused without a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import GraphTypeError, NoSeedError, TypeRuleError
from maxgraph.graph import DeviceRef, Graph, TensorType, ops
from maxgraph.graph.ops.random_ import mixed_now

CPU = DeviceRef.CPU()
MANY = TensorType(DType.float32, [200, 500], CPU)


def drawn(body: Callable[[], Any], seed: int = 3) -> list[np.ndarray[Any, Any]]:
    with Graph("g") as graph:
        ops.random.set_seed(seed)
        graph.output(*body())
    found, wanted = (
        [r.to_numpy() for r in InferenceSession().load(graph, reference=reference).execute()]
        for reference in (False, True)
    )
    for one, other in zip(found, wanted, strict=True):
        tolerance = 1e-3 if one.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(one.astype(float), other.astype(float), rtol=tolerance, atol=tolerance)
    return found


def test_the_generator_is_the_published_one() -> None:
    state = np.uint64(0x9E3779B97F4A7C15) * np.arange(1, 4, dtype=np.uint64)
    assert [hex(z) for z in mixed_now(state)] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4", "0x6c45d188009454f"]


def test_distributions() -> None:
    share, wide, bell, moved = drawn(
        lambda: [
            ops.random.uniform(MANY),
            ops.random.uniform(MANY, (-2, 6)),
            ops.random.normal(MANY),
            ops.random.gaussian(MANY, 5, 0.5),
        ]
    )
    assert 0 <= share.min() < 1e-3
    assert 1 - 1e-3 < share.max() < 1
    assert np.histogram(share, 10, (0, 1))[0] == pytest.approx(np.full(10, 10_000), rel=0.05)
    assert (wide.mean(), wide.std()) == pytest.approx((2, 8 / 12**0.5), rel=0.02)
    assert (bell.mean(), bell.std()) == pytest.approx((0, 1), abs=0.02)
    assert (bell**4).mean() == pytest.approx(3, rel=0.05)
    assert (moved.mean(), moved.std()) == pytest.approx((5, 0.5), abs=0.02)
    for other in (share[:, ::-1], wide, bell, moved):
        assert abs(np.corrcoef(share.ravel(), other.ravel())[0, 1]) < 0.02


def test_tensor_k_of_seed_s_is_the_first_of_seed_s_plus_k() -> None:
    first, second = drawn(lambda: [ops.random.uniform(MANY), ops.random.uniform(MANY)], 3)
    (next_first,) = drawn(lambda: [ops.random.uniform(MANY)], 4)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(second, next_first)


@pytest.mark.parametrize("dtype", [DType.float16, DType.float32, DType.float64])
def test_every_share_is_below_one(dtype: DType) -> None:
    shares, bell = drawn(lambda: [f(MANY.cast(dtype)) for f in (ops.random.uniform, ops.random.normal)])
    assert shares.dtype == dtype.to_numpy()
    assert 0 <= shares.min() < shares.max() < 1
    assert np.isfinite(bell).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_seed_that_is_an_input(threads: int) -> None:
    types = [ops.random.SeedType(CPU), TensorType(DType.float32, ["n", 3], CPU)]
    with Graph("g", input_types=types) as graph:
        ops.random.set_seed(graph.inputs[0].tensor)
        like = graph.inputs[1].tensor.type
        graph.output(ops.random.uniform(like, (0, 2)), ops.random.normal(like))
    model = InferenceSession(num_threads=threads).load(graph)

    def run(seed: int) -> list[np.ndarray[Any, Any]]:
        given = np.array([seed], np.uint64), np.zeros((4, 3), np.float32)
        return [r.to_numpy() for r in model.execute(*given)]

    once, again, other = run(7), run(7), run(2**64 - 1)
    for one, same, different in zip(once, again, other, strict=True):
        assert one.shape == (4, 3)
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, different)
    constant = drawn(lambda: [ops.random.uniform(TensorType(DType.float32, [4, 3], CPU), (0, 2))], 7)
    np.testing.assert_array_equal(once[0], constant[0])


def test_bounds_that_are_tensors() -> None:
    def body() -> list[Any]:
        low, high = (ops.constant(v, DType.float32, CPU) for v in (10.0, 12.0))
        return [ops.random.uniform(MANY, (low, high)), ops.random.uniform(MANY, (low, 11))]

    wide, narrow = drawn(body)
    assert wide.mean() == pytest.approx(11, abs=0.02)
    assert narrow.mean() == pytest.approx(10.5, abs=0.02)


def test_refusals() -> None:
    with Graph("g", input_types=[TensorType(DType.int32, [1], CPU)]) as graph:
        with pytest.raises(NoSeedError, match="no seed") as raised:
            ops.random.uniform(MANY)
        assert isinstance(raised.value, RuntimeError)
        assert raised.value.where is not None
        assert raised.value.where.file == __file__
        with pytest.raises(TypeRuleError, match="one int64 or uint64"):
            ops.random.set_seed(graph.inputs[0].tensor)
        ops.random.set_seed(1)
        with pytest.raises(TypeRuleError, match="not int32"):
            ops.random.normal(MANY.cast(DType.int32))
        with pytest.raises(GraphTypeError, match="TensorType"):
            ops.random.normal([3])  # type: ignore[arg-type]
        graph.output(graph.inputs[0])
