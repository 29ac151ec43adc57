"""Conversion between element types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ..type import TensorType
from ..value import TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .registry import op
from .samples import b1, f32, f64, i32, i64

if TYPE_CHECKING:
    import numpy as np

__all__ = ["cast"]


@op()
def cast(x: TensorValueLike, dtype: DType) -> TensorValue:  # type: ignore[empty-body]
    """Elements converted to another type.

    Floats lose their fraction when they become ints; a float out of the int's range has no defined result.

    Args:
        x: A tensor of any shape and dtype.
        dtype: The new element type.

    Returns:
        A tensor of the same shape.

    Example:
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> from maxgraph.dtype import DType
        >>> with Graph("g", input_types=[TensorType(DType.float32, [3], DeviceRef.CPU())]) as graph:
        ...     y = ops.cast(graph.inputs[0].tensor, DType.int64)
        ...     graph.output(y)
        >>> print(y.type)
        int64[3]
    """


@cast.types
def _(x: TensorType, dtype: DType) -> TensorType:
    return x.cast(dtype)


@cast.lowers
def _(b: Emitter, x: Handle, dtype: DType) -> Handle:
    return b.cast(x, dtype)


@cast.reference
def _(x: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    return x.astype(dtype.to_numpy())


cast.samples(
    {"x": f32[2, 3], "dtype": DType.int32},
    {"x": i64[4], "dtype": DType.float32},
    {"x": f64[2, 2], "dtype": DType.float32},
    {"x": i32[5], "dtype": DType.bool},
    {"x": b1[5], "dtype": DType.float32},
)
