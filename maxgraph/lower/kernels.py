"""What is known of kernels that overwrite their own input: the allow-list of in-place writers.

A row says which operands the kernel may find in the memory that it writes to, when that operand has exactly the
output's elements. Each row has its test (``tests/lower/test_kernels.py``), which runs the kernel over its own input in
each element type, at several sizes, with broadcast operands and with one and two threads. Onnxruntime promises none of
this, so a kernel that is not in the table is never bound in place over what it reads; a kernel that reads nothing of
the buffer may write it, as it would write any memory. The same test holds the kernels that were seen to be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["IN_PLACE", "METADATA_ONLY", "VIEWS", "Kernel", "Node", "may_overwrite"]


class Node(Protocol):
    """What the table looks at of an ONNX node."""

    @property
    def op_type(self) -> str:
        """The operator."""

    @property
    def domain(self) -> str:
        """Whose operator it is; empty: ONNX's own."""

    @property
    def attribute(self) -> Any:
        """What is set, each with a name."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """An operator that may overwrite some of its operands.

    Attributes:
        operands: The operands that may lie in the output's memory, several at once where they are the same value.
        output: The output that it is about; a kernel with several outputs has a row for each.
        types: The element types of numpy for which onnxruntime's CPU provider has the kernel; all of them are tested.
        unset: Attributes that must be absent or 0: with them the kernel is wrong.
    """

    op_type: str
    operands: frozenset[int]
    types: tuple[str, ...]
    domain: str = ""
    unset: tuple[str, ...] = ()
    output: int = 0


_FLOAT = ("float32", "float16")
_FLOATS = (*_FLOAT, "float64")
_INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_NUMBERS = (*_FLOATS, *_INTS)
_NO_16 = (*_FLOATS, "int8", "int32", "int64", "uint8", "uint32", "uint64")
_ALL = (*_NUMBERS, "bool")

_UNARY = {
    _FLOAT: (
        *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Elu", "Erf", "HardSigmoid", "HardSwish"),
        *("LeakyRelu", "Mish", "Selu", "Sinh", "Softplus", "Softsign", "Tan", "ThresholdedRelu"),
    ),
    _FLOATS: ("Ceil", "Cos", "Exp", "Floor", "Log", "Reciprocal", "Round", "Sigmoid", "Sin", "Sqrt", "Tanh"),
    (*_FLOATS, "int8", "int32"): ("Relu",),
    (*_FLOATS, "int8", "int16", "int32", "int64"): ("Neg",),
    _NUMBERS: ("Abs", "Sign"),
    _INTS: ("BitwiseNot",),
    ("bool",): ("Not",),
    _ALL: ("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"),  # a memcpy, or none: the memory is the same
    (*_FLOATS, "int32", "int64", "bool"): ("Trilu",),
}
_BINARY = {
    _NUMBERS: ("Add", "Sub", "Mul", "Div", "Mod"),
    (*_FLOATS, "int32", "int64"): ("Pow",),
    _NO_16: ("Max", "Min"),
    _INTS: ("BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    ("bool",): ("And", "Or", "Xor"),
    _FLOATS: ("Sum",),
    _FLOAT: ("Mean",),
}
_DATA = frozenset({0})
_ROWS = [
    *(Kernel(name, _DATA, types) for types, names in _UNARY.items() for name in names),
    *(Kernel(name, frozenset({0, 1}), types) for types, names in _BINARY.items() for name in names),
    *(Kernel(name, _DATA, _ALL) for name in ("ScatterND", "ScatterElements", "TensorScatter")),
    Kernel("Clip", _DATA, _NO_16),
    Kernel("Where", frozenset({1, 2}), (*_FLOATS, "int8", "int32", "int64", "uint8", "uint32")),
    Kernel("CumSum", _DATA, (*_FLOATS, "int32", "int64"), unset=("exclusive",)),
    Kernel("Softmax", _DATA, _FLOATS),
    Kernel("LayerNormalization", _DATA, _FLOATS),
    Kernel("RMSNormalization", _DATA, _FLOATS),
    Kernel("PRelu", _DATA, _FLOAT),
    Kernel("BiasGelu", _DATA, _FLOAT, "com.microsoft"),
    Kernel("Gemm", frozenset({2}), _FLOATS),
    # Past and present keys, and values. In memory apart, it leaves what lies behind the present ones undefined.
    Kernel("GroupQueryAttention", frozenset({3}), _FLOAT, "com.microsoft", output=1),
    Kernel("GroupQueryAttention", frozenset({4}), _FLOAT, "com.microsoft", output=2),
]

#: By (domain, operator, output), for onnxruntime's CPU provider.
IN_PLACE: dict[tuple[str, str, int], Kernel] = {(row.domain, row.op_type, row.output): row for row in _ROWS}

#: Operators whose kernels hand out their input's own memory, unless their result is an output of the graph. A Cast
#: always copies: one that changes nothing is never emitted, and if it were, it would be removed or would copy.
VIEWS = frozenset({"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Dropout", "BitCast"})

#: Operators that look at a tensor's shape and never at its elements.
METADATA_ONLY = frozenset({"Shape", "Size"})


def may_overwrite(node: Node, operands: frozenset[int], output: int = 0) -> bool:
    """Whether the node's kernel is right when these operands lie in the memory that it writes an output to."""
    row = IN_PLACE.get((node.domain, node.op_type, output))
    if row is None or not operands <= row.operands:
        return False
    return not any(attribute.name in row.unset and attribute.i for attribute in node.attribute)
