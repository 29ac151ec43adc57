"""Symbolic sizes as values of the ONNX graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..dtype import DType
from ..graph.dim import Dim
from ..graph.ops.emitter import Handle
from ..graph.polynomial import FloorDiv, Polynomial
from ..graph.shape import Shape
from ..graph.type import static_dim

if TYPE_CHECKING:
    from .emit import GraphEmitter

__all__ = ["Sizes"]


class Sizes:
    """Where each symbol's size comes from: an axis of an input, or of a result whose size depends on data."""

    def __init__(self, emitter: GraphEmitter) -> None:
        self._emitter = emitter
        self._sources: dict[str, tuple[Handle, int]] = {}
        self._values: dict[Dim, Handle] = {}
        self._vectors: dict[Shape, Handle] = {}

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is noted and computed inside a subgraph is not known outside."""
        kept = self._sources, self._values, self._vectors
        self._sources, self._values, self._vectors = dict(kept[0]), dict(kept[1]), dict(kept[2])
        try:
            yield
        finally:
            self._sources, self._values, self._vectors = kept

    def bind(self, handle: Handle) -> None:
        """Notes the symbols that the shape of a value names for the first time."""
        for axis, dim in enumerate(handle.shape):
            name = dim.polynomial.name
            if name is not None:
                self._sources.setdefault(name, (handle, axis))

    def knows(self, dim: Dim) -> bool:
        """Whether all symbols of a dim have a source by now."""
        return all(symbol.name in self._sources for symbol in dim.parameters)

    def vector(self, shape: Shape) -> Handle:
        """The sizes of dims as an int64 vector."""
        sizes = [static_dim(dim) for dim in shape]
        if all(size is not None for size in sizes):
            return self._emitter.constant(sizes if sizes else self._empty())
        known = self._vectors.get(shape)
        if known is None:
            parts = [self.value(dim) for dim in shape]
            known = self._vectors[shape] = (
                parts[0]
                if len(parts) == 1
                else self._emitter.node("Concat", *parts, axis=0, dtype=DType.int64, shape=Shape([len(parts)]))
            )
        return known

    @staticmethod
    def _empty() -> object:
        import numpy as np

        return np.zeros(0, np.int64)

    def value(self, dim: Dim) -> Handle:
        """One size as an int64 vector of one element."""
        size = static_dim(dim)
        if size is not None:
            return self._emitter.constant([size])
        known = self._values.get(dim)
        if known is None:
            known = self._values[dim] = self._compute(dim.polynomial)
        return known

    def _compute(self, poly: Polynomial) -> Handle:
        emitter = self._emitter
        if poly.name is not None:
            if poly.name not in self._sources:
                raise emitter.refuse(
                    f"the size of `{poly.name}` cannot be told from any input",
                    help="make it the size of an axis of an input",
                )
            source, axis = self._sources[poly.name]
            return emitter.node(
                "Shape", source, start=axis, end=axis + 1, dtype=DType.int64, shape=Shape([1]), since=18
            )
        total: Handle | None = None
        for monomial, coefficient in poly.terms:
            product: Handle | None = None
            for factor in monomial:
                value = self._floor_div(factor) if isinstance(factor, FloorDiv) else self.value(Dim(factor))
                product = value if product is None else emitter.node("Mul", product, value)
            if product is None:
                product = emitter.constant([coefficient])
            elif coefficient != 1:
                product = emitter.node("Mul", product, emitter.constant([coefficient]))
            total = product if total is None else emitter.node("Add", total, product)
        return total if total is not None else emitter.constant([0])

    def _floor_div(self, factor: FloorDiv) -> Handle:
        """``(a - a mod b) / b``: exact, and rounding down whatever the signs (ONNX's integer Div truncates)."""
        emitter = self._emitter
        a, b = self._compute_part(factor.numerator), self._compute_part(factor.denominator)
        return emitter.node("Div", emitter.node("Sub", a, emitter.node("Mod", a, b)), b)

    def _compute_part(self, poly: Polynomial) -> Handle:
        value = poly.value
        return self._emitter.constant([value]) if value is not None else self._compute(poly)
