"""What is known of kernels that overwrite their own input: the allow-list of in-place writers.

A row says which operands the kernel may find in the memory that it writes to, when that operand has exactly the
output's elements. Each row has its test (``tests/lower/test_kernels.py``), which runs the kernel over its own input at
several sizes, with broadcast operands and with one and two threads. Onnxruntime promises none of this, so a kernel
that is not in the table is never bound in place over what it reads; a kernel that reads nothing of the buffer may
write it, as it would write any memory.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["IN_PLACE", "METADATA_ONLY", "VIEWS", "Kernel", "may_overwrite"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """An operator that may overwrite some of its operands.

    Attributes:
        operands: The operands that may lie in the output's memory, several at once where they are the same value.
    """

    op_type: str
    operands: frozenset[int]
    domain: str = ""


_UNARY = (
    *("Abs", "Acos", "Asin", "Atan", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish"),
    *("LeakyRelu", "Log", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin"),
    *("Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"),
    *("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"),  # a memcpy, left out where the memory is the same
)
_BINARY = ["Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mod", "And", "Or", "Xor"]
_SCATTER = ["ScatterND", "ScatterElements", "TensorScatter"]
_ROWS = [
    *(Kernel(name, frozenset({0})) for name in _UNARY),
    *(Kernel(name, frozenset({0, 1})) for name in _BINARY),
    *(Kernel(name, frozenset({0})) for name in _SCATTER),
    Kernel("Clip", frozenset({0})),
    Kernel("Where", frozenset({1, 2})),
    Kernel("CumSum", frozenset({0})),
    Kernel("Softmax", frozenset({0})),
    Kernel("LogSoftmax", frozenset({0})),
    Kernel("Gemm", frozenset({2})),
]

#: By (domain, operator), for onnxruntime's CPU provider.
IN_PLACE: dict[tuple[str, str], Kernel] = {(row.domain, row.op_type): row for row in _ROWS}

#: Operators whose kernels hand out their input's own memory, unless their result is an output of the graph. A Cast
#: always copies: one that changes nothing is never emitted, and if it were, it would be removed or would copy.
VIEWS = frozenset({"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Dropout", "BitCast"})

#: Operators that look at a tensor's shape and never at its elements.
METADATA_ONLY = frozenset({"Shape", "Size"})


def may_overwrite(domain: str, op_type: str, operands: frozenset[int]) -> bool:
    """Whether the kernel is right when these operands lie in the memory that it writes."""
    row = IN_PLACE.get((domain, op_type))
    return row is not None and operands <= row.operands
