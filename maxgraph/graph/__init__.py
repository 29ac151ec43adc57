"""Building graphs: types, dims, values, and the ops in `ops`."""

from . import dtype_promotion, ops
from .dim import AlgebraicDim, Dim, DimLike, StaticDim, SymbolicDim
from .graph import Graph
from .module import Module
from .shape import Shape, ShapeLike
from .type import BufferType, DeviceKind, DeviceRef, TensorType, Type
from .value import BufferValue, BufferValueLike, TensorValue, TensorValueLike, Value
from .weight import Weight

__all__ = [
    "AlgebraicDim",
    "BufferType",
    "BufferValue",
    "BufferValueLike",
    "DeviceKind",
    "DeviceRef",
    "Dim",
    "DimLike",
    "Graph",
    "Module",
    "Shape",
    "ShapeLike",
    "StaticDim",
    "SymbolicDim",
    "TensorType",
    "TensorValue",
    "TensorValueLike",
    "Type",
    "Value",
    "Weight",
    "dtype_promotion",
    "ops",
]
