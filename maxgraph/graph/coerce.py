"""What may stand where a tensor or a buffer is wanted, and how weak operands take a dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from ..errors import GraphTypeError, TypeRuleError, user_location
from .dim import Dim
from .dtype_promotion import weak_fits
from .shape import Shape
from .type import TensorType
from .value import BufferValue, HasBufferValue, HasTensorValue, TensorValue, Value, describe

if TYPE_CHECKING:
    import numpy as np

__all__ = ["buffer_of", "is_weak", "strengthen", "tensor_of"]


def _numpy_kind(value: object) -> bool:
    """Whether it is a numpy array or scalar, without importing numpy."""
    return type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "dtype")


def is_weak(value: object) -> TypeGuard[bool | int | float | np.ndarray[Any, Any]]:
    """Whether an operand takes its dtype and device from another: a number, a numpy array, or anything with DLPack."""
    return isinstance(value, (bool, int, float)) or _numpy_kind(value) or hasattr(value, "__dlpack__")


def tensor_of(value: object, *, what: str = "a value") -> TensorValue:
    """The tensor that a value with a dtype of its own stands for.

    Raises:
        TypeError: It is a buffer, a bare number or array (which need another operand's dtype), or something else.
    """
    if isinstance(value, TensorValue):
        return value
    if isinstance(value, HasTensorValue):
        return value.__tensorvalue__()
    if isinstance(value, (Dim, Shape)):
        from . import ops

        return ops.shape_to_tensor([value]).reshape([]) if isinstance(value, Dim) else ops.shape_to_tensor(value)
    where = user_location(columns=True)
    if isinstance(value, Value):
        raise GraphTypeError(
            f"{what} must be a tensor, not {describe(value.to_mlir())}",
            code="MG003",
            where=where,
            help="read the buffer first: ops.buffer_load(b) or b[...]",
        )
    if is_weak(value):
        raise GraphTypeError(
            f"{what} must be a tensor, not a bare {type(value).__name__}: nothing here gives it a dtype",
            code="MG003",
            where=where,
            help="write ops.constant(value, dtype, device)",
        )
    raise GraphTypeError(f"{what} must be a tensor, not {type(value).__name__} {value!r}", code="MG003", where=where)


def buffer_of(value: object, *, what: str = "a value") -> BufferValue:
    """The buffer that a value stands for.

    Raises:
        TypeError: It is a tensor or something else.
    """
    if isinstance(value, BufferValue):
        return value
    if isinstance(value, HasBufferValue):
        return value.__buffervalue__()
    given = describe(value.to_mlir()) if isinstance(value, Value) else f"{type(value).__name__} {value!r}"
    raise GraphTypeError(
        f"{what} must be a buffer, not {given}",
        code="MG004",
        where=user_location(columns=True),
        help="declare the memory as a BufferType input, or make it with ops.buffer_create",
    )


def strengthen(value: bool | float | np.ndarray[Any, Any], like: TensorType, *, op: str) -> TensorValue:  # noqa: FBT001
    """A weak operand as a constant of another operand's dtype and device.

    Raises:
        TypeError: It is an array of objects, text or complex numbers.
        ValueError: It does not fit the dtype exactly.
    """
    from . import ops

    if not isinstance(value, (bool, int, float)):
        import numpy as np

        value = np.asarray(value) if _numpy_kind(value) else np.from_dlpack(value)
        if value.dtype.kind not in "biuf" and value.dtype.kind != "V":
            raise GraphTypeError(f"{op}: an array of {value.dtype} is no operand", code="MG016", where=user_location())
    reason = weak_fits(value, like.dtype)
    if reason is not None:
        raise TypeRuleError(
            f"{op}: {reason}",
            code="MG010",
            where=user_location(columns=True),
            help="cast the tensor, or write the value with ops.constant(value, dtype, device)",
        )
    return ops.constant(value, like.dtype, like.device)
