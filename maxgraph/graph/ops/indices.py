"""Index tensors, checked before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import ExecutionError
from ..shape import Shape
from ..type import TensorType
from .emitter import Emitter, Handle
from .parameters import Refusal

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["check_indices_now", "checked_indices", "need_index_dtype"]


def need_index_dtype(indices: TensorType) -> None:
    """Refuses indices that are not int32 or int64."""
    if indices.dtype not in (DType.int32, DType.int64):
        raise Refusal(
            f"`indices` must be int32 or int64, not {indices.dtype.name}",
            code="MG016",
            help="cast them: indices.cast(DType.int64)",
        )


def checked_indices(b: Emitter, indices: Handle, sizes: Shape, what: str) -> Handle:
    """The indices as int64, behind a check that each lies in its axis; negative ones count from the end.

    Args:
        b: The emitter.
        indices: Of any shape.
        sizes: The size of the axis that all of them index; or several, one for each position of their last axis.
        what: The axes, for the message.
    """
    wide = b.cast(indices, DType.int64)
    lengths = b.dims(sizes)
    low = b.node("GreaterOrEqual", wide, b.node("Neg", lengths), dtype=DType.bool, since=16)
    high = b.node("Less", wide, lengths, dtype=DType.bool)
    inside = b.cast(b.node("And", low, high), DType.int32)
    flat = b.node("Reshape", inside, b.constant([-1]))
    # An empty list of indices has no smallest one: the 1 that is joined to it stands for "all are inside".
    smallest = b.node("ReduceMin", b.node("Concat", flat, b.constant([1], DType.int32), axis=0), keepdims=0, since=18)
    zero = b.check(b.cast(smallest, DType.bool), f"an index is out of range for {what}")
    return b.node("Add", wide, zero)


def check_indices_now(indices: Array, sizes: tuple[int, ...], what: str) -> None:
    """What `checked_indices` means.

    Raises:
        Refusal: An index is out of range.
    """
    import numpy as np

    lengths = np.array(sizes)
    wrong = (indices < -lengths) | (indices >= lengths)
    if wrong.any():
        index = int(indices[wrong].ravel()[0])
        raise Refusal(f"index {index} is out of range for {what}", code="MG035", error=ExecutionError)
