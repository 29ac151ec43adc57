"""Outputs as arrays of the caller's own, which no later call changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..driver.arrays import Array
from ..dtype import DType
from ..errors import InternalError
from ..graph.ops.printing import printed
from ..lower.lowered import Lowered
from .layout import Layout
from .ort import OrtBinding, OrtSession

__all__ = ["Results"]

#: Outputs up to this size are copied out of memory that stays bound, which is cheaper than binding anew; larger ones
#: are written straight into new memory.
COPIED_OUTPUT_BYTES = 64 * 1024


class Results:
    """The outputs of one binding, each in the way that is cheapest for it.

    - Small ones of known shape have memory that stays bound, and are copied out of it.
    - Large ones of known shape get new memory in each call.
    - Those whose shape depends on data, and those that are constants of the model, get onnxruntime's memory in each
      call, and are copied out of it.

    Attributes:
        simple: Whether there is nothing to prepare, and all that `take` does is to copy the memories.
        memories: Memory that stays bound, in the order of the outputs.
    """

    __slots__ = (
        "_binding",
        "_copied",
        "_fetched",
        "_fresh",
        "_names",
        "_printed",
        "_values",
        "memories",
        "simple",
    )

    def __init__(self, lowered: Lowered, session: OrtSession, binding: OrtBinding, layout: Layout) -> None:
        self._binding = binding
        self._copied: list[tuple[int, Array]] = []
        self._fresh: list[tuple[int, str, tuple[int, ...], np.dtype[Any]]] = []
        self._fetched: list[tuple[int, str, DType]] = []
        for at, (output, shape) in enumerate(zip(lowered.outputs, layout.outputs, strict=True)):
            name = output.onnx_name
            if name is None:
                raise InternalError(f"output `{output.name}` has no ONNX name", code="MG099")
            dtype = output.type.dtype.to_numpy()
            if shape is None or name in lowered.constants:
                self._fetched.append((at, name, output.type.dtype))
            elif int(np.prod(shape)) * dtype.itemsize > COPIED_OUTPUT_BYTES:
                self._fresh.append((at, name, shape, dtype))
            else:
                memory = np.zeros(shape, dtype)
                binding.bind_output(name, memory)
                self._copied.append((at, memory))
        self._printed = lowered.prints
        self._names = [*(name for _, name, _ in self._fetched), *(shown.onnx_name for shown in lowered.prints)]
        if not (self._names or self._fresh or binding.has_outputs):
            # Only checks are left of the graph, and onnxruntime runs nothing for no output.
            self._names = session.outputs[:1]
        self._values: list[Any] = [None] * len(lowered.outputs)
        self.simple = len(self._copied) == len(lowered.outputs) and not self._names
        self.memories = [memory for _, memory in self._copied]

    def prepare(self) -> None:
        """Binds what is bound anew in each call."""
        for at, name, shape, dtype in self._fresh:
            memory = self._values[at] = np.empty(shape, dtype)
            self._binding.bind_output(name, memory)
        for name in self._names:
            self._binding.bind_fetched(name)

    def take(self) -> list[Array]:
        """The outputs of the run that has just ended."""
        values = self._values.copy()
        for at, memory in self._copied:
            values[at] = memory.copy()
        for at, name, dtype in self._fetched:
            values[at] = self._binding.fetched(name, dtype)
        for at, *_ in self._fresh:
            self._values[at] = None  # the caller's now
        for shown in self._printed:
            array = self._binding.fetched(shown.onnx_name, shown.type.dtype)
            print(printed(shown.label, array))  # noqa: T201 - this is what the op is for
        return values
