"""Meanings that the interpreter itself could have wrong, against other formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.errors import ExecutionError
from maxgraph.graph import DeviceRef, Graph, TensorType, ops
from maxgraph.graph.type import ConvInputLayout, FilterLayout

Array = np.ndarray[Any, Any]
CPU = DeviceRef.CPU()
F, INT = DType.float32, DType.int64


def run(body: Callable[..., Any], *arrays: Array, symbolic: bool = False) -> list[Array]:
    """What onnxruntime makes of it; the interpreter must agree."""
    types = [
        TensorType(DType.from_numpy(a.dtype), [f"d{i}{k}" if symbolic else n for k, n in enumerate(a.shape)], CPU)
        for i, a in enumerate(arrays)
    ]
    with Graph("g", input_types=types) as graph:
        result = body(*(value.tensor for value in graph.inputs))
        graph.output(*(result if isinstance(result, (list, tuple)) else [result]))
    found, wanted = (
        [r.to_numpy() for r in InferenceSession().load(graph, reference=reference).execute(*arrays)]
        for reference in (False, True)
    )
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one.astype(np.float64), other.astype(np.float64), rtol=1e-4, atol=1e-5)
    return found


RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 6)).astype(np.float32)
NHWC = RNG.normal(size=(2, 5, 6, 4)).astype(np.float32)


def loops(x: Array, w: Array, stride: int, pad: int) -> Array:
    """A convolution, element by element: x [n, h, w, c], w [r, s, c, f]."""
    x = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    rows, columns = ((size - k) // stride + 1 for size, k in zip(x.shape[1:3], w.shape[:2], strict=True))
    result = np.zeros((x.shape[0], rows, columns, w.shape[3]))
    for i in range(rows):
        for j in range(columns):
            window = x[:, i * stride : i * stride + w.shape[0], j * stride : j * stride + w.shape[1]]
            result[:, i, j] = np.einsum("nrsc,rscf->nf", window, w)
    return result


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("pad", [0, 1])
def test_a_convolution_in_each_layout(stride: int, pad: int) -> None:
    w = RNG.normal(size=(3, 2, 4, 5)).astype(np.float32)
    bias = RNG.normal(size=5).astype(np.float32)
    wanted = loops(NHWC, w, stride, pad) + bias
    window = {"stride": (stride, stride), "padding": (pad,) * 4}
    (found,) = run(lambda x, f, b: ops.conv2d(x, f, bias=b, **window), NHWC, w, bias)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    layouts = {"input_layout": ConvInputLayout.NCHW, "filter_layout": FilterLayout.FCRS}
    (found,) = run(
        lambda x, f, b: ops.conv2d(x, f, bias=b, **window, **layouts),
        np.ascontiguousarray(NHWC.transpose(0, 3, 1, 2)),
        np.ascontiguousarray(w.transpose(3, 2, 0, 1)),
        bias,
    )
    np.testing.assert_allclose(found.transpose(0, 2, 3, 1), wanted, rtol=1e-4, atol=1e-5)


def test_a_transposed_convolution_is_the_adjoint() -> None:
    """<conv(x), y> == <x, conv_transpose(y)> for every x and y."""
    w = RNG.normal(size=(3, 3, 4, 5)).astype(np.float32)
    window = {"stride": (2, 2), "padding": (1, 1, 1, 1)}
    x = RNG.normal(size=(2, 7, 7, 4)).astype(np.float32)
    (there,) = run(lambda a, f: ops.conv2d(a, f, **window), x, w)
    y = RNG.normal(size=there.shape).astype(np.float32)
    (back,) = run(lambda a, f: ops.conv2d_transpose(a, f, **window), y, w)
    np.testing.assert_allclose((there * y).sum(), (x * back).sum(), rtol=1e-4)


def test_pools() -> None:
    (largest, smaller, means, inside) = run(
        lambda x: [
            ops.max_pool2d(x, (2, 3), stride=2),
            ops.max_pool2d(x, (2, 2), stride=2, ceil_mode=True),
            ops.avg_pool2d(x, (3, 3), padding=1),
            ops.avg_pool2d(x, (3, 3), padding=1, count_boundary=False),
        ],
        NHWC,
    )
    np.testing.assert_allclose(largest[:, 1, 0], NHWC[:, 2:4, 0:3].max((1, 2)))
    assert largest.shape == (2, 2, 2, 4)
    assert smaller.shape == (2, 3, 3, 4)
    np.testing.assert_allclose(smaller[:, 2, 1], NHWC[:, 4:5, 2:4].max((1, 2)))
    np.testing.assert_allclose(means[:, 0, 0], NHWC[:, :2, :2].sum((1, 2)) / 9, rtol=1e-5)
    np.testing.assert_allclose(inside[:, 0, 0], NHWC[:, :2, :2].mean((1, 2)), rtol=1e-5)


def test_bands() -> None:
    lower, upper, band, outside = run(
        lambda x: [
            ops.band_part(x, None, 0),
            ops.band_part(x, 0, None),
            ops.band_part(x, 1, 2),
            ops.band_part(x, 1, 2, exclude=True),
        ],
        X,
    )
    np.testing.assert_array_equal(lower, np.tril(X))
    np.testing.assert_array_equal(upper, np.triu(X))
    np.testing.assert_array_equal(band, np.triu(np.tril(X, 2), -1))
    np.testing.assert_array_equal(band + outside, X)
    (kept,) = run(lambda x: ops.band_part(x, 0, 0), np.full((2, 2), np.nan, np.float32))
    assert kept[0, 1] == 0


def test_parts_and_repeats() -> None:
    a, b, c, tiled, repeated, flat = run(
        lambda x: [
            *ops.split(x, [1, 0, 5], axis=1),
            ops.tile(x, [2, 1]),
            ops.repeat_interleave(x, 2, axis=1),
            ops.repeat_interleave(x, 3),
        ],
        X,
    )
    np.testing.assert_array_equal(np.concatenate([a, b, c], 1), X)
    np.testing.assert_array_equal(tiled, np.concatenate([X, X]))
    np.testing.assert_array_equal(repeated, np.repeat(X, 2, 1))
    np.testing.assert_array_equal(flat, np.repeat(X, 3))
    for part, wanted in zip(run(lambda x: ops.chunk(x, 3, axis=-1), X), np.split(X, 3, 1), strict=True):
        np.testing.assert_array_equal(part, wanted)


@pytest.mark.parametrize("repeats", [[1, 0, 2, 3], [0, 0, 0, 0], [2]])
def test_repeats_from_a_tensor(repeats: list[int]) -> None:
    counts = np.array(repeats)
    (found,) = run(lambda x, n: ops.repeat_interleave(x, n, axis=0, out_dim="total"), X, counts)
    np.testing.assert_array_equal(found, np.repeat(X, np.broadcast_to(counts, 4), 0))
    with pytest.raises(ExecutionError, match="`out_dim`"):
        run(lambda x, n: ops.repeat_interleave(x, n, axis=0, out_dim=77), X, counts)


@pytest.mark.parametrize("symbolic", [False, True])
def test_where_elements_are(symbolic: bool) -> None:
    mask = X > 0.3
    places, replaced = run(
        lambda x, m: [ops.nonzero(m, "found"), ops.masked_scatter(x, ops.rebind(m, x.shape), x * 2, "found")],
        X,
        mask,
        symbolic=symbolic,
    )
    np.testing.assert_array_equal(places, np.argwhere(mask))
    wanted = X.copy()
    wanted[mask] = (X * 2).ravel()[: mask.sum()]
    np.testing.assert_array_equal(replaced, wanted)


def test_a_wrong_number_of_elements_is_refused_before_anything_is_made_of_them() -> None:
    with pytest.raises(ExecutionError, match=r"more or fewer|are not zero"):
        run(lambda m: ops.nonzero(m, 3) + 1, np.ones(5, bool))
    with pytest.raises(ExecutionError):
        run(lambda m: ops.masked_scatter(m, m > 0, m[:2], "k"), np.ones(5, np.float32))


def test_rebind_names_and_checks() -> None:
    def body(x: Any, y: Any) -> Any:
        return ops.rebind(x, ["rows", 6], "x") + ops.rebind(y, ["rows", 6], "y")

    (found,) = run(body, X, X, symbolic=True)
    np.testing.assert_array_equal(found, X + X)
    with pytest.raises(ExecutionError, match="y: axis 0"):
        run(body, X, X[:3], symbolic=True)
    with pytest.raises(ExecutionError, match="x: axis 1"):
        run(body, X[:, :5], X, symbolic=True)


def test_complex_products() -> None:
    a, b = RNG.normal(size=(2, 3, 8)).astype(np.float32)
    (found,) = run(lambda x, y: ops.complex.mul(ops.as_interleaved_complex(x), ops.as_interleaved_complex(y)), a, b)
    wanted = a.view(np.complex64) * b.view(np.complex64)
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], wanted, rtol=1e-4, atol=1e-5)


def test_windows() -> None:
    periodic, symmetric, one, none = run(
        lambda x: [ops.hann_window(n, CPU, periodic=p) for n, p in ((8, True), (8, False), (1, True), (0, True))],
        X,
    )
    np.testing.assert_allclose(periodic, np.hanning(9)[:8], atol=1e-6)
    np.testing.assert_allclose(symmetric, np.hanning(8), atol=1e-6)
    assert one.tolist() == [1]
    assert none.shape == (0,)


def test_orders() -> None:
    x = np.array([3, 1, 3, np.nan, -np.inf, 1, np.inf], np.float32)
    up, down = run(lambda v: [ops.argsort(v), ops.argsort(v, ascending=False)], x)
    assert up.tolist() == [4, 1, 5, 0, 2, 3, 6]
    assert down.tolist() == [3, 6, 0, 2, 1, 5, 4]
    values, indices = run(lambda v: ops.top_k(v, 2), X)
    np.testing.assert_array_equal(indices, np.argsort(-X, 1, kind="stable")[:, :2])
    np.testing.assert_array_equal(values, np.take_along_axis(X, indices, 1))


def test_norms() -> None:
    gamma, beta = RNG.normal(size=(2, 6)).astype(np.float32)
    layer, rms = run(lambda x, g, b: [ops.layer_norm(x, g, b, 1e-5), ops.rms_norm(x, g, 1e-6, 1.0)], X, gamma, beta)
    wide = X.astype(np.float64)
    np.testing.assert_allclose(
        layer,
        (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * gamma + beta,
        rtol=1e-4,
    )
    np.testing.assert_allclose(rms, wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6) * (gamma + 1), rtol=1e-4)
