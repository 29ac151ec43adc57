"""Every op. Each one is declared in one place; see `registry`.

Names are MAX's, so some are also Python built-ins: use them as ``ops.max``, ``ops.range``.
"""

from .activations import gelu, relu, sigmoid, silu
from .arithmetic import add, mul, sub
from .arithmetic import pow_ as pow  # noqa: A004 - MAX's name
from .axes import permute, transpose
from .buffer import buffer_create, buffer_load, buffer_store
from .calling import call
from .cast import cast
from .comparison import equal, greater, greater_equal, not_equal
from .cond import cond
from .constant import constant, constant_external
from .cumsum import cumsum
from .device import transfer_to
from .division import div, floor_div, mod
from .erf import erf
from .exponential import exp, log, log1p, rsqrt, sqrt
from .extremes import max_ as max  # noqa: A004 - MAX's name
from .extremes import min_ as min  # noqa: A004 - MAX's name
from .gathering import gather
from .joining import concat, stack
from .linalg import matmul, outer
from .logic import logical_and, logical_not, logical_or, logical_xor
from .positions import argmax, argmin
from .predicates import is_inf, is_nan
from .printing import print_ as print  # noqa: A004 - MAX's name
from .ranges import range_ as range  # noqa: A004 - MAX's name
from .reduce import mean, prod
from .reduce import sum_ as sum  # noqa: A004 - MAX's name
from .rounding import ceil, floor, trunc
from .rounding import round_ as round  # noqa: A004 - MAX's name
from .selection import where
from .shapes import broadcast_to, flatten, reshape, shape_to_tensor, squeeze, unsqueeze
from .signs import abs_ as abs  # noqa: A004 - MAX's name
from .signs import negate
from .slicing import buffer_store_slice, slice_tensor
from .softmax import logsoftmax, softmax
from .trigonometry import cos, sin, tanh
from .while_loop import while_loop

__all__ = [
    "abs",
    "add",
    "argmax",
    "argmin",
    "broadcast_to",
    "buffer_create",
    "buffer_load",
    "buffer_store",
    "buffer_store_slice",
    "call",
    "cast",
    "ceil",
    "concat",
    "cond",
    "constant",
    "constant_external",
    "cos",
    "cumsum",
    "div",
    "equal",
    "erf",
    "exp",
    "flatten",
    "floor",
    "floor_div",
    "gather",
    "gelu",
    "greater",
    "greater_equal",
    "is_inf",
    "is_nan",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsoftmax",
    "matmul",
    "max",
    "mean",
    "min",
    "mod",
    "mul",
    "negate",
    "not_equal",
    "outer",
    "permute",
    "pow",
    "print",
    "prod",
    "range",
    "relu",
    "reshape",
    "round",
    "rsqrt",
    "shape_to_tensor",
    "sigmoid",
    "silu",
    "sin",
    "slice_tensor",
    "softmax",
    "sqrt",
    "squeeze",
    "stack",
    "sub",
    "sum",
    "tanh",
    "transfer_to",
    "transpose",
    "trunc",
    "unsqueeze",
    "where",
    "while_loop",
]
