"""From the header's tables to types. Each table must be in order of first use, so equal models have equal bytes."""

from __future__ import annotations

import re

from ..errors import MaxGraphError
from ..graph.dim import Dim, dim_of
from ..graph.polynomial import FloorDiv, Monomial, Polynomial
from ..graph.shape import Shape
from ..graph.type import BufferType, DeviceRef, TensorType
from ..v1 import model_pb2, types_pb2
from . import features
from .errors import escaped, fail, need
from .limits import Limits
from .tables import DTYPES

__all__ = ["FirstUse", "TypeTable"]

_SYMBOL = re.compile(r"[A-Za-z_]\w{0,255}", re.ASCII)


class FirstUse:
    """Notes which entries of a table were used, and that they are used in order."""

    def __init__(self, size: int, code: str, what: str) -> None:
        self._size = size
        self._next = 0
        self._code = code
        self._what = what

    def use(self, index: int, range_code: str) -> int:
        """The index itself.

        Raises:
            FormatError: It is out of range, or an earlier entry was not used yet.
        """
        need(index < self._size, range_code, f"{self._what} index {index} is out of range ({self._size} entries)")
        need(index <= self._next, self._code, f"{self._what}s are not in order of first use")
        self._next = max(self._next, index + 1)
        return index

    def finish(self, code: str) -> None:
        """Raises where an entry was never used."""
        need(self._next == self._size, code, f"a {self._what} is never used")


class TypeTable:
    """The types of a model, and what they are made of.

    Attributes:
        used: The features that they need.
    """

    def __init__(self, model: model_pb2.Model, limits: Limits) -> None:
        self._model = model
        self._limits = limits
        self.used: set[str] = set()
        self._symbols = FirstUse(len(model.symbols), "MGT01", "symbol")
        self._devices = FirstUse(len(model.devices), "MGT02", "device")
        self._divisions = FirstUse(len(model.floor_divs), "MGT07", "floor division")
        self._types = FirstUse(len(model.types), "MGT10", "type")
        self._division_values: dict[int, FloorDiv] = {}
        names = [symbol.name for symbol in model.symbols]
        for symbol in model.symbols:
            need(_SYMBOL.fullmatch(symbol.name) is not None, "MGT01", f"`{escaped(symbol.name)}` cannot name a symbol")
            constrained = symbol.min or symbol.HasField("max") or symbol.multiple_of
            need(not constrained, "MGT01", f"symbol `{symbol.name}` has constraints, which this version does not read")
        need(len(set(names)) == len(names), "MGT01", "a symbol appears twice")
        for device in model.devices:
            need(device.kind in (1, 2), "MGT02", f"unknown kind of device {device.kind}")
        need(len({(d.kind, d.ordinal) for d in model.devices}) == len(model.devices), "MGT02", "a device appears twice")
        self._decoded: list[TensorType | BufferType | None] = [None] * len(model.types)
        encoded = [entry.SerializeToString(deterministic=True) for entry in model.types]
        need(len(set(encoded)) == len(encoded), "MGT08", "a type appears twice")

    def type(self, index: int) -> TensorType | BufferType:
        """The type at an index, of either kind."""
        self._types.use(index, "MGT09")
        known = self._decoded[index]
        if known is None:
            known = self._decoded[index] = self._decode(self._model.types[index])
        return known

    def tensor(self, index: int) -> TensorType:
        """The tensor type at an index."""
        type_ = self.type(index)
        if not isinstance(type_, TensorType):
            fail("MGT09", f"{type_} where a tensor type is needed")
        return type_

    def buffer(self, index: int) -> BufferType:
        """The buffer type at an index."""
        type_ = self.type(index)
        if not isinstance(type_, BufferType):
            fail("MGT09", f"{type_} where a buffer type is needed")
        return type_

    def static(self, type_: TensorType | BufferType, code: str, what: str) -> int:
        """The number of bytes of a type with static dims."""
        need(type_.is_static, code, f"{what} needs static dims, not {type_.shape.text}")
        need(type_.num_elements() <= self._limits.elements, code, f"{what} has too many elements: {type_.shape.text}")
        return type_.num_bytes

    def _decode(self, entry: types_pb2.Type) -> TensorType | BufferType:
        kind = entry.WhichOneof("kind")
        if kind is None:
            fail("MGT03", "a type is neither a tensor nor a buffer")
        body = entry.tensor if kind == "tensor" else entry.buffer
        dtype = DTYPES.get(body.dtype)
        if dtype is None:
            fail("MGT04", f"unknown element type {body.dtype}")
        need(len(body.shape) <= self._limits.rank, "MGT05", f"rank {len(body.shape)} is over {self._limits.rank}")
        self._devices.use(body.device, "MGT06")
        device = self._model.devices[body.device]
        place = DeviceRef("gpu" if device.kind == types_pb2.Device.KIND_GPU else "cpu", device.ordinal)
        return (TensorType if kind == "tensor" else BufferType)(dtype, self.dims(body.shape), place)

    def dims(self, dims: object) -> Shape:
        """A list of dims as a shape."""
        return Shape(self._dim(dim) for dim in dims)  # type: ignore[attr-defined]  # a repeated field of Dim

    def _dim(self, dim: types_pb2.Dim) -> Dim:
        kind = dim.WhichOneof("kind")
        if kind is None:
            fail("MGT07", "a dim without a kind")
        if kind == "size":
            need(dim.size < 2**63, "MGT07", f"a dim of size {dim.size}")
            return Dim(dim.size)
        if kind == "symbol":
            return Dim(self._model.symbols[self._symbols.use(dim.symbol, "MGT07")].name)
        self.used.add(features.DIM_EXPR)
        poly = self._expression(dim.expr)
        need(poly.name is None and (poly.value is None or poly.value < 0), "MGT07", "an expression that is a plain dim")
        return dim_of(poly)

    def _expression(self, expr: types_pb2.DimExpr) -> Polynomial:
        """An expression; it must be the normal form, sorted."""
        need(len(expr.monomials) <= self._limits.dim_terms, "MGT07", "a dim expression with too many terms")
        terms: dict[Monomial, int] = {(): expr.constant} if expr.constant else {}
        keys = []
        for symbol in sorted({s for monomial in expr.monomials for s in monomial.symbols}):
            self._symbols.use(symbol, "MGT07")
        for index in sorted({d for monomial in expr.monomials for d in monomial.floor_divs}):
            self._division(index)
        for monomial in expr.monomials:
            degree = len(monomial.symbols) + len(monomial.floor_divs)
            need(1 <= degree <= self._limits.dim_degree, "MGT07", f"a term of degree {degree}")
            symbols, divisions = list(monomial.symbols), list(monomial.floor_divs)
            need(symbols == sorted(symbols) and divisions == sorted(divisions), "MGT07", "factors are not sorted")
            need(monomial.coefficient != 0, "MGT07", "a term of zero")
            keys.append((degree, symbols, divisions))
            product = Polynomial.constant(monomial.coefficient)
            for symbol in symbols:
                product = product * Polynomial.symbol(self._model.symbols[symbol].name)
            for index in divisions:
                product = product * Polynomial.division(self._division(index))
            ((factors_of, coefficient),) = product.terms
            terms[factors_of] = coefficient
        need(keys == sorted(keys) and len(terms) == len(keys) + bool(expr.constant), "MGT07", "terms are not sorted")
        return Polynomial.of(terms)

    def _division(self, index: int) -> FloorDiv:
        known = self._division_values.get(index)
        if known is not None:
            return known
        self._divisions.use(index, "MGT07")
        entry = self._model.floor_divs[index]
        for expr in (entry.numerator, entry.denominator):
            inner = [i for monomial in expr.monomials for i in monomial.floor_divs]
            need(all(i < index for i in inner), "MGT07", "a floor division names a later one")
        self.used.add(features.DIM_FLOORDIV)
        numerator, denominator = self._expression(entry.numerator), self._expression(entry.denominator)
        division = FloorDiv(numerator, denominator)
        try:
            normal = numerator // denominator
        except (ZeroDivisionError, MaxGraphError):
            fail("MGT07", "a division by zero")
        need(normal == Polynomial.division(division), "MGT07", "a floor division that can be resolved")
        self._division_values[index] = division
        return division

    def finish(self) -> None:
        """Raises where an entry of a table was never used."""
        self._types.finish("MGT11")
        self._symbols.finish("MGT01")
        self._devices.finish("MGT02")
        self._divisions.finish("MGT07")
