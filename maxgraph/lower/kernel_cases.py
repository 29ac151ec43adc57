"""Operands that test a kernel over its own input, for every way in which a row of the table allows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .kernels import Kernel

__all__ = ["Case", "Draw", "cases_of"]

Array = np.ndarray[Any, Any]
_REDUCTIONS = ("none", "add", "mul", "max")


@dataclass(frozen=True)
class Case:
    """One call of a kernel.

    Attributes:
        operands: None stands for the buffer.
        shape: The buffer's shape.
    """

    operands: list[Array | None]
    shape: tuple[int, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)


class Draw:
    """Random operands of one size and element type."""

    def __init__(self, n: int, dtype: str, seed: int = 0) -> None:
        self.n, self.dtype = n, np.dtype(dtype)
        self.rng = np.random.default_rng(seed)

    @property
    def square(self) -> tuple[int, int]:
        """The shape of most buffers."""
        return self.n, self.n

    def __call__(self, *shape: int) -> Array:
        """Numbers that every kernel takes: above 0, floats below 1."""
        if self.dtype.kind == "b":
            return self.rng.integers(0, 2, shape).astype(np.bool_)
        if self.dtype.kind in "iu":
            return self.rng.integers(1, 5, shape).astype(self.dtype)
        return self.rng.uniform(0.1, 0.9, shape).astype(self.dtype)

    def mask(self, *shape: int) -> Array:
        """Booleans, whatever the element type."""
        return self.rng.integers(0, 2, shape).astype(np.bool_)


def cases_of(row: Kernel, draw: Draw) -> list[Case]:
    """The calls that test a row."""
    if row.op_type == "GroupQueryAttention":
        return _cached_attention(min(row.operands), draw)
    special = _SPECIAL.get(row.op_type)
    if special is not None:
        return special(draw)
    n, square = draw.n, draw.square
    if len(row.operands) == 1:
        return [Case([None], square)]
    attributes = {"fmod": 1} if row.op_type == "Mod" and draw.dtype.kind == "f" else {}
    others = [draw(n, n), draw(n), draw(n, 1), draw(1, 1)]
    found = [Case(operands, square, attributes) for x in others for operands in ([None, x], [x, None])]
    return [*found, Case([None, None], square, attributes)]


def _where(draw: Draw) -> list[Case]:
    n, square = draw.n, draw.square
    return [
        Case([draw.mask(n, n), None, draw(n, n)], square),
        Case([draw.mask(n), None, draw(1, 1)], square),
        Case([draw.mask(n, n), draw(n), None], square),
        Case([draw.mask(n, 1), None, None], square),
    ]


def _clip(draw: Draw) -> list[Case]:
    low, high = (2, 3) if draw.dtype.kind in "iu" else (0.3, 0.6)
    return [Case([None, np.array(low, draw.dtype), np.array(high, draw.dtype)], draw.square), Case([None], draw.square)]


def _cumsum(draw: Draw) -> list[Case]:
    ways = [(axis, reverse) for axis in (0, 1) for reverse in (0, 1)]
    return [Case([None, np.array(axis, np.int32)], draw.square, {"reverse": reverse}) for axis, reverse in ways]


def _along_axes(draw: Draw) -> list[Case]:
    return [
        *(Case([None], draw.square, {"axis": axis}) for axis in (0, 1)),
        Case([None], (2, *draw.square), {"axis": 1}),
    ]


def _gemm(draw: Draw) -> list[Case]:
    a, b = draw(*draw.square), draw(*draw.square)
    ways: list[dict[str, Any]] = [{}, {"transB": 1, "alpha": 0.5, "beta": 0.7}, {"transA": 1}]
    return [Case([a, b, None], draw.square, way) for way in ways]


def _reductions(draw: Draw) -> tuple[str, ...]:
    return _REDUCTIONS if draw.dtype.name in ("float32", "float64", "int32", "int64") else ("none",)


def _scatter_nd(draw: Draw) -> list[Case]:
    rows = draw.rng.permutation(draw.n)[: max(1, draw.n // 2)].reshape(-1, 1)
    updates = draw(len(rows), draw.n)
    return [Case([None, rows, updates], draw.square, {"reduction": way}) for way in _reductions(draw)]


def _scatter_elements(draw: Draw) -> list[Case]:
    n = draw.n
    first = [Case([None, np.zeros((1, n), np.int64), draw(1, n)], draw.square)]
    places = draw.rng.permuted(np.tile(np.arange(n), (n, 1)), axis=1)
    all_of_them = [None, places, draw(n, n)]
    return first + [Case(all_of_them, draw.square, {"axis": 1, "reduction": way}) for way in _reductions(draw)]


def _tensor_scatter(draw: Draw) -> list[Case]:
    n, whole = draw.n, (1, *draw.square)
    return [
        Case([None, draw(1, 1, n), np.array([n - 1])], whole, {"axis": 1}),
        Case([None, draw(*whole), np.array([0])], whole, {"axis": 1}),
    ]


def _several(draw: Draw) -> list[Case]:
    n, square = draw.n, draw.square
    return [
        Case([None], square),
        Case([None, draw(n)], square),
        Case([draw(n, 1), None], square),
        Case([draw(1, 1), None, draw(n, n)], square),
        Case([None, None, draw(n)], square),
    ]


def _layer_norm(draw: Draw) -> list[Case]:
    n, square = draw.n, draw.square
    last = [Case([None, draw(n)], square, {"axis": -1}), Case([None, draw(n), draw(n)], square, {"axis": -1})]
    return [*last, Case([None, draw(n, n), draw(n, n)], square, {"axis": 0})]


def _rms_norm(draw: Draw) -> list[Case]:
    n, square = draw.n, draw.square
    return [Case([None, draw(n)], square, {"axis": -1}), Case([None, draw(n, n)], square, {"axis": 0})]


def _prelu(draw: Draw) -> list[Case]:
    n = draw.n
    return [Case([None, slope], draw.square) for slope in (draw(n, n), draw(n), draw(n, 1), draw(1, 1))]


def _trilu(draw: Draw) -> list[Case]:
    ways = [(upper, diagonal) for upper in (0, 1) for diagonal in (-1, 0, 1)]
    return [Case([None, np.array(diagonal)], draw.square, {"upper": upper}) for upper, diagonal in ways]


def _cached_attention(operand: int, draw: Draw) -> list[Case]:
    """Steps that fill the caches, for elsewhere the kernel promises nothing of what lies behind in memory apart."""
    found = []
    for width, stored, batch, way in (
        (8, 1, 1, {}),
        (64, 1, 1, {"softcap": 2.0}),
        (8, draw.n, 1, {}),
        (16, (draw.n + 1) // 2, 1, {"local_window_size": 2}),
        (16, 1, 2, {"do_rotary": 1}),
    ):
        heads, groups = 4, 2
        rows = [draw(batch, stored, count * width) for count in (heads, groups, groups)]
        caches: list[Array | None] = [draw(batch, groups, draw.n, width) for _ in range(2)]
        caches[operand - 3] = None
        lengths = [np.full(batch, draw.n - 1, np.int32), np.array(draw.n, np.int32)]
        turns = [draw(draw.n, width // 2) for _ in range(2)] if "do_rotary" in way else []
        sizes = {"num_heads": heads, "kv_num_heads": groups}
        shape = (batch, groups, draw.n, width)
        found.append(Case([*rows, *caches, *lengths, *turns], shape, {**sizes, **way}))
    return found


_SPECIAL: dict[str, Callable[[Draw], list[Case]]] = {
    "Where": _where,
    "Clip": _clip,
    "CumSum": _cumsum,
    "Softmax": _along_axes,
    "Gemm": _gemm,
    "ScatterND": _scatter_nd,
    "ScatterElements": _scatter_elements,
    "TensorScatter": _tensor_scatter,
    "Sum": _several,
    "Mean": _several,
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _rms_norm,
    "PRelu": _prelu,
    "Trilu": _trilu,
    "BiasGelu": lambda draw: [Case([None, draw(draw.n)], draw.square)],
    "Reshape": lambda draw: [Case([None, np.array(draw.square)], draw.square)],
    "Unsqueeze": lambda draw: [Case([None, np.array([0])], draw.square)],
    "Squeeze": lambda draw: [Case([None, np.array([0])], (1, *draw.square))],
}
