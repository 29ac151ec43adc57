"""Dimensions: static, symbolic, and algebraic over symbols."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

from ..errors import GraphTypeError, TypeRuleError
from .only_in_max import MLIR, OnlyInMax
from .polynomial import Polynomial

if TYPE_CHECKING:
    import numpy as np

__all__ = ["AlgebraicDim", "Dim", "DimLike", "StaticDim", "SymbolicDim"]

DimLike = Union[int, str, "Dim", "np.integer[Any]"]
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Dim:
    """One extent of a shape.

    ``Dim(3)`` is static, ``Dim("batch")`` symbolic; ``+ - * //`` give algebraic dims in a normal form, so equal
    expressions are equal dims whatever way they were written. ``//`` rounds down.

    Example:
        >>> Dim("n") * 2 + Dim("n") == Dim("n") * 3
        True
        >>> (Dim("n") * 4) // 2
        2*Dim('n')

    Raises:
        TypeError: The value is no int, str or Dim.
        ValueError: A symbol's name is not an identifier.
    """

    _poly: Polynomial
    __slots__ = ("_poly",)
    to_mlir = OnlyInMax(MLIR)
    from_mlir = OnlyInMax(MLIR)

    def __new__(cls, value: DimLike) -> Dim:
        """Dispatches to the subclass that fits."""
        poly = _polynomial(value)
        kind = StaticDim if poly.value is not None else SymbolicDim if poly.name is not None else AlgebraicDim
        if cls is not Dim and cls is not kind:
            raise GraphTypeError(f"{cls.__name__} cannot hold {value!r}, which is a {kind.__name__}", code="MG023")
        dim = object.__new__(kind)
        dim._poly = poly
        return dim

    @property
    def polynomial(self) -> Polynomial:
        """The normal form."""
        return self._poly

    def __eq__(self, other: object) -> bool:
        try:
            return self._poly == _polynomial(other)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False

    def __hash__(self) -> int:
        value = self._poly.value
        if value is not None:
            return hash(value)
        return hash(self._poly.name or self._poly)

    def __add__(self, rhs: DimLike) -> Dim:
        return _wrap(self._poly + _polynomial(rhs))

    def __radd__(self, lhs: DimLike) -> Dim:
        return self + lhs

    def __mul__(self, rhs: DimLike) -> Dim:
        return _wrap(self._poly * _polynomial(rhs))

    def __rmul__(self, lhs: DimLike) -> Dim:
        return self * lhs

    def __neg__(self) -> Dim:
        return _wrap(-self._poly)

    def __sub__(self, rhs: DimLike) -> Dim:
        return _wrap(self._poly - _polynomial(rhs))

    def __rsub__(self, lhs: DimLike) -> Dim:
        return _wrap(_polynomial(lhs) - self._poly)

    def __floordiv__(self, rhs: DimLike) -> Dim:
        return _wrap(self._poly // _polynomial(rhs))

    def __rfloordiv__(self, lhs: DimLike) -> Dim:
        return _wrap(_polynomial(lhs) // self._poly)

    def __int__(self) -> int:
        value = self._poly.value
        if value is None:
            raise GraphTypeError(
                f"the size of `{self}` is only known when the graph runs",
                code="MG023",
                help="use a static dim here, or compute with the dim itself",
            )
        return value

    def __bool__(self) -> bool:
        # As in MAX: a Dim is an object that is there, whatever its size.
        return True

    def __str__(self) -> str:
        return str(self._poly)

    def __repr__(self) -> str:
        if self._poly.value is not None:
            return f"Dim({self._poly.value})"
        if self._poly.name is not None:
            return f"Dim({self._poly.name!r})"
        return re.sub(r"[A-Za-z_]\w*", lambda m: f"Dim({m.group()!r})", str(self._poly))

    @property
    def parameters(self) -> Iterable[SymbolicDim]:
        """The symbols it depends on, each once."""
        return [SymbolicDim(name) for name in self._poly.symbols()]

    def substitute(self, mapping: Mapping[str, DimLike]) -> Dim:
        """The dim with symbols replaced; those that `mapping` leaves out stay."""

        def replacement(name: str) -> Polynomial:
            return _polynomial(mapping[name]) if name in mapping else Polynomial.symbol(name)

        return _wrap(self._poly.substitute(replacement))

    def evaluate(self, sizes: Mapping[str, int]) -> int:
        """The size under the given sizes of the symbols.

        Raises:
            KeyError: A symbol has no size.
        """
        value = self._poly.value
        if value is not None:
            return value
        name = self._poly.name
        if name is not None:
            return sizes[name]
        result = self._poly.substitute(lambda name: Polynomial.constant(sizes[name])).value
        if result is None:  # pragma: no cover - a polynomial without symbols always has a value
            raise AssertionError(self)
        return result


class StaticDim(Dim):
    """A size known when the graph is built."""

    __slots__ = ()

    @property
    def dim(self) -> int:
        """The size."""
        return int(self)

    def __lt__(self, other: int | StaticDim) -> bool:
        return int(self) < int(other)


class SymbolicDim(Dim):
    """A named size that is bound when the graph runs."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The symbol."""
        return str(self._poly.name)


class AlgebraicDim(Dim):
    """A size computed from symbols."""

    __slots__ = ()
    attr = OnlyInMax("a dim is its normal form: see Dim.polynomial")
    apply = OnlyInMax("compute with + - * // between dims")


def _wrap(poly: Polynomial) -> Dim:
    kind = StaticDim if poly.value is not None else SymbolicDim if poly.name is not None else AlgebraicDim
    dim = object.__new__(kind)
    dim._poly = poly
    return dim


def dim_of(poly: Polynomial) -> Dim:
    """The dim with this normal form."""
    return _wrap(poly)


def _polynomial(value: DimLike) -> Polynomial:
    if isinstance(value, Dim):
        return value._poly  # noqa: SLF001 - this module's own class
    if isinstance(value, str):
        if not _NAME.fullmatch(value):
            raise TypeRuleError(
                f"{value!r} cannot name a dimension", code="MG023", help="use letters, digits and _, not first a digit"
            )
        return Polynomial.symbol(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return Polynomial.constant(value)
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        return Polynomial.constant(value.__index__())
    raise GraphTypeError(f"a dimension is an int, a str or a Dim, not {type(value).__name__} {value!r}", code="MG023")
