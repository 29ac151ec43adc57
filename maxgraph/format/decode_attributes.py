"""From a node's attributes in the header to values; each must be of the kind that its op declares."""

from __future__ import annotations

import math
import struct
from typing import Any

from ..dtype import DType
from ..graph import ir
from ..graph.ops.registry import AttributeKind
from ..v1 import graph_pb2
from .checks import check_sorted, text
from .decode_ops import KnownOp
from .decode_types import TypeTable
from .errors import escaped, fail, need
from .limits import Limits
from .packed import is_packed, unpack
from .tables import DTYPES

__all__ = ["AttributeDecoder"]

_FIELDS = {
    "bool_val": AttributeKind.BOOL,
    "int_val": AttributeKind.INT,
    "float_val": AttributeKind.FLOAT,
    "string_val": AttributeKind.STRING,
    "dtype_val": AttributeKind.DTYPE,
    "type_val": AttributeKind.TYPE,
    "weight_val": AttributeKind.WEIGHT,
    "literal_val": AttributeKind.LITERAL,
    "ints_val": AttributeKind.INTS,
    "dims_val": AttributeKind.DIMS,
}
_NAN = struct.pack("<d", math.nan)


class AttributeDecoder:
    """Decodes attributes.

    Args:
        weights: The names of the model's weights, by index.

    Attributes:
        used_weights: The indices of those that an attribute names.
    """

    def __init__(self, types: TypeTable, limits: Limits, weights: list[str]) -> None:
        self._types = types
        self._limits = limits
        self._weights = weights
        self.used_weights: set[int] = set()

    def attributes(self, known: KnownOp, entry: graph_pb2.Node) -> dict[str, ir.Attribute]:
        """The attributes of a node, in the op's own order; the file's is alphabetical.

        Raises:
            FormatError: One is unknown, missing, malformed or of the wrong kind.
        """
        op, specs = known.op, known.specs
        check_sorted([attribute.name for attribute in entry.attributes], "MGA01", f"attributes of {op.name}")
        found: dict[str, ir.Attribute] = {}
        for attribute in entry.attributes:
            spec = specs.get(attribute.name)
            if spec is None:
                fail("MGO06", f"{op.name} has no attribute `{escaped(attribute.name)}`")
            field = attribute.WhichOneof("value")
            if field is None:
                fail("MGA02", f"{op.name}: attribute `{spec.name}` has no value")
            if _FIELDS.get(field) is not spec.kind:
                fail("MGO06", f"{op.name}: `{spec.name}` must be of kind {spec.kind.value}")
            found[spec.name] = self._value(spec.kind, getattr(attribute, field))
        for spec in op.attributes:
            need(spec.optional or spec.name in found, "MGO06", f"{op.name} lacks attribute `{spec.name}`")
        return {name: found[name] for name in specs if name in found}

    def _value(self, kind: AttributeKind, value: Any) -> ir.Attribute:
        match kind:
            case AttributeKind.BOOL:
                return bool(value)
            case AttributeKind.INT:
                return int(value)
            case AttributeKind.STRING:
                return text(value, self._limits, "MGA02", "a text attribute")
            case AttributeKind.FLOAT:
                canonical = not math.isnan(value) or struct.pack("<d", value) == _NAN
                need(canonical, "MGA02", "a NaN that is not the canonical one")
                return float(value)
            case AttributeKind.DTYPE:
                dtype = DTYPES.get(value)
                if dtype is None:
                    fail("MGT04", f"unknown element type {value}")
                return dtype
            case AttributeKind.TYPE:
                return self._types.tensor(value)
            case AttributeKind.WEIGHT:
                need(value < len(self._weights), "MGA02", f"weight index {value} is out of range")
                self.used_weights.add(value)
                return ir.WeightRef(self._weights[value])
            case AttributeKind.LITERAL:
                return self._literal(value)
            case AttributeKind.INTS:
                need(len(value.values) <= self._limits.list_items, "MGA02", "a list that is too long")
                return tuple(value.values)
            case AttributeKind.DIMS:
                return self._types.shape(value.values, len(value.values))

    def _literal(self, value: graph_pb2.Literal) -> ir.Literal:
        type_ = self._types.tensor(value.type)
        size = self._types.static(type_, "MGA02", "a literal")
        need(size <= self._limits.literal_bytes, "MGA02", f"a literal of {size} bytes")
        need(len(value.data) == size, "MGA02", f"a literal of {size} bytes with {len(value.data)}")
        need(type_.dtype is not DType.bool or not value.data.strip(b"\0\1"), "MGA02", "a bool that is neither 0 nor 1")
        if not is_packed(type_.dtype):
            return ir.Literal(type_, value.data)
        elements = unpack(value.data, type_.num_elements())
        need(elements is not None, "MGA02", "a literal whose last byte is not filled with zeros")
        return ir.Literal(type_, elements or b"")
