"""Python scalars and DLPack objects as numpy arrays, without a silent change of value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtype import DType
from ..errors import InputError, InputTypeError

__all__ = ["Array", "array_from_dlpack", "dtype_of", "scalar_array"]

Array = np.ndarray[Any, Any]


def dtype_of(array: Array) -> DType:
    """The element type of an array.

    Raises:
        InputError: numpy has it and graphs do not, or its byte order is not this machine's.
    """
    try:
        return DType.from_numpy(array.dtype)
    except ValueError:
        raise InputError(
            f"numpy dtype {array.dtype.str!r} is no element type of graphs",
            code="MG032",
            help="convert it first, e.g. array.astype(numpy.float32)",
        ) from None


def scalar_array(value: object, dtype: DType) -> Array:
    """A Python or numpy scalar as an array of rank 0.

    Integers must fit; a float is never cut to an integer; a bool is also 0 or 1. A float may be rounded to the
    precision of `dtype`, as any float literal is.

    Example:
        >>> from maxgraph.dtype import DType
        >>> scalar_array(3, DType.float32)
        array(3., dtype=float32)

    Raises:
        InputTypeError: The value is no such scalar.
        InputError: It does not fit.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if dtype is DType.bool:
        allowed = isinstance(plain, bool)
    elif dtype.is_float():
        allowed = isinstance(plain, (bool, int, float))
    else:
        allowed = isinstance(plain, (bool, int))
    if not allowed:
        raise InputTypeError(f"a {dtype.name} is wanted, not {type(value).__name__} {value!r}", code="MG032")
    try:
        return np.array(plain, dtype.to_numpy())
    except OverflowError:
        raise InputError(f"{value!r} does not fit into {dtype.name}", code="MG032") from None


def array_from_dlpack(source: Any, *, copy: bool | None = None) -> Array:
    """The memory of a DLPack object, as numpy; read-only where its owner says so.

    Raises:
        InputTypeError: It does not speak DLPack.
        InputError: It lies on another device, or numpy has no such elements (bfloat16).
    """
    try:
        return np.from_dlpack(source, copy=copy)
    except (AttributeError, TypeError):
        raise InputTypeError(
            f"{type(source).__name__} is no array: it has no working __dlpack__",
            code="MG032",
            help="give a numpy array, a driver.Buffer or a DLPack tensor",
        ) from None
    except (BufferError, RuntimeError, ValueError) as error:
        raise InputError(
            f"the memory of this {type(source).__name__} cannot be shared: {str(error).rstrip('.')}",
            code="MG033",
            help="give it as a numpy array on the CPU",
        ) from None
