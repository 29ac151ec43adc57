"""From the header's op references to the registry's ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..graph.ops.registry import AttributeSpec, Op, OperandKind, lookup
from ..v1 import model_pb2
from .checks import check_sorted, identifier
from .errors import escaped, fail, need

__all__ = ["KnownOp", "decode_ops"]


@dataclass(frozen=True, slots=True)
class KnownOp:
    """An op, and of its signature what is looked up for each node.

    Attributes:
        segmented: A node says how many operands each formal one takes.
    """

    op: Op[..., Any]
    specs: dict[str, AttributeSpec]
    segmented: bool


def decode_ops(model: model_pb2.Model) -> list[KnownOp]:
    """The ops that a model names.

    Raises:
        FormatError: They are not sorted, or one is unknown.
    """
    keys = [(ref.domain, ref.name, ref.version) for ref in model.ops]
    check_sorted(keys, "MGO01", "ops")
    return [_known(*key) for key in keys]


def _known(domain: str, name: str, version: int) -> KnownOp:
    identifier(domain, "MGO02", "an op's domain")
    identifier(name, "MGO02", "an op")
    need(version >= 1, "MGO02", f"op {escaped(f'{domain}.{name}')} has version 0")
    op = lookup(domain, name, version)
    if op is None:
        fail(
            "MGO05",
            f"the model needs op {escaped(f'{domain}.{name}')} version {version}, which this maxgraph does not know",
            "upgrade with `pip install --upgrade maxg`",
        )
    segmented = any(operand.kind in (OperandKind.OPTIONAL, OperandKind.VARIADIC) for operand in op.operands)
    return KnownOp(op, {spec.name: spec for spec in op.attributes}, segmented)
