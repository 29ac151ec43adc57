"""Operands of public functions that are more than one op: coerced with the function's own name in errors."""

from __future__ import annotations

from ..coerce import buffer_of, tensor_of
from ..value import BufferValue, TensorValue

__all__ = ["buffer_operand", "tensor_operand"]


def tensor_operand(value: object, op: str, name: str) -> TensorValue:
    """The operand as a tensor."""
    return tensor_of(value, what=f"{op}: `{name}`")


def buffer_operand(value: object, op: str, name: str) -> BufferValue:
    """The operand as a buffer."""
    return buffer_of(value, what=f"{op}: `{name}`")
