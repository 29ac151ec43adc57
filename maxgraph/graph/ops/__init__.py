"""Every op. Each one is declared in one place; see `registry`.

Names are MAX's, so some are also Python built-ins: use them as ``ops.max``, ``ops.range``.
"""

from .arithmetic import add, div, floor_div, mod, mul, sub
from .arithmetic import pow_ as pow  # noqa: A004 - MAX's name
from .buffer import buffer_create, buffer_load, buffer_store
from .cast import cast
from .comparison import (
    equal,
    greater,
    greater_equal,
    logical_and,
    logical_or,
    logical_xor,
    not_equal,
    where,
)
from .constant import constant, constant_external
from .device import print_ as print  # noqa: A004 - MAX's name
from .device import transfer_to
from .joining import concat, gather, stack
from .linalg import matmul, outer
from .ranges import range_ as range  # noqa: A004 - MAX's name
from .reduce import argmax, argmin, cumsum, logsoftmax, mean, prod, softmax
from .reduce import max_ as max  # noqa: A004 - MAX's name
from .reduce import min_ as min  # noqa: A004 - MAX's name
from .reduce import sum_ as sum  # noqa: A004 - MAX's name
from .shapes import broadcast_to, flatten, permute, reshape, shape_to_tensor, squeeze, transpose, unsqueeze
from .slicing import buffer_store_slice, slice_tensor
from .unary import abs_ as abs  # noqa: A004 - MAX's name
from .unary import (
    ceil,
    cos,
    erf,
    exp,
    floor,
    gelu,
    is_inf,
    is_nan,
    log,
    log1p,
    logical_not,
    negate,
    relu,
    rsqrt,
    sigmoid,
    silu,
    sin,
    sqrt,
    tanh,
    trunc,
)
from .unary import round_ as round  # noqa: A004 - MAX's name

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
    "cast",
    "ceil",
    "concat",
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
]
