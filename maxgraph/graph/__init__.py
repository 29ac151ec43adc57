"""Building graphs: types, dims, values, and the ops in `ops`."""

from typing import NoReturn

from . import dtype_promotion, only_in_max, ops
from .dim import AlgebraicDim, Dim, DimLike, StaticDim, SymbolicDim
from .graph import Graph
from .module import Module
from .shape import Shape, ShapeLike
from .type import (
    BufferType,
    ConvInputLayout,
    DeviceKind,
    DeviceRef,
    FilterLayout,
    TensorType,
    TensorTypeBase,
    Type,
)
from .value import BufferValue, BufferValueLike, TensorValue, TensorValueLike, Value
from .weight import Weight

__all__ = [
    "AlgebraicDim",
    "BufferType",
    "BufferValue",
    "BufferValueLike",
    "ConvInputLayout",
    "DeviceKind",
    "DeviceRef",
    "Dim",
    "DimLike",
    "FilterLayout",
    "Graph",
    "Module",
    "Shape",
    "ShapeLike",
    "StaticDim",
    "SymbolicDim",
    "TensorType",
    "TensorTypeBase",
    "TensorValue",
    "TensorValueLike",
    "Type",
    "Value",
    "Weight",
    "dtype_promotion",
    "ops",
]


def __getattr__(name: str) -> NoReturn:
    raise only_in_max.missing(__name__, name, only_in_max.GRAPH)
