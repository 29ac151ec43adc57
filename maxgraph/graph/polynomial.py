"""Integer polynomials over named symbols, with floor division, in a normal form.

Two dimensions are equal when their normal forms are; text is never compared. A polynomial is a sum of monomials; a
monomial is an integer times a product of factors; a factor is a symbol or a floor division that could not be resolved.
Rules that make the form normal (all of them hold for every integer value of the symbols, divisors not zero):

- ``floor((d*A + B) / d) = A + floor(B / d)``, applied to each coefficient, so that what stays under a constant divisor
  has coefficients in ``0..d-1``;
- ``floor((g*B + r) / (g*d)) = floor(B / d)`` for ``0 <= r < g``;
- a divisor that is one monomial and divides each monomial of the numerator divides exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Union

__all__ = ["FloorDiv", "Monomial", "Polynomial"]

Factor = Union[str, "FloorDiv"]
Monomial = tuple[Factor, ...]


def _factor_key(factor: Factor) -> tuple[int, str]:
    return (0, factor) if isinstance(factor, str) else (1, str(factor))


def _monomial_key(monomial: Monomial) -> tuple[int, tuple[tuple[int, str], ...]]:
    return (-len(monomial), tuple(_factor_key(f) for f in monomial))


@dataclass(frozen=True)
class FloorDiv:
    """``floor(numerator / denominator)``, not reducible by the rules above."""

    numerator: Polynomial
    denominator: Polynomial

    def __str__(self) -> str:
        return f"({self.numerator}) // ({self.denominator})"


@dataclass(frozen=True)
class Polynomial:
    """A normal form. Build with `constant`, `symbol` and the operators, never with unsorted terms.

    Attributes:
        terms: ``(monomial, coefficient)``, sorted, coefficients not zero; the empty monomial is the constant.
    """

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def of(terms: Mapping[Monomial, int]) -> Polynomial:
        """The sum of coefficients times monomials, whose factors are sorted."""
        return Polynomial(tuple(sorted(((m, c) for m, c in terms.items() if c), key=lambda t: _monomial_key(t[0]))))

    @staticmethod
    def constant(value: int) -> Polynomial:
        """A polynomial without symbols."""
        return Polynomial.of({(): value})

    @staticmethod
    def symbol(name: str) -> Polynomial:
        """One symbol."""
        return Polynomial((((name,), 1),))

    @staticmethod
    def division(factor: FloorDiv) -> Polynomial:
        """One floor division that cannot be resolved."""
        return Polynomial((((factor,), 1),))

    @cached_property
    def value(self) -> int | None:
        """The integer, if there are no symbols."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    @cached_property
    def name(self) -> str | None:
        """The symbol, if it is nothing else."""
        if len(self.terms) == 1:
            (monomial, coefficient) = self.terms[0]
            if coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0], str):
                return monomial[0]
        return None

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Polynomial.of(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in other.terms:
                monomial = tuple(sorted((*m1, *m2), key=_factor_key))
                terms[monomial] = terms.get(monomial, 0) + c1 * c2
        return Polynomial.of(terms)

    def __floordiv__(self, other: Polynomial) -> Polynomial:
        if other.value == 0:
            raise ZeroDivisionError("a dimension is divided by zero")
        if other.value is not None and other.value < 0:
            return -self // -other
        exact = self._exact_quotient(other)
        if exact is not None:
            return exact
        if other.value is None:
            return Polynomial((((FloorDiv(self, other),), 1),))
        divisor = other.value
        whole = Polynomial.of({m: c // divisor for m, c in self.terms})
        rest = {m: c % divisor for m, c in self.terms if c % divisor}
        constant = rest.pop((), 0)
        if not rest:
            return whole
        common = gcd(divisor, *rest.values())
        rest = {m: c // common for m, c in rest.items()}
        rest[()] = constant // common
        divisor //= common
        if divisor == 1:
            return whole + Polynomial.of(rest)
        return whole + Polynomial((((FloorDiv(Polynomial.of(rest), Polynomial.constant(divisor)),), 1),))

    def _exact_quotient(self, other: Polynomial) -> Polynomial | None:
        """``self / other`` where `other` is one monomial that divides each of ours."""
        if self == other:
            return Polynomial.constant(1)
        if len(other.terms) != 1:
            return None
        ((divisor, coefficient),) = other.terms
        quotient: dict[Monomial, int] = {}
        for monomial, c in self.terms:
            left = list(monomial)
            for factor in divisor:
                if factor not in left:
                    return None
                left.remove(factor)
            if c % coefficient:
                return None
            quotient[tuple(left)] = c // coefficient
        return Polynomial.of(quotient)

    def symbols(self) -> Iterator[str]:
        """Each symbol once, in order of first appearance."""
        seen: set[str] = set()
        for monomial, _ in self.terms:
            for factor in monomial:
                inner = (
                    (factor,)
                    if isinstance(factor, str)
                    else (*factor.numerator.symbols(), *factor.denominator.symbols())
                )
                for name in inner:
                    if name not in seen:
                        seen.add(name)
                        yield name

    def substitute(self, lookup: Callable[[str], Polynomial]) -> Polynomial:
        """Each symbol replaced by what `lookup` gives for it."""
        total = Polynomial.constant(0)
        for monomial, coefficient in self.terms:
            product = Polynomial.constant(coefficient)
            for factor in monomial:
                if isinstance(factor, str):
                    product = product * lookup(factor)
                else:
                    product = product * (factor.numerator.substitute(lookup) // factor.denominator.substitute(lookup))
            total = total + product
        return total

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        text = ""
        for monomial, coefficient in self.terms:
            factors = [f if isinstance(f, str) else f"({f})" for f in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            sign = "-" if coefficient < 0 else "+"
            if text:
                text += f" {sign} "
            elif sign == "-":
                text += "-"
            text += "*".join(factors)
        return text
