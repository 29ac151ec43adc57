"""Data classes as plain JSON values and back, guided by their annotations.

Nothing is made that an annotation does not name, so text from a stranger can be decoded: it gives the data that was
asked for, or `Malformed`. Kinds that need more than their own value, such as a weight's elements, are given by the user
of the codec.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union

from ..dtype import DType
from ..graph.dim import Dim, dim_of
from ..graph.polynomial import Factor, FloorDiv, Polynomial
from ..graph.shape import Shape
from ..graph.type import BufferType, DeviceRef, TensorType

__all__ = ["Codec", "Malformed", "Special"]

_PLAIN = (bool, int, float, str)
#: Ints from here on, such as sets of nodes, are written in hexadecimal, which takes time in proportion to their length.
_LONG = 1 << 63


class Malformed(Exception):  # noqa: N818 - it never leaves the cache
    """The value is not what the annotation says."""


@dataclass(frozen=True, slots=True)
class Special:
    """How one kind is written and read."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


class Codec:
    """Writes and reads values of annotated types.

    It knows None, bool, int, float, str, enums, data classes, dims, shapes and types, and tuples, frozen sets,
    dictionaries with texts as keys and unions of what it knows.

    Args:
        special: More kinds.

    Example:
        >>> codec, hint = Codec(), tuple[Dim, ...] | None
        >>> codec.encode(hint, (Dim(2), Dim("n") * 2 + 1))
        [0, [2, [[2, ['n']], [1, []]]]]
        >>> codec.decode(hint, [0, [2, [[2, ["n"]], [1, []]]]])
        (Dim(2), 2*Dim('n') + 1)
    """

    def __init__(self, special: Mapping[object, Special] | None = None) -> None:
        self._special: dict[object, Special] = {
            Dim: Special(lambda dim: _write_polynomial(dim.polynomial), lambda tree: dim_of(_polynomial(tree))),
            Shape: Special(self._write_shape, self._shape),
            TensorType: Special(self._write_type, lambda tree: self._type(TensorType, tree)),
            BufferType: Special(self._write_type, lambda tree: self._type(BufferType, tree)),
            **(special or {}),
        }

    def encode(self, hint: Any, value: Any) -> Any:
        """A value of the annotated type, as JSON has it.

        Raises:
            TypeError: The annotation or the value is of a kind that is not known.
        """
        special = self._special.get(hint)
        if special is not None:
            return special.encode(value)
        if hint in (None, type(None), *_PLAIN):
            if value is not None and type(value) is not hint:
                raise TypeError(f"{value!r} is no {hint}")
            return hex(value) if hint is int and abs(value) >= _LONG else value
        origin, arms = typing.get_origin(hint), typing.get_args(hint)
        if origin in (Union, types.UnionType):
            at = next(at for at, arm in enumerate(arms) if isinstance(value, typing.get_origin(arm) or arm))
            return [at, self.encode(arms[at], value)]
        if origin is tuple:
            hints = [arms[0]] * len(value) if arms[1:] == (...,) else arms
            return [self.encode(inner, item) for inner, item in zip(hints, value, strict=True)]
        if origin is frozenset:
            return [self.encode(arms[0], item) for item in sorted(value)]
        if origin is dict and arms[0] is str:
            return {key: self.encode(arms[1], item) for key, item in value.items()}
        if isinstance(hint, type) and issubclass(hint, Enum):
            return value.name
        if isinstance(hint, type) and is_dataclass(hint):
            return [self.encode(inner, getattr(value, name)) for name, inner in _fields(hint)]
        raise TypeError(f"values of {hint} cannot be kept")

    def decode(self, hint: Any, tree: Any) -> Any:
        """The value.

        Raises:
            Malformed: It is not of the annotated type.
        """
        try:
            return self._decode(hint, tree)
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise Malformed(f"no value of {hint}: {error}") from None

    def _decode(self, hint: Any, tree: Any) -> Any:
        special = self._special.get(hint)
        if special is not None:
            return special.decode(tree)
        if hint in (None, type(None), *_PLAIN):
            return int(tree, 16) if hint is int and isinstance(tree, str) else _plain(hint, tree)
        origin, arms = typing.get_origin(hint), typing.get_args(hint)
        if origin in (Union, types.UnionType):
            at, inner = tree
            return self._decode(arms[_plain(int, at)], inner)
        if origin is tuple:
            items = _listed(tree)
            hints = [arms[0]] * len(items) if arms[1:] == (...,) else arms
            return tuple(self._decode(inner, item) for inner, item in zip(hints, items, strict=True))
        if origin is frozenset:
            return frozenset(self._decode(arms[0], item) for item in _listed(tree))
        if origin is dict and isinstance(tree, dict):
            return {key: self._decode(arms[1], item) for key, item in tree.items()}
        if isinstance(hint, type) and issubclass(hint, Enum):
            return hint[_plain(str, tree)]
        if isinstance(hint, type) and is_dataclass(hint):
            pairs = zip(_fields(hint), _listed(tree), strict=True)
            return hint(**{name: self._decode(inner, item) for (name, inner), item in pairs})
        raise Malformed(f"values of {hint} cannot be kept")

    def _write_shape(self, shape: Shape) -> list[Any]:
        return [self.encode(Dim, dim) for dim in shape]

    def _shape(self, tree: Any) -> Shape:
        return Shape(self._decode(Dim, dim) for dim in _listed(tree))

    def _write_type(self, type_: TensorType | BufferType) -> list[Any]:
        return [type_.dtype.name, self._write_shape(type_.shape), str(type_.device.device_type), type_.device.id]

    def _type(self, kind: type[TensorType] | type[BufferType], tree: Any) -> TensorType | BufferType:
        dtype, shape, device, number = _listed(tree)
        where = DeviceRef(_plain(str, device), _plain(int, number))
        return kind(DType[_plain(str, dtype)], self._shape(shape), where)


@cache
def _fields(hint: Any) -> list[tuple[str, Any]]:
    hints = typing.get_type_hints(hint)
    return [(item.name, hints[item.name]) for item in fields(hint)]


def _plain(hint: Any, tree: Any) -> Any:
    if hint in (None, type(None)):
        if tree is not None:
            raise Malformed("None is wanted")
    elif type(tree) is not hint:
        raise Malformed(f"{hint} is wanted, not {type(tree)}")
    return tree


def _listed(tree: Any) -> list[Any]:
    if not isinstance(tree, list):
        raise Malformed(f"a list is wanted, not {type(tree)}")
    return tree


def _write_polynomial(poly: Polynomial) -> Any:
    """An int, a symbol, or terms: a coefficient and its factors."""
    if poly.value is not None:
        return poly.value
    if poly.name is not None:
        return poly.name
    return [[coefficient, [_write_factor(factor) for factor in monomial]] for monomial, coefficient in poly.terms]


def _write_factor(factor: Factor) -> Any:
    if isinstance(factor, FloorDiv):
        return [_write_polynomial(factor.numerator), _write_polynomial(factor.denominator)]
    return factor


def _polynomial(tree: Any) -> Polynomial:
    """The arithmetic of polynomials gives the normal form, whatever was written."""
    if isinstance(tree, list):
        total = Polynomial.constant(0)
        for coefficient, factors in tree:
            product = Polynomial.constant(_plain(int, coefficient))
            for factor in _listed(factors):
                if isinstance(factor, list):
                    numerator, denominator = factor
                    product = product * (_polynomial(numerator) // _polynomial(denominator))
                else:
                    product = product * Dim(_plain(str, factor)).polynomial
            total = total + product
        return total
    if isinstance(tree, str):
        return Dim(tree).polynomial
    return Polynomial.constant(_plain(int, tree))
