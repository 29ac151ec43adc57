"""Parts of type rules that several ops share."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import GraphTypeError
from ..dim import Dim
from ..shape import Shape
from ..type import TensorType, static_dim
from .registry import Refusal, axis_of

__all__ = [
    "broadcast",
    "broadcast_dims",
    "need_bool",
    "need_dtype",
    "need_float",
    "need_number",
    "need_rank",
    "reduced",
    "refuse_type",
]


def broadcast_dims(a: Dim, b: Dim) -> Dim | None:
    """The dim of two that are aligned: they must be provably equal, or one of them 1."""
    if a == b or b == 1:
        return a
    return b if a == 1 else None


def broadcast(**operands: TensorType) -> Shape:
    """The shape that operands share, aligned at the last axis.

    Raises:
        Refusal: Two dims are neither equal nor 1; it names the axis and both operands.
    """
    rank = max(t.rank for t in operands.values())
    result: list[Dim] = []
    for axis in range(-rank, 0):
        dim, owner = Dim(1), ""
        for name, type_ in operands.items():
            if type_.rank < -axis:
                continue
            other = type_.shape[axis]
            common = broadcast_dims(dim, other)
            if common is None:
                symbolic = static_dim(dim) is None or static_dim(other) is None
                raise Refusal(
                    f"axis {axis} of `{owner}` is {dim} but axis {axis} of `{name}` is {other}",
                    code="MG011",
                    help="dims must be equal or 1; name both the same if they are one size"
                    if symbolic
                    else "dims must be equal or 1",
                )
            if common != dim or not owner:
                dim, owner = common, name
        result.append(dim)
    return Shape(result)


def need_dtype(condition: bool, type_: TensorType, name: str, wanted: str, help: str | None = None) -> None:
    """Refuses an operand's element type unless `condition` holds."""
    if not condition:
        raise Refusal(f"`{name}` must be {wanted}, not {type_.dtype.name}", code="MG016", help=help)


def need_float(type_: TensorType, name: str = "x") -> None:
    """Refuses an operand that is not floating-point."""
    need_dtype(type_.dtype.is_float(), type_, name, "floating-point", "cast it first, e.g. x.cast(DType.float32)")


def need_number(type_: TensorType, name: str = "x") -> None:
    """Refuses an operand that is bool."""
    need_dtype(type_.dtype.name != "bool", type_, name, "a number", "cast it first, e.g. x.cast(DType.int32)")


def reduced(x: TensorType, axis: int) -> TensorType:
    """The type with size 1 along an axis.

    Raises:
        Refusal: There is no such axis.
    """
    at = axis_of(axis, x.rank)
    return x.with_shape([*x.shape[:at], 1, *x.shape[at + 1 :]])


def need_rank(type_: TensorType, name: str, ranks: Sequence[int], wanted: str) -> None:
    """Refuses an operand's rank unless it is one of `ranks`."""
    if type_.rank not in ranks:
        raise Refusal(f"`{name}` must have {wanted}, not {type_.rank}: {type_.shape.text}", code="MG014")


def need_bool(type_: TensorType, name: str) -> None:
    """Refuses an operand that is not bool."""
    need_dtype(type_.dtype.name == "bool", type_, name, "bool", "compare it with something, or cast it to DType.bool")


def refuse_type(message: str, code: str = "MG017") -> Refusal:
    """A refusal that reaches the user as a `TypeError`."""
    return Refusal(message, code=code, error=GraphTypeError)
