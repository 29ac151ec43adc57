"""One model bound to one set of memories: made once, run many times.

Small inputs are written into memory that stays bound, small results are copied out of it; large inputs are bound where
they lie, large results get fresh memory each time. What a run returns is the caller's own and never changes later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime as ort

from ..graph.type import TensorType
from ..lower.lowered import BufferBinding, Lowered
from .arguments import Array
from .native import make_runner, ort_value

__all__ = ["Binding", "Memory"]

#: Up to this size a copy is cheaper than binding other memory (benchmarks/per_call.py).
SMALL_BYTES = 16384


@dataclass(slots=True)
class Memory:
    """The memory of one buffer during a run.

    Attributes:
        old: Where its contents are.
        new: Where the new value goes: `old` itself where all versions share it.
    """

    binding: BufferBinding
    old: Array
    new: Array

    @property
    def apart(self) -> bool:
        """Whether the new value is computed in a memory of its own."""
        return self.new is not self.old


class Binding:
    """A bound model.

    Args:
        tensors: An array for each tensor input, in the order of ``lowered.inputs``; only their shapes matter here.
        memories: The memory of each buffer, in the order of ``lowered.buffers``.
        sizes: The sizes of the symbols that the inputs bind.
    """

    def __init__(
        self,
        session: ort.InferenceSession,
        lowered: Lowered,
        tensors: Sequence[Array],
        memories: Sequence[Memory],
        sizes: Mapping[str, int],
    ) -> None:
        self._binding = session.io_binding()
        self._keep: list[Any] = []
        self.memories = list(memories)
        #: For each tensor input: the bound array that its elements are copied to, or None where it is bound itself.
        self.small_inputs: list[tuple[int, Array]] = []
        self._large_inputs: list[tuple[int, str]] = []
        for at, (tensor, array) in enumerate(zip(lowered.inputs, tensors, strict=True)):
            if tensor.onnx_name is None:
                continue
            if array.nbytes <= SMALL_BYTES:
                bound = np.empty(array.shape, array.dtype)
                self._binding.bind_ortvalue_input(tensor.onnx_name, self._hold(bound))
                self.small_inputs.append((at, bound))
            else:
                self._large_inputs.append((at, tensor.onnx_name))
        for memory in memories:
            self._bind_memory(memory, sizes)
        self._outputs = [_Output(t.onnx_name or "", t.type, sizes, lowered.constants) for t in lowered.outputs]
        self._prints = [_Output(p.onnx_name, p.type, sizes, lowered.constants) for p in lowered.prints]
        self._fetched: list[str] = []
        for memory in memories:
            self._fetched += [version.onnx_name for version in memory.binding.versions]
        for output in (*self._outputs, *self._prints):
            self._fetched.append(output.name)
            if output.small is not None:
                self._binding.bind_ortvalue_output(output.name, self._hold(output.small))
        #: Whether every result is copied out of bound memory: then a run needs no rebinding at all.
        self._all_small = all(o.small is not None for o in (*self._outputs, *self._prints)) and not self._large_inputs
        self._run = make_runner(session, self._binding)

    def _hold(self, array: Array) -> ort.OrtValue:
        value = ort_value(array)
        self._keep.append((array, value))
        return value

    def _bind_memory(self, memory: Memory, sizes: Mapping[str, int]) -> None:
        buffer = memory.binding
        if buffer.onnx_name is not None:
            seen = memory.old.reshape(buffer.onnx_shape.evaluate(sizes))
            self._binding.bind_ortvalue_input(buffer.onnx_name, self._hold(seen))
        for version in buffer.versions:
            seen = memory.new.reshape(version.shape.evaluate(sizes))
            value = self._hold(seen)
            if seen.size and value.data_ptr() != memory.new.ctypes.data:  # pragma: no cover - would lose stores
                raise AssertionError(f"onnxruntime copied the memory of {buffer.name}")
            self._binding.bind_ortvalue_output(version.onnx_name, value)

    def run(self, tensors: Sequence[Array]) -> list[Array]:
        """One execution; gives the outputs, then what is to be printed."""
        for at, bound in self.small_inputs:
            np.copyto(bound, tensors[at])
        if self._all_small:
            self._run()
            return [output.small.copy() for output in self._outputs]  # type: ignore[union-attr]  # _all_small says so
        held = []
        for at, name in self._large_inputs:
            value = ort_value(tensors[at])
            held.append(value)
            self._binding.bind_ortvalue_input(name, value)
        fresh: dict[str, Array] = {}
        for output in (*self._outputs, *self._prints):
            if output.small is None:
                if output.shape is None:
                    self._binding.bind_output(output.name, "cpu")
                else:
                    made = fresh[output.name] = np.empty(output.shape, output.dtype)
                    value = ort_value(made)
                    held.append(value)
                    self._binding.bind_ortvalue_output(output.name, value)
        self._run()
        fetched: dict[str, Any] = {}
        if any(output.small is None and output.name not in fresh for output in (*self._outputs, *self._prints)):
            fetched = dict(zip(self._fetched, self._binding.get_outputs(), strict=True))
        return [self._result(output, fresh, fetched) for output in (*self._outputs, *self._prints)]

    @staticmethod
    def _result(output: _Output, fresh: Mapping[str, Array], fetched: Mapping[str, Any]) -> Array:
        if output.small is not None:
            return output.small.copy()
        if output.name in fresh:
            return fresh[output.name]
        value = fetched[output.name]
        return np.array(value.numpy(), copy=True).view(output.dtype)

    @property
    def num_outputs(self) -> int:
        """How many of a run's arrays are outputs; the rest is to be printed."""
        return len(self._outputs)


class _Output:
    """How one output is fetched.

    Attributes:
        small: Memory that stays bound and is copied from, for a small result of known size.
        shape: The sizes; None where they depend on data, or where onnxruntime hands out memory of its own.
    """

    __slots__ = ("dtype", "name", "shape", "small")

    def __init__(self, name: str, type_: TensorType, sizes: Mapping[str, int], constants: frozenset[str]) -> None:
        self.name = name
        self.dtype = type_.dtype.to_numpy()
        self.shape: tuple[int, ...] | None = None
        self.small: Array | None = None
        known = all(symbol.name in sizes for symbol in type_.shape.parameters)
        if name in constants or not known:
            return
        self.shape = type_.shape.evaluate(sizes)
        count = 1
        for size in self.shape:
            count *= size
        if count * type_.dtype.size_in_bytes <= SMALL_BYTES:
            self.small = np.empty(self.shape, self.dtype)
