"""Every op. Each one is declared in one place; see `registry`.

Names are MAX's, so some are also Python built-ins: use them as ``ops.max``, ``ops.range``.
"""

from typing import NoReturn

from .. import only_in_max
from . import complex_ as complex  # noqa: A004 - MAX's name
from . import random_ as random
from .activations import gelu, relu, sigmoid, silu
from .arithmetic import add, mul, sub
from .arithmetic import pow_ as pow  # noqa: A004 - MAX's name
from .attention import scaled_dot_product_attention
from .axes import permute, transpose
from .bands import band_part
from .buffer import buffer_create, buffer_load, buffer_store
from .cached_attention import cached_attention
from .calling import call
from .cast import cast
from .comparison import equal, greater, greater_equal, not_equal
from .complex_ import as_interleaved_complex
from .cond import cond
from .constant import constant, constant_external
from .convolution import conv2d, conv3d
from .cumsum import cumsum
from .device import transfer_to
from .division import div, floor_div, mod
from .erf import erf
from .exponential import exp, log, log1p, rsqrt, sqrt
from .extremes import max_ as max  # noqa: A004 - MAX's name
from .extremes import min_ as min  # noqa: A004 - MAX's name
from .gathering import gather, gather_nd
from .joining import concat, stack
from .linalg import matmul, outer
from .logic import logical_and, logical_not, logical_or, logical_xor
from .nonzeros import masked_scatter, nonzero
from .norms import group_norm, layer_norm, rms_norm
from .padding import pad
from .pooling import avg_pool2d, max_pool2d
from .positions import argmax, argmin
from .predicates import is_inf, is_nan
from .printing import print_ as print  # noqa: A004 - MAX's name
from .ranges import range_ as range  # noqa: A004 - MAX's name
from .ranking import argsort, bottom_k, top_k
from .rebinding import rebind
from .reduce import mean, prod
from .reduce import sum_ as sum  # noqa: A004 - MAX's name
from .resizing import InterpolationMode, resize, resize_bicubic, resize_linear, resize_nearest
from .rotary import rotary_embedding
from .rounding import ceil, floor, trunc
from .rounding import round_ as round  # noqa: A004 - MAX's name
from .scattering import (
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_nd,
    scatter_nd_add,
    scatter_nd_max,
    scatter_nd_min,
    scatter_nd_mul,
)
from .selection import where
from .shapes import broadcast_to, flatten, reshape, shape_to_tensor, squeeze, unsqueeze
from .signs import abs_ as abs  # noqa: A004 - MAX's name
from .signs import negate
from .slicing import buffer_store_slice, slice_tensor
from .softmax import logsoftmax, softmax
from .splitting import chunk, split
from .tiling import repeat_interleave, tile
from .transposed_convolution import conv2d_transpose
from .trigonometry import acos, atanh, cos, sin, tanh
from .while_loop import while_loop
from .windows import hann_window

__all__ = [
    "InterpolationMode",
    "abs",
    "acos",
    "add",
    "argmax",
    "argmin",
    "argsort",
    "as_interleaved_complex",
    "atanh",
    "avg_pool2d",
    "band_part",
    "bottom_k",
    "broadcast_to",
    "buffer_create",
    "buffer_load",
    "buffer_store",
    "buffer_store_slice",
    "cached_attention",
    "call",
    "cast",
    "ceil",
    "chunk",
    "complex",
    "concat",
    "cond",
    "constant",
    "constant_external",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
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
    "gather_nd",
    "gelu",
    "greater",
    "greater_equal",
    "group_norm",
    "hann_window",
    "is_inf",
    "is_nan",
    "layer_norm",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsoftmax",
    "masked_scatter",
    "matmul",
    "max",
    "max_pool2d",
    "mean",
    "min",
    "mod",
    "mul",
    "negate",
    "nonzero",
    "not_equal",
    "outer",
    "pad",
    "permute",
    "pow",
    "print",
    "prod",
    "random",
    "range",
    "rebind",
    "relu",
    "repeat_interleave",
    "reshape",
    "resize",
    "resize_bicubic",
    "resize_linear",
    "resize_nearest",
    "rms_norm",
    "rotary_embedding",
    "round",
    "rsqrt",
    "scaled_dot_product_attention",
    "scatter",
    "scatter_add",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_nd_add",
    "scatter_nd_max",
    "scatter_nd_min",
    "scatter_nd_mul",
    "shape_to_tensor",
    "sigmoid",
    "silu",
    "sin",
    "slice_tensor",
    "softmax",
    "split",
    "sqrt",
    "squeeze",
    "stack",
    "sub",
    "sum",
    "tanh",
    "tile",
    "top_k",
    "transfer_to",
    "transpose",
    "trunc",
    "unsqueeze",
    "where",
    "while_loop",
]


def __getattr__(name: str) -> NoReturn:
    raise only_in_max.missing(__name__, name, only_in_max.OPS)
