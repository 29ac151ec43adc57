"""What an op's parameters may be, and what a type rule says when it refuses them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NoReturn

from ...dtype import DType
from ...errors import GraphIndexError, GraphTypeError, MaxGraphError, TypeRuleError
from .. import ir
from ..shape import Shape
from ..type import TensorType

__all__ = [
    "ATTRIBUTES",
    "OPERANDS",
    "AttributeKind",
    "AttributeSpec",
    "Operand",
    "OperandKind",
    "Refusal",
    "attribute_of",
    "axis_of",
]


class OperandKind(Enum):
    """How a formal operand takes values."""

    TENSOR = "one tensor"
    OPTIONAL = "a tensor or None"
    VARIADIC = "tensors"
    BUFFER = "one buffer"


class AttributeKind(Enum):
    """What an attribute holds; the file has one field for each."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STRING = "str"
    DTYPE = "DType"
    TYPE = "TensorType"
    WEIGHT = "WeightRef"
    LITERAL = "Literal"
    INTS = "ints"
    DIMS = "dims"


#: Operand kinds by annotation.
OPERANDS = {
    "TensorValueLike": OperandKind.TENSOR,
    "TensorValueLike | None": OperandKind.OPTIONAL,
    "Iterable[TensorValueLike]": OperandKind.VARIADIC,
    "BufferValueLike": OperandKind.BUFFER,
}
#: Attribute kinds by annotation.
ATTRIBUTES = {
    "bool": AttributeKind.BOOL,
    "int": AttributeKind.INT,
    "float": AttributeKind.FLOAT,
    "str": AttributeKind.STRING,
    "DType": AttributeKind.DTYPE,
    "TensorType": AttributeKind.TYPE,
    "WeightRef": AttributeKind.WEIGHT,
    "Literal": AttributeKind.LITERAL,
    "Sequence[int]": AttributeKind.INTS,
    "list[int]": AttributeKind.INTS,
    "ShapeLike": AttributeKind.DIMS,
}


@dataclass(frozen=True, slots=True)
class Operand:
    """A formal operand."""

    name: str
    kind: OperandKind


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """A formal attribute; an `optional` one may be None, and is then absent from the file."""

    name: str
    kind: AttributeKind
    optional: bool = False


class Refusal(Exception):  # noqa: N818 - control flow between a rule and its op, never seen by a user
    """What a type rule raises; the op turns it into an error with operands, types and the user's line.

    Args:
        message: What was wanted and given, without the op's name.
        code: See `maxgraph.errors.CODES`.
        help: How to mend it.
        error: The class of the error that the user sees.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        help: str | None = None,
        error: type[MaxGraphError] = TypeRuleError,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.help = help
        self.error = error


def axis_of(axis: int, rank: int, name: str = "axis") -> int:
    """The axis counted from the front.

    Raises:
        Refusal: It is no axis of this rank.
    """
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise Refusal(f"`{name}` must be an int, not {axis!r}", code="MG017", error=GraphTypeError)
    if not -rank <= axis < rank:
        valid = f"{-rank} to {rank - 1}" if rank else "none: the tensor has rank 0"
        raise Refusal(
            f"`{name}` is {axis}, but a tensor of rank {rank} has axes {valid}", code="MG013", error=GraphIndexError
        )
    return int(axis) % rank


def attribute_of(spec: AttributeSpec, value: Any) -> ir.Attribute | None:
    """An argument as the attribute that a node holds."""

    def refuse(wanted: str) -> NoReturn:
        raise Refusal(
            f"`{spec.name}` must be {wanted}, not {type(value).__name__} {value!r}", code="MG017", error=GraphTypeError
        )

    if value is None:
        return None if spec.optional else refuse(spec.kind.value)
    match spec.kind:
        case AttributeKind.BOOL:
            return value if isinstance(value, bool) else refuse("a bool")
        case AttributeKind.INT:
            return int(value) if hasattr(value, "__index__") and not isinstance(value, bool) else refuse("an int")
        case AttributeKind.FLOAT:
            return float(value) if isinstance(value, (int, float)) else refuse("a float")
        case AttributeKind.STRING:
            return value if isinstance(value, str) else refuse("a str")
        case AttributeKind.DTYPE:
            return value if isinstance(value, DType) else refuse("a DType")
        case AttributeKind.TYPE:
            return value if isinstance(value, TensorType) else refuse("a TensorType")
        case AttributeKind.WEIGHT:
            return value if isinstance(value, ir.WeightRef) else refuse("a weight")
        case AttributeKind.LITERAL:
            return value if isinstance(value, ir.Literal) else refuse("a literal")
        case AttributeKind.INTS:
            try:
                return tuple(v.__index__() for v in value)
            except (TypeError, AttributeError):
                refuse("ints")
        case AttributeKind.DIMS:
            if not isinstance(value, (list, tuple)):
                refuse("a list of dims")
            return Shape(value)
