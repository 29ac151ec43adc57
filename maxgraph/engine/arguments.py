"""What a caller passes, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..driver import Buffer
from ..dtype import DType
from ..errors import InputError, InputTypeError, suggest
from ..graph.shape import Shape
from ..graph.type import BufferType, TensorType

__all__ = ["Array", "Parameter", "Sizes", "buffer_array", "check_overlap", "order_arguments", "tensor_array"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input that callers pass.

    Attributes:
        numpy_dtype: The dtype that an array must have.
    """

    name: str
    type: TensorType | BufferType
    numpy_dtype: np.dtype[Any]

    @property
    def is_buffer(self) -> bool:
        """Whether it is memory that the graph changes."""
        return isinstance(self.type, BufferType)


def order_arguments(
    parameters: Sequence[Parameter], args: Sequence[object], kwargs: Mapping[str, object]
) -> list[object]:
    """Positional and keyword arguments in the order of the parameters.

    Raises:
        InputError: There are too many or too few, or a keyword is unknown or given twice.
    """
    names = [p.name for p in parameters]
    listing = ", ".join(f"`{p.name}`: {p.type}" for p in parameters) or "none"
    if len(args) > len(parameters):
        raise InputError(
            f"{len(args)} inputs were given, but the model takes {len(parameters)}",
            code="MG030",
            details=[("inputs", listing)],
        )
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            raise InputError(f"the model has no input `{name}`", code="MG030", help=suggest(name, names))
        if name in given:
            raise InputError(f"input `{name}` is given twice", code="MG030")
        given[name] = value
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(
            f"input `{missing[0]}` is missing" if len(missing) == 1 else f"{len(missing)} inputs are missing",
            code="MG030",
            details=[("missing", ", ".join(missing)), ("inputs", listing)],
        )
    return [given[name] for name in names]


def tensor_array(parameter: Parameter, value: object) -> Array:
    """A tensor argument as an array of exactly the wanted dtype; contiguous, but not necessarily writable.

    Raises:
        InputTypeError: It is nothing that holds elements.
        InputError: Its dtype differs.
    """
    array = _as_array(parameter, value)
    _check_dtype(parameter, array)
    return array if array.flags.c_contiguous else np.array(array, order="C", copy=True)


def buffer_array(parameter: Parameter, value: object) -> Array:
    """A buffer argument as the caller's own memory.

    Raises:
        InputTypeError: It is nothing that holds elements.
        InputError: Its dtype differs, or its memory cannot be changed in place.
    """
    if isinstance(value, (bool, int, float)):
        raise InputTypeError(
            f"buffer `{parameter.name}` must be memory, not a {type(value).__name__}",
            code="MG033",
            help="pass a numpy array or a driver.Buffer",
        )
    array = _as_array(parameter, value)
    _check_dtype(parameter, array)
    for flaw, what in ((not array.flags.writeable, "read-only"), (not array.flags.c_contiguous, "not contiguous")):
        if flaw:
            raise InputError(
                f"buffer `{parameter.name}` is {what}: what the graph stores would be lost",
                code="MG033",
                help="pass a writable, C-contiguous array, e.g. np.ascontiguousarray(array)",
            )
    return array


def _as_array(parameter: Parameter, value: object) -> Array:
    if isinstance(value, Buffer):
        return value.to_numpy()
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, (bool, int, float)):
        return _scalar(parameter, value)
    if hasattr(value, "__dlpack__"):
        return Buffer.from_dlpack(value).to_numpy()
    raise InputTypeError(
        f"input `{parameter.name}` must be an array, a Buffer or DLPack memory, not {type(value).__name__}",
        code="MG033",
        details=[("wanted", str(parameter.type))],
    )


def _scalar(parameter: Parameter, value: float) -> Array:
    """A Python number for an input of rank 0; it must fit exactly."""
    dtype = parameter.type.dtype
    fits = (
        isinstance(value, bool)
        if dtype is DType.bool
        else isinstance(value, int) and not isinstance(value, bool)
        if dtype.is_integral()
        else not isinstance(value, bool)
    )
    try:
        made = np.array(value, parameter.numpy_dtype) if fits else None
    except OverflowError:
        made = None
    if made is None:
        raise InputError(
            f"input `{parameter.name}` cannot take the {type(value).__name__} {value!r}",
            code="MG032",
            details=[("wanted", str(parameter.type))],
        )
    return made


def _check_dtype(parameter: Parameter, array: Array) -> None:
    if array.dtype != parameter.numpy_dtype:
        raise InputError(
            f"input `{parameter.name}` has dtype {array.dtype.str if not array.dtype.isnative else array.dtype.name}, "
            f"but {parameter.numpy_dtype.name} is wanted",
            code="MG032",
            details=[("wanted", str(parameter.type)), ("given", f"{array.dtype.name}{list(array.shape)}")],
            help=f"convert it: array.astype({parameter.numpy_dtype.name!r})",
        )


class Sizes:
    """The sizes of symbols in one call, each with the input that gave it."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self._origins: dict[str, str] = {}

    def bind(self, name: str, shape: Shape, sizes: Sequence[int]) -> None:
        """Checks one input's sizes and binds its symbols.

        Raises:
            InputError: The rank or a size differs, or a symbol has another size by another input.
        """
        details = [("wanted", shape.text), ("given", str(list(sizes)))]
        if len(shape) != len(sizes):
            raise InputError(
                f"input `{name}` has the wrong rank: {len(sizes)}, not {len(shape)}", code="MG031", details=details
            )
        for axis, (dim, size) in enumerate(zip(shape, sizes, strict=True)):
            symbol = dim.polynomial.name
            if symbol is not None:
                known = self.sizes.setdefault(symbol, size)
                origin = self._origins.setdefault(symbol, f"axis {axis} of `{name}`")
                if known != size:
                    raise InputError(
                        f"`{symbol}` is {known} by {origin}, but {size} by axis {axis} of `{name}`",
                        code="MG034",
                        details=details,
                    )
        for axis, (dim, size) in enumerate(zip(shape, sizes, strict=True)):
            if all(symbol.name in self.sizes for symbol in dim.parameters):
                wanted = dim.evaluate(self.sizes)
                if wanted != size:
                    raise InputError(
                        f"input `{name}` has the wrong shape: axis {axis} is {size}, not {wanted}",
                        code="MG031",
                        details=details,
                    )


def check_overlap(memories: Mapping[str, Array]) -> None:
    """Raises where two buffers share memory: each would change under the other's hands.

    Raises:
        InputError: It names both.
    """
    spans = sorted(
        (array.ctypes.data, array.ctypes.data + array.nbytes, name) for name, array in memories.items() if array.nbytes
    )
    for (_, end, first), (start, _, second) in zip(spans, spans[1:], strict=False):
        if start < end:
            raise InputError(
                f"buffers `{first}` and `{second}` share memory",
                code="MG033",
                help="pass memory of its own for each buffer",
            )
