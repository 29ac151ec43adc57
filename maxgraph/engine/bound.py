"""One set of memory, bound to a model's inputs and outputs."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..driver.arrays import Array
from ..errors import InternalError
from ..lower.lowered import BufferBinding
from .cells import Cell
from .layout import Layout
from .memory import Claim, Owners, check_buffers_apart, ranges_of
from .ort import OrtBinding, OrtFailure, same_memory
from .results import Results
from .undo import Undo

if TYPE_CHECKING:
    from .program import Program
    from .signature import Form
    from .state import State

__all__ = ["Bound"]

#: Inputs up to this size are copied into memory that stays bound, which is cheaper than binding anew; larger ones are
#: read where they lie.
COPIED_INPUT_BYTES = 64 * 1024
_DEAD = 0


class Bound:
    """Bindings that serve every call with these sizes and this memory, one at a time.

    The caller's arrays are not kept alive: they are known by weak reference, and bound again by address.

    Attributes:
        layout: The sizes.
        owners: Who owns the caller's buffers.
        claim: Where they lie.
        known: Which arrays they are, by id; of another length where one of them is gone.
        swaps: Buffers of the state whose two memories are exchanged, each with the one that is bound as the old value.
    """

    __slots__ = (
        "_alive",
        "_back",
        "_binding",
        "_extra",
        "_large",
        "_results",
        "_run",
        "_scratch",
        "_undo",
        "_unread",
        "_views",
        "_writes",
        "claim",
        "known",
        "layout",
        "owners",
        "swaps",
    )

    def __init__(self, program: Program, form: Form, layout: Layout, callers: Sequence[Array], state: State) -> None:
        if program.session is None:
            raise AssertionError(program)  # pragma: no cover - such a program runs nothing
        check_buffers_apart(form, callers)
        self.layout = layout
        self._binding = OrtBinding(program.session)
        self._writes: list[tuple[int, Array, Any]] = []
        self._large: list[tuple[int, str]] = []
        self._views, self._unread = program.views, program.unread
        self._scratch: list[Array] = []
        self._back: list[tuple[int, Array]] = []
        self.swaps: list[tuple[Cell, Array]] = []
        self._undo = Undo()
        tensor_of = {slot.position: at for at, (_, slot) in enumerate(form.tensors)}
        self._remember(callers)
        self._bind_tensors(program)
        given = iter(range(len(callers)))
        for buffer in program.lowered.buffers:
            if buffer.state is not None and buffer.state.scratch:
                self._bind_scratch(buffer)
            elif buffer.state is None and callers:
                at = next(given)
                self._bind_caller(buffer, callers, at)
                self._keep(program, buffer, at, tensor_of)
            else:
                self._bind_cell(buffer, state.cell(buffer.name))
                self._keep(program, buffer, state.cell(buffer.name).allocate(layout.sizes), tensor_of)
        self._results = Results(program.lowered, program.session, self._binding, layout)
        self._run = self._binding.run
        self._extra = bool(
            self._scratch or self._large or self._back or self.swaps or self._undo or not self._results.simple
        )

    def serves(self, layout: Layout, callers: Sequence[Array]) -> bool:
        """Whether a call with these sizes and these buffers can use it as it is."""
        if self.layout is not layout:
            return False
        if self.swaps:
            for cell, array in self.swaps:
                if cell.array is not array:
                    return False
        if self.known != [*map(id, callers)]:
            if ranges_of(callers) != self.claim.ranges:
                return False
            self._remember(callers)  # other arrays over the same memory
        return True

    def run(self, tensors: Sequence[Array], callers: Sequence[Array]) -> list[Array]:
        """Runs the model; the outputs are the caller's own.

        Raises:
            OrtFailure: The run failed. What was to be kept of the buffers is in its place again.
            MemoryError: There was no memory to begin with. Nothing has changed.
        """
        for at, memory, index in self._writes:
            memory[index] = tensors[at]
        if self._extra:
            return self._run_with_extras(tensors, callers)
        values = []
        try:
            self._run()
            for result in self._results.memories:
                values.append(result.copy())
        except Exception as error:  # noqa: BLE001 - onnxruntime has many
            raise OrtFailure(str(error)) from None
        return values

    def _run_with_extras(self, tensors: Sequence[Array], callers: Sequence[Array]) -> list[Array]:
        """The same where there is more to do than to run, and to copy the results out of memory that stays bound."""
        alive = self._prepare(tensors)
        kept = self._undo.keep(tensors, callers)
        try:
            self._run()
            values = self._results.take()
        except Exception as error:  # noqa: BLE001 - onnxruntime has many
            for part, copy in kept:
                part[...] = copy
            raise OrtFailure(str(error)) from None
        except BaseException:
            # An interrupt. It is raised when onnxruntime is done, so all buffers have to take over what it made.
            self._commit(callers)
            raise
        del alive
        self._commit(callers)
        return values

    def _commit(self, callers: Sequence[Array]) -> None:
        """Lets buffers with two memories take over their new values; nothing in it can fail."""
        for at, memory in self._back:
            callers[at][...] = memory
        for cell, _ in self.swaps:
            cell.swap()

    def _prepare(self, tensors: Sequence[Array]) -> list[Array]:
        """What is bound anew in each call; gives the arrays that must live until the run is over."""
        for memory in self._scratch:
            memory.fill(0)
        self._results.prepare()
        return [self._bind_large(name, tensors[at]) for at, name in self._large]

    def _keep(self, program: Program, buffer: BufferBinding, memory: Array | int, tensor_of: Mapping[int, int]) -> None:
        if program.restores:
            self._undo.add(memory, buffer.type.shape, buffer.kept, self.layout.sizes, tensor_of)

    def _remember(self, callers: Sequence[Array]) -> None:
        # An id says that it is the same array only while that lives: when one of them dies, no list of ids is equal.
        known = self.known = [id(array) for array in callers]
        self._alive = [weakref.ref(array, lambda _: known.append(_DEAD)) for array in callers]
        self.claim = Claim(ranges_of(callers))
        self.owners = Owners(callers)

    def _bind_tensors(self, program: Program) -> None:
        for at, tensor in enumerate(program.lowered.inputs):
            if tensor.onnx_name is None:
                continue
            shape, dtype = tensor.type.shape.evaluate(self.layout.sizes), tensor.type.dtype.to_numpy()
            if int(np.prod(shape)) * dtype.itemsize > COPIED_INPUT_BYTES:
                self._large.append((at, tensor.onnx_name))
            else:
                memory = np.zeros(shape, dtype)
                self._bind_input(tensor.onnx_name, memory)
                # numpy assigns to the one element of rank 0 in half the time.
                self._writes.append((at, memory, ... if shape else ()))

    def _bind_large(self, name: str, array: Array) -> Array:
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned):
            array = np.array(array, order="C", copy=True)
        self._bind_input(name, array)
        return array

    def _bind_input(self, name: str, array: Array, shape: tuple[int, ...] | None = None) -> None:
        """Binds memory to an input, and to the others that look at it under another shape."""
        if name not in self._unread:
            self._binding.bind_input(name, array if shape is None else array.reshape(shape))
        for view in self._views.get(name, ()):
            self._binding.bind_input(view.name, array.reshape(view.shape))

    def _bind_scratch(self, buffer: BufferBinding) -> None:
        memory = np.zeros(buffer.type.shape.evaluate(self.layout.sizes), buffer.type.dtype.to_numpy())
        self._scratch.append(memory)
        self._bind_buffer(buffer, memory)
        if buffer.versions and not buffer.plan.mode.shares_memory:
            second = np.zeros_like(memory)
            self._scratch.append(second)
            self._bind_versions(buffer, second)

    def _bind_caller(self, buffer: BufferBinding, callers: Sequence[Array], at: int) -> None:
        self._bind_buffer(buffer, callers[at])
        if buffer.versions and not buffer.plan.mode.shares_memory:
            second = np.zeros_like(callers[at])
            self._back.append((at, second))
            self._bind_versions(buffer, second)

    def _bind_cell(self, buffer: BufferBinding, cell: Cell) -> None:
        memory = cell.allocate(self.layout.sizes)
        self._bind_buffer(buffer, memory)
        if buffer.versions and not buffer.plan.mode.shares_memory:
            # Also where the plan says that a new value is copied back: it was made for memory of the caller's, and
            # memory of a state can be exchanged.
            self.swaps.append((cell, memory))
            self._bind_versions(buffer, cell.second())

    def _bind_buffer(self, buffer: BufferBinding, memory: Array) -> None:
        """Binds the old value, and the new ones where they share its memory."""
        if not same_memory(memory):
            raise InternalError(f"onnxruntime does not take the memory of buffer `{buffer.name}`", code="MG043")
        if buffer.onnx_name is not None:
            shape = buffer.onnx_shape.evaluate(self.layout.sizes)
            self._bind_input(buffer.onnx_name, memory, shape)
        if buffer.plan.mode.shares_memory:
            self._bind_versions(buffer, memory)

    def _bind_versions(self, buffer: BufferBinding, memory: Array) -> None:
        for version in buffer.versions:
            self._binding.bind_output(version.onnx_name, memory.reshape(version.shape.evaluate(self.layout.sizes)))
