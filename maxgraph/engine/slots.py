"""The check of one argument: a tensor's value, or a buffer's memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from ..driver import Buffer
from ..driver.arrays import Array, array_from_dlpack, scalar_array
from ..dtype import DType
from ..errors import InputError, InputTypeError
from ..graph.type import BufferType, TensorType
from ..reference.symbols import Symbols

__all__ = ["BufferSlot", "Slot", "TensorSlot"]


class Slot:
    """One input that callers pass.

    Attributes:
        name: Its name.
        type: Its type.
        position: Its place among the inputs that callers pass.
        dtype: Its element type, as numpy has it.
        symbolic: Whether a size of it depends on the call.
        sizes: Its sizes; None if it is symbolic.
    """

    __slots__ = ("dtype", "name", "position", "sizes", "symbolic", "type")

    def __init__(self, name: str, type_: TensorType | BufferType, position: int) -> None:
        self.name = name
        self.type = type_
        self.position = position
        self.symbolic = not type_.is_static
        self.dtype = type_.dtype.to_numpy()
        self.sizes = None if self.symbolic else type_.shape.evaluate({})

    def take(self, argument: Any) -> Array:
        """The argument as an array, its dtype and its static shape checked.

        Raises:
            InputTypeError: It is no array.
            InputError: Its dtype, its shape or its memory is not what is wanted.
        """
        raise NotImplementedError

    def check_type(self, memory: Any) -> None:
        """Does nothing if memory on an accelerator has the dtype and the static shape that are wanted.

        Raises:
            InputError: It has not.
        """
        if memory.dtype != self.dtype:
            raise self._refuse_dtype(memory)
        if memory.shape != self.sizes and not self.symbolic:
            raise self._refuse_shape(memory)

    def _array(self, argument: Any) -> Array:
        """An argument that is no plain numpy array and no `Buffer`."""
        if isinstance(argument, np.ndarray):
            return argument.view(np.ndarray)  # a memory map, say
        if hasattr(argument, "__dlpack__"):
            return array_from_dlpack(argument)
        raise InputTypeError(
            f"input `{self.name}` cannot be a {type(argument).__name__}",
            code="MG032",
            details=[("wanted", str(self.type))],
            help="give a numpy array, a driver.Buffer or a DLPack tensor",
        )

    def _refuse_dtype(self, array: Array) -> InputError:
        name = self.type.dtype.name
        known = name in DType.__members__ and hasattr(np, name)
        return InputError(
            f"input `{self.name}` has dtype {array.dtype}, but {name} is wanted",
            code="MG032",
            details=[("wanted", str(self.type)), ("given", f"{array.dtype}{list(array.shape)}")],
            help=f"convert it yourself, e.g. array.astype(numpy.{name})" if known else None,
        )

    def _refuse_shape(self, array: Array) -> InputError:
        try:
            Symbols().bind_input(self.name, self.type.shape, array.shape)
        except InputError as error:
            return error
        raise AssertionError(array.shape)  # pragma: no cover - it was compared before


class TensorSlot(Slot):
    """A tensor: only its value counts, so an array of any strides will do."""

    __slots__ = ()

    def take(self, argument: Any) -> Array:
        """See `Slot.take`. A Python scalar will do for a rank of 0."""
        kind = type(argument)
        if kind is ndarray:
            array: Array = argument
        elif kind is Buffer:
            array = argument._array  # noqa: SLF001 - see Buffer
        else:
            array = self._array(argument)
        if array.dtype is not self.dtype and array.dtype != self.dtype:
            if array.dtype.newbyteorder("=") != self.dtype:
                raise self._refuse_dtype(array)
            array = array.astype(self.dtype)  # the same values in this machine's byte order
        if array.shape != self.sizes and not self.symbolic:
            raise self._refuse_shape(array)
        return array

    def _array(self, argument: Any) -> Array:
        if isinstance(argument, (bool, int, float, np.generic)) and self.type.rank == 0:
            try:
                return scalar_array(argument, self.type.dtype)
            except (InputError, InputTypeError) as error:
                raise type(error)(f"input `{self.name}`: {error.summary}", code=error.code) from None
        return super()._array(argument)


class BufferSlot(Slot):
    """A buffer: its memory itself is read and changed, so nothing may be copied."""

    __slots__ = ()

    def take(self, argument: Any) -> Array:
        """See `Slot.take`."""
        kind = type(argument)
        if kind is ndarray:
            array: Array = argument
        elif kind is Buffer:
            array = argument._array  # noqa: SLF001 - see Buffer
        else:
            array = self._array(argument)
        if array.dtype is not self.dtype and array.dtype != self.dtype:
            if array.dtype.newbyteorder("=") == self.dtype:
                raise self._refuse_memory("has another byte order than this machine")
            raise self._refuse_dtype(array)
        if array.shape != self.sizes and not self.symbolic:
            raise self._refuse_shape(array)
        flags = array.flags
        if not flags.carray:
            if not flags.writeable:
                raise self._refuse_memory("is read-only")
            raise self._refuse_memory("is not aligned" if flags.c_contiguous else "is not C-contiguous")
        return array

    def _array(self, argument: Any) -> Array:
        if isinstance(argument, (bool, int, float, np.generic)):
            raise InputTypeError(
                f"buffer `{self.name}` cannot be a {type(argument).__name__}: it has no memory that can be changed",
                code="MG032",
                details=[("wanted", str(self.type))],
                help="give a numpy array or a driver.Buffer",
            )
        return super()._array(argument)

    def _refuse_memory(self, why: str) -> InputError:
        return InputError(
            f"the memory of buffer `{self.name}` cannot be used: it {why}",
            code="MG033",
            help="a buffer is changed in place, so it is never copied; give a writable C-contiguous array",
        )
