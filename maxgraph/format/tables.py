"""The writer's tables: symbols, devices, types, floor divisions, each entry once, in order of first use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..dtype import DType
from ..graph.dim import Dim
from ..graph.polynomial import FloorDiv, Polynomial
from ..graph.type import BufferType, DeviceKind, DeviceRef, TensorType
from ..v1 import model_pb2, types_pb2
from . import features
from .dims import factors_in_order

__all__ = ["DTYPES", "DTYPE_NUMBERS", "Tables"]

#: The file's numbers of element types.
DTYPE_NUMBERS: dict[DType, types_pb2.Dtype] = {
    dtype: getattr(types_pb2, f"DTYPE_{dtype.name.upper()}") for dtype in DType
}
DTYPES: dict[int, DType] = {number: dtype for dtype, number in DTYPE_NUMBERS.items()}


class _Dims(Protocol):
    """A repeated field of dims."""

    def add(self) -> types_pb2.Dim: ...


class Tables:
    """Fills a model's tables while its graph is written.

    Attributes:
        used: The features that were needed.
    """

    def __init__(self, model: model_pb2.Model) -> None:
        self._model = model
        self._symbols: dict[str, int] = {}
        self._devices: dict[DeviceRef, int] = {}
        self._types: dict[TensorType | BufferType, int] = {}
        self._floor_divs: dict[FloorDiv, int] = {}
        self.used: set[str] = set()

    def type(self, type_: TensorType | BufferType) -> int:
        """The index of a type."""
        index = self._types.get(type_)
        if index is None:
            entry = types_pb2.Type()
            kind = entry.buffer if isinstance(type_, BufferType) else entry.tensor
            kind.dtype = DTYPE_NUMBERS[type_.dtype]
            kind.device = self._device(type_.device)
            self.dims(type_.shape, kind.shape)
            kind.SetInParent()
            index = self._types[type_] = len(self._types)
            self._model.types.append(entry)
        return index

    def dims(self, dims: Iterable[Dim], target: _Dims) -> None:
        """Writes a list of dims."""
        for dim in dims:
            self._dim(dim, target.add())

    def _dim(self, dim: Dim, target: types_pb2.Dim) -> None:
        poly = dim.polynomial
        self._number(poly)
        if poly.value is not None and poly.value >= 0:
            target.size = poly.value
        elif poly.name is not None:
            target.symbol = self._symbols[poly.name]
        else:
            self._expression(poly, target.expr)
            self.used.add(features.DIM_EXPR)

    def _number(self, poly: Polynomial) -> None:
        """Adds what the expression is made of to the tables."""
        for factor in factors_in_order(poly):
            if isinstance(factor, FloorDiv):
                if factor not in self._floor_divs:
                    self._floor_divs[factor] = len(self._floor_divs)
                    entry = self._model.floor_divs.add()
                    self._expression(factor.numerator, entry.numerator)
                    self._expression(factor.denominator, entry.denominator)
                    self.used.add(features.DIM_FLOORDIV)
            elif factor not in self._symbols:
                self._symbols[factor] = len(self._symbols)
                self._model.symbols.add(name=factor)

    def _expression(self, poly: Polynomial, target: types_pb2.DimExpr) -> None:
        """Writes an expression whose parts are in the tables."""
        target.SetInParent()
        monomials = []
        for factors, coefficient in poly.terms:
            if not factors:
                target.constant = coefficient
                continue
            symbols = sorted(self._symbols[f] for f in factors if isinstance(f, str))
            divisions = sorted(self._floor_divs[f] for f in factors if isinstance(f, FloorDiv))
            monomials.append((len(factors), symbols, divisions, coefficient))
        for _, symbols, divisions, coefficient in sorted(monomials):
            target.monomials.add(coefficient=coefficient, symbols=symbols, floor_divs=divisions)

    def _device(self, device: DeviceRef) -> int:
        index = self._devices.get(device)
        if index is None:
            index = self._devices[device] = len(self._devices)
            kind = types_pb2.Device.KIND_GPU if device.device_type is DeviceKind.GPU else types_pb2.Device.KIND_CPU
            self._model.devices.add(kind=kind, ordinal=device.id)
        return index
