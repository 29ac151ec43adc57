"""The writer's tables: symbols, devices, types, ops, each entry once, in order of first use."""

from __future__ import annotations

from ..dtype import DType
from ..graph.dim import Dim
from ..graph.polynomial import FloorDiv, Polynomial
from ..graph.shape import Shape
from ..graph.type import BufferType, DeviceKind, DeviceRef, TensorType
from ..v1 import model_pb2, types_pb2
from . import features

__all__ = ["DTYPES", "DTYPE_NUMBERS", "Tables"]

#: The file's numbers of element types.
DTYPE_NUMBERS: dict[DType, types_pb2.Dtype] = {
    dtype: getattr(types_pb2, f"DTYPE_{dtype.name.upper()}") for dtype in DType
}
DTYPES = {number: dtype for dtype, number in DTYPE_NUMBERS.items()}


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
            for dim in type_.shape:
                self.dim(dim, kind.shape.add())
            kind.SetInParent()
            index = self._types[type_] = len(self._types)
            self._model.types.append(entry)
        return index

    def dims(self, shape: Shape, target: object) -> None:
        """Writes a list of dims into a repeated field."""
        for dim in shape:
            self.dim(dim, target.add())  # type: ignore[attr-defined]  # a repeated field of Dim

    def dim(self, dim: Dim, target: types_pb2.Dim) -> None:
        """Writes one dim."""
        poly = dim.polynomial
        if poly.value is not None and poly.value >= 0:
            target.size = poly.value
        elif poly.name is not None:
            target.symbol = self._symbol(poly.name)
        else:
            self._expression(poly, target.expr)
            target.expr.SetInParent()
            self.used.add(features.DIM_EXPR)

    def _expression(self, poly: Polynomial, target: types_pb2.DimExpr) -> None:
        # New symbols are numbered before new divisions, each in a fixed order; the reader walks in the same way.
        for name in sorted({f for factors, _ in poly.terms for f in factors if isinstance(f, str)}):
            self._symbol(name)
        monomials = []
        for factors, coefficient in poly.terms:
            if not factors:
                target.constant = coefficient
                continue
            symbols = sorted(self._symbol(f) for f in factors if isinstance(f, str))
            divisions = sorted(self._floor_div(f) for f in factors if isinstance(f, FloorDiv))
            monomials.append((len(factors), symbols, divisions, coefficient))
        for _, symbols, divisions, coefficient in sorted(monomials):
            target.monomials.add(coefficient=coefficient, symbols=symbols, floor_divs=divisions)

    def _floor_div(self, division: FloorDiv) -> int:
        index = self._floor_divs.get(division)
        if index is None:
            entry = types_pb2.FloorDiv()
            self._expression(division.numerator, entry.numerator)
            self._expression(division.denominator, entry.denominator)
            entry.numerator.SetInParent()
            entry.denominator.SetInParent()
            index = self._floor_divs[division] = len(self._floor_divs)
            self._model.floor_divs.append(entry)
            self.used.add(features.DIM_FLOORDIV)
        return index

    def _symbol(self, name: str) -> int:
        index = self._symbols.get(name)
        if index is None:
            index = self._symbols[name] = len(self._symbols)
            self._model.symbols.add(name=name)
        return index

    def _device(self, device: DeviceRef) -> int:
        index = self._devices.get(device)
        if index is None:
            index = self._devices[device] = len(self._devices)
            kind = types_pb2.Device.KIND_GPU if device.device_type is DeviceKind.GPU else types_pb2.Device.KIND_CPU
            self._model.devices.add(kind=kind, ordinal=device.id)
        return index
