"""How dims are numbered: what writer and reader must agree on."""

from __future__ import annotations

from collections.abc import Iterator

from ..graph.polynomial import FloorDiv, Polynomial

__all__ = ["factors_in_order"]


def factors_in_order(poly: Polynomial) -> Iterator[str | FloorDiv]:
    """Symbols and floor divisions in the order in which their tables list them; some come more than once.

    An expression's own symbols come first, by name. Then come its divisions, each after all that it is made of.
    """
    yield from sorted({factor for factors, _ in poly.terms for factor in factors if isinstance(factor, str)})
    for factors, _ in poly.terms:
        for factor in factors:
            if isinstance(factor, FloorDiv):
                yield from factors_in_order(factor.numerator)
                yield from factors_in_order(factor.denominator)
                yield factor
