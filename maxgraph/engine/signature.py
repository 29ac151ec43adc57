"""The inputs of a model as callers pass them."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

from numpy import ndarray

from ..driver import Buffer
from ..driver.arrays import Array
from ..errors import InputError, suggest
from ..graph.graph import Graph
from ..graph.type import BufferType, TensorType
from .slots import BufferSlot, Slot, TensorSlot

__all__ = ["Form", "Signature"]


class Form:
    """One way to pass arguments: all inputs, or the tensors only.

    Attributes:
        slots: What is passed, in order.
        tensors, buffers: Each slot with its place among the arguments.
    """

    __slots__ = ("_buffers", "_tensors", "buffers", "graph_name", "slots", "tensors")

    def __init__(self, graph_name: str, slots: Sequence[Slot]) -> None:
        self.graph_name = graph_name
        self.slots = tuple(slots)
        self.tensors = tuple((at, s) for at, s in enumerate(slots) if isinstance(s, TensorSlot))
        self.buffers = tuple((at, s) for at, s in enumerate(slots) if isinstance(s, BufferSlot))
        # What `take` looks at, without a look into the slot.
        self._tensors = tuple((at, s, s.dtype, s.sizes) for at, s in self.tensors)
        self._buffers = tuple((at, s, s.dtype, s.sizes) for at, s in self.buffers)

    def take(self, arguments: Sequence[Any]) -> tuple[list[Array], list[Array]]:
        """The tensors and the buffers among the arguments, each checked by itself.

        Raises:
            InputError, InputTypeError: The count is wrong, or an argument does not fit.
        """
        if len(arguments) != len(self.slots):
            raise self._refuse_count(len(arguments))
        # Loops, since Python 3.11 makes a call of each comprehension; and what is right as it is costs no call either.
        tensors: list[Array] = []
        for at, slot, dtype, sizes in self._tensors:
            argument = arguments[at]
            array = argument._array if type(argument) is Buffer else argument  # noqa: SLF001 - see Buffer
            if type(array) is ndarray and array.dtype is dtype and array.shape == sizes:
                tensors.append(array)
            else:
                tensors.append(slot.take(argument))
        buffers: list[Array] = []
        for at, buffer_slot, dtype, sizes in self._buffers:
            argument = arguments[at]
            array = argument._array if type(argument) is Buffer else argument  # noqa: SLF001 - see Buffer
            if type(array) is ndarray and array.dtype is dtype and array.shape == sizes and array.flags.carray:
                buffers.append(array)
            else:
                buffers.append(buffer_slot.take(argument))
        return tensors, buffers

    def arrange(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Arguments given by name, behind those given by position.

        Raises:
            InputError: A name is unknown, missing, or given twice.
        """
        if len(arguments) > len(self.slots):
            raise self._refuse_count(len(arguments))
        names = [slot.name for slot in self.slots]
        for name in named:
            if name not in names:
                raise InputError(
                    f"graph `{self.graph_name}` has no input `{name}`", code="MG030", help=suggest(name, names)
                )
            if name in names[: len(arguments)]:
                raise InputError(f"input `{name}` is given by position and by name", code="MG030")
        rest = self.slots[len(arguments) :]
        missing = [slot for slot in rest if slot.name not in named]
        if missing:
            raise InputError(
                f"input `{missing[0].name}` is missing",
                code="MG030",
                details=[(slot.name, str(slot.type)) for slot in missing],
            )
        return [*arguments, *(named[slot.name] for slot in rest)]

    def _refuse_count(self, given: int) -> InputError:
        count = len(self.slots)
        return InputError(
            f"graph `{self.graph_name}` takes {count} argument{'' if count == 1 else 's'}, but {given} "
            f"{'was' if given == 1 else 'were'} given",
            code="MG030",
            details=[(slot.name, str(slot.type)) for slot in self.slots],
        )


class Signature:
    """All inputs of a graph.

    Attributes:
        full: How arguments are passed where the caller holds the buffers: every input in order.
        tensors_only: How they are passed where a `State` holds all buffers.
        python: The same as full, for `inspect` and help.
    """

    __slots__ = ("full", "graph", "python", "tensors_only")

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        slots: list[Slot] = []
        for info in graph.signature:
            type_ = info.value.type
            if info.state is None:
                kind = BufferSlot if isinstance(type_, BufferType) else TensorSlot
                slots.append(kind(info.name, type_, len(slots)))
        self.full = Form(graph.name, slots)
        self.tensors_only = Form(graph.name, [slot for slot in slots if isinstance(slot, TensorSlot)])
        self.python = _python_signature(slots)


def _python_signature(slots: Sequence[Slot]) -> inspect.Signature:
    taken: set[str] = set()
    parameters = []
    for slot in slots:
        name = re.sub(r"\W", "_", slot.name)  # a graph's names may hold dots and dashes
        while name in taken or keyword.iskeyword(name):
            name += "_"
        taken.add(name)
        annotation: type = type(slot.type) if isinstance(slot.type, (TensorType, BufferType)) else object
        parameters.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation))
    return inspect.Signature(parameters)
