"""What functions of one floating-point operand have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from .emitter import Emitter, Handle
from .kernels import FLOATS, computed, narrowed, widened
from .registry import Op
from .rules import need_float
from .samples import bf16, f16, f32, f64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["float_unary"]


def float_unary(
    declared: Op[..., Any],
    lowering: Callable[[Emitter, Handle], Handle],
    meaning: Callable[[Any, Array], Array],
    low: float,
    high: float,
    *,
    kernels: Collection[DType] = FLOATS,
) -> None:
    """Completes the declaration of a function on floats: same dtype, same shape, halves computed in float32.

    Args:
        declared: The op.
        lowering: Its lowering, for a dtype in `kernels`.
        meaning: Its meaning, given numpy and an array of single or double precision.
        low, high: Where ordinary elements lie; infinities, NaN and zeros are tried as well.
        kernels: The dtypes that it can be lowered in.
    """

    @declared.types
    def _(x: TensorType) -> TensorType:
        need_float(x)
        return x

    @declared.lowers
    def _(b: Emitter, x: Handle) -> Handle:
        return computed(b, kernels, lambda y: lowering(b, y), x)

    @declared.reference
    def _(x: Array) -> Array:
        import numpy as np

        return narrowed(np.asarray(meaning(np, widened(x))), x)

    special = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0]
    declared.samples(
        {"x": f32[2, 3].between(low, high)},
        {"x": f64[5].between(low, high)},
        {"x": f16[4].between(low, high)},
        {"x": bf16[4].between(low, high)},
        {"x": f32["n:3", 2].between(low, high)},
        {"x": f32[()].between(low, high)},
        {"x": f32[0, 2]},
        {"x": f32[5].of(special)},
        {"x": f64[5].of(special)},
    )
