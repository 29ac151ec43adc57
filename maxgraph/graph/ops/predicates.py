"""Which floats are no numbers, or infinite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .kernels import WIDE_FLOATS
from .registry import Op, op
from .rules import need_number
from .samples import bf16, f16, f32, f64, i32

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["is_inf", "is_nan"]


@op()
def is_nan(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """Whether each element is NaN; false for ints.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.is_nan(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]

    Raises:
        ValueError: `x` is bool.
    """


@op()
def is_inf(x: TensorValueLike) -> TensorValue:  # type: ignore[empty-body]
    """Whether each element is an infinity; false for ints.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.is_inf(graph.inputs[0].tensor)
        ...     graph.output(y)
        >>> print(y.type)
        bool[3]

    Raises:
        ValueError: `x` is bool.
    """


def _predicate(declared: Op[..., Any], onnx_op: str, numpy_name: str) -> None:
    """Completes the declaration of a test of floats."""

    @declared.types
    def _(x: TensorType) -> TensorType:
        need_number(x)
        return x.cast(DType.bool)

    @declared.lowers
    def _(b: Emitter, x: Handle) -> Handle:
        # Of an int, any float will do: it is finite.
        return b.node(onnx_op, b.cast(x, x.dtype if x.dtype in WIDE_FLOATS else DType.float32), dtype=DType.bool)

    @declared.reference
    def _(x: Array) -> Array:
        import numpy as np

        return getattr(np, numpy_name)(x)  # type: ignore[no-any-return]

    values = [1, float("nan"), float("inf"), -float("inf")]
    declared.samples(
        {"x": f32[4].of(values)},
        {"x": f64["n:4"].of(values)},
        {"x": f16[2, 2].of(values)},
        {"x": bf16[4].of(values)},
        {"x": i32[3]},
        {"x": f32[0]},
    )


_predicate(is_nan, "IsNaN", "isnan")
_predicate(is_inf, "IsInf", "isinf")
