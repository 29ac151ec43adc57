"""From the header's symbols, floor divisions and dim expressions to dims."""

from __future__ import annotations

import re

from ..graph.dim import Dim, dim_of
from ..graph.polynomial import FloorDiv, Monomial, Polynomial
from ..v1 import model_pb2, types_pb2
from . import features
from .checks import FirstUse
from .dims import factors_in_order
from .errors import escaped, fail, need
from .limits import Limits

__all__ = ["DimTable"]

_SYMBOL = re.compile(r"[A-Za-z_]\w{0,255}", re.ASCII)
_MAX_SIZE = 2**63 - 1


class DimTable:
    """The symbols and floor divisions of a model.

    The values of all divisions are computed first: each may only name earlier ones, so nothing recurs. That they are
    numbered in order of first use is checked when a dim is used.

    Attributes:
        used: The features that the dims need.
    """

    def __init__(self, model: model_pb2.Model, limits: Limits) -> None:
        self._limits = limits
        self.used: set[str] = set()
        self._names = [symbol.name for symbol in model.symbols]
        for symbol in model.symbols:
            need(_SYMBOL.fullmatch(symbol.name) is not None, "MGT01", f"`{escaped(symbol.name)}` cannot name a symbol")
            constrained = symbol.min or symbol.HasField("max") or symbol.multiple_of
            need(not constrained, "MGT01", f"symbol `{escaped(symbol.name)}` has constraints, which this version lacks")
        self._indices = {name: index for index, name in enumerate(self._names)}
        need(len(self._indices) == len(self._names), "MGT01", "a symbol appears twice")
        self._symbols = FirstUse(len(model.symbols), "MGT01", "symbol")
        self._divisions: list[FloorDiv] = []
        self._sizes: list[tuple[int, int]] = []  # of each division: factors, depth
        self._division_indices: dict[FloorDiv, int] = {}
        for entry in model.floor_divs:
            self._add_division(entry)
        self._division_uses = FirstUse(len(model.floor_divs), "MGT07", "floor division")
        self._known: dict[bytes, Dim] = {}

    def dim(self, dim: types_pb2.Dim) -> Dim:
        """One dim.

        Raises:
            FormatError: It is not in its normal form, too large, or out of order.
        """
        kind = dim.WhichOneof("kind")
        if kind == "size":
            need(dim.size <= _MAX_SIZE, "MGT07", f"a dim of size {dim.size}")
            return Dim(dim.size)
        if kind == "symbol":
            self._symbols.use(dim.symbol, "MGT07")
            return Dim(self._names[dim.symbol])
        if kind is None:
            fail("MGT07", "a dim without a kind")
        key = dim.expr.SerializeToString(deterministic=True)
        known = self._known.get(key)
        if known is None:
            self.used.add(features.DIM_EXPR)
            self._measure(dim.expr)
            poly = self._expression(dim.expr)
            need(poly.name is None and (poly.value is None or poly.value < 0), "MGT07", "an expression of a plain dim")
            self._use(poly)
            known = self._known[key] = dim_of(poly)
        return known

    def finish(self) -> None:
        """Raises where an entry was never used."""
        self._symbols.finish("MGT01")
        self._division_uses.finish("MGT07")

    def _use(self, poly: Polynomial) -> None:
        for factor in factors_in_order(poly):
            if isinstance(factor, str):
                self._symbols.use(self._indices[factor], "MGT07")
            else:
                self._division_uses.use(self._division_indices[factor], "MGT07")

    def _add_division(self, entry: types_pb2.FloorDiv) -> None:
        parts = (self._measure(entry.numerator), self._measure(entry.denominator))
        size, depth = 1 + sum(s for s, _ in parts), 1 + max(d for _, d in parts)
        need(size <= self._limits.dim_size and depth <= self._limits.dim_depth, "MGT07", "a floor division too large")
        numerator, denominator = self._expression(entry.numerator), self._expression(entry.denominator)
        need(denominator.value != 0, "MGT07", "a division by zero")
        division = FloorDiv(numerator, denominator)
        irreducible = numerator // denominator == Polynomial.division(division)
        need(irreducible, "MGT07", "a floor division that can be resolved")
        need(division not in self._division_indices, "MGT07", "a floor division appears twice")
        self.used.add(features.DIM_FLOORDIV)
        self._division_indices[division] = len(self._divisions)
        self._divisions.append(division)
        self._sizes.append((size, depth))

    def _measure(self, expr: types_pb2.DimExpr) -> tuple[int, int]:
        """How many factors an expression has, divisions written out, and how deep it is.

        Raises:
            FormatError: It names a division that does not come before it, or is over a limit.
        """
        limits = self._limits
        need(len(expr.monomials) <= limits.dim_terms, "MGT07", "a dim expression with too many terms")
        size, depth = 0, 0
        for monomial in expr.monomials:
            degree = len(monomial.symbols) + len(monomial.floor_divs)
            need(1 <= degree <= limits.dim_degree, "MGT07", f"a term of degree {degree}")
            need(all(s < len(self._names) for s in monomial.symbols), "MGT07", "a symbol index is out of range")
            size += len(monomial.symbols)
            for index in monomial.floor_divs:
                need(index < len(self._sizes), "MGT07", f"floor division {index} is not defined at this place")
                size += self._sizes[index][0]
                depth = max(depth, self._sizes[index][1])
        need(size <= limits.dim_size, "MGT07", "a dim expression too large")
        return size, depth

    def _expression(self, expr: types_pb2.DimExpr) -> Polynomial:
        """An expression that was measured; it must be the normal form, sorted."""
        terms: dict[Monomial, int] = {(): expr.constant} if expr.constant else {}
        keys = []
        for monomial in expr.monomials:
            symbols, divisions = list(monomial.symbols), list(monomial.floor_divs)
            need(symbols == sorted(symbols) and divisions == sorted(divisions), "MGT07", "factors are not sorted")
            need(monomial.coefficient != 0, "MGT07", "a term of zero")
            keys.append((len(symbols) + len(divisions), symbols, divisions))
            product = Polynomial.constant(monomial.coefficient)
            for symbol in symbols:
                product = product * Polynomial.symbol(self._names[symbol])
            for index in divisions:
                product = product * Polynomial.division(self._divisions[index])
            ((factors, coefficient),) = product.terms
            terms[factors] = coefficient
        need(keys == sorted(keys) and len(terms) == len(keys) + bool(expr.constant), "MGT07", "terms are not sorted")
        return Polynomial.of(terms)
