"""Attributes, each in the field of its kind."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..dtype import DType
from ..errors import FormatError
from ..graph import ir
from ..graph.ops.registry import AttributeKind
from ..graph.shape import Shape
from ..graph.type import TensorType
from ..v1 import graph_pb2
from .packed import is_packed, pack
from .tables import DTYPE_NUMBERS, Tables

__all__ = ["encode_attribute"]


def encode_attribute(
    kind: AttributeKind, value: ir.Attribute, entry: graph_pb2.Attribute, tables: Tables, weights: Mapping[str, int]
) -> None:
    """Writes a value into its entry.

    Args:
        kind: What the op says it is: to Python, a bool is an int too.
        weights: The weights' indices, by name.
    """
    match kind, value:
        case AttributeKind.BOOL, bool():
            entry.bool_val = value
        case AttributeKind.INT, int():
            entry.int_val = value
        case AttributeKind.FLOAT, float():
            entry.float_val = math.nan if math.isnan(value) else value  # one NaN of many, so that bytes are equal
        case AttributeKind.STRING, str():
            entry.string_val = value
        case AttributeKind.DTYPE, DType():
            entry.dtype_val = DTYPE_NUMBERS[value]
        case AttributeKind.TYPE, TensorType():
            entry.type_val = tables.type(value)
        case AttributeKind.WEIGHT, ir.WeightRef():
            entry.weight_val = weights[value.name]
        case AttributeKind.LITERAL, ir.Literal():
            entry.literal_val.type = tables.type(value.type)
            entry.literal_val.data = pack(value.data) if is_packed(value.type.dtype) else value.data
        case AttributeKind.INTS, tuple():
            entry.ints_val.values.extend(value)  # type: ignore[arg-type]  # the op's spec says they are ints
            entry.ints_val.SetInParent()
        case AttributeKind.DIMS, Shape():
            tables.dims(value, entry.dims_val.values)
            entry.dims_val.SetInParent()
        case _:  # pragma: no cover - ops check their attributes
            raise FormatError(f"attribute {entry.name} cannot be written", code="MGA02")
