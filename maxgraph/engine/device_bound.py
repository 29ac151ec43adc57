"""One execution on an accelerator: what is bound to what, and what has to be done when it has succeeded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..driver import Device
from ..driver.arrays import Array
from ..driver.device_memory import DeviceArray
from ..dtype import DType
from ..errors import UnsupportedError
from ..graph.ops.printing import printed
from ..lower.lowered import BufferBinding, Lowered, Risk
from .cells import Cell
from .device_cells import DeviceCell
from .layout import Layout
from .ort import OrtBinding, OrtFailure, OrtSession

__all__ = ["DeviceRun"]


class DeviceRun:
    """One execution. All is bound anew: onnxruntime copies what lies on the host when it is bound, not when it runs.

    Args:
        graph_id: The number of the CUDA graph that is captured or replayed; None: none is.

    Attributes:
        shared: Memory that the model itself changes.
    """

    def __init__(
        self,
        lowered: Lowered,
        session: OrtSession,
        device: Device,
        layout: Layout,
        *,
        graph_id: int | None = None,
        memories: dict[str, DeviceArray] | None = None,
    ) -> None:
        self._lowered = lowered
        self._session = session
        self._device = device
        self._layout = layout
        self._binding = OrtBinding(session, graph_id=graph_id)
        self._fixed = memories  # by name, where addresses must not change from call to call
        self._done: list[Callable[[], None]] = []
        self._alive: list[object] = []
        self.shared: list[DeviceArray] = []
        self._at_risk: list[DeviceArray] = []
        self._results: list[Callable[[], DeviceArray]] = []

    def bind(self, tensors: Sequence[Any], buffers: Sequence[tuple[BufferBinding, Any]]) -> None:
        """Binds everything.

        Args:
            tensors: Host arrays or `DeviceArray`s.
            buffers: Each buffer with its memory: a host array or a `DeviceArray` of the caller's, a `Cell`, or None
                for memory of one execution.
        """
        for tensor, given in zip(self._lowered.inputs, tensors, strict=True):
            if tensor.onnx_name is not None:
                self._bind_input(tensor.onnx_name, self._placed(tensor.onnx_name, given))
        for buffer, memory in buffers:
            self._bind_buffer(buffer, memory)
        self._bind_outputs()
        self._binding.synchronize()

    def run(self) -> list[DeviceArray]:
        """Runs the model; gives the outputs, which are the caller's own.

        Raises:
            OrtFailure: onnxruntime failed. What the model itself had changed is in its place again.
        """
        kept = [(memory, memory.copy()) for memory in self._at_risk]
        try:
            self._binding.run()
            return [take() for take in self._results]
        except Exception as error:  # noqa: BLE001 - onnxruntime has many
            for memory, old in kept:
                memory.copy_from(old)
            raise OrtFailure(str(error)) from None

    def finish(self) -> None:
        """Puts new values where they belong, after the last run."""
        for done in self._done:
            done()
        for shown in self._lowered.prints:
            print(printed(shown.label, self._binding.fetched(shown.onnx_name, shown.type.dtype)))  # noqa: T201

    def _placed(self, name: str, given: Any) -> Any:
        """A tensor, in memory of a fixed address where that is wanted."""
        if self._fixed is None:
            return given
        memory = self._fixed.get(name)
        if memory is None:
            memory = self._fixed[name] = DeviceArray.empty(given.shape, given.dtype, self._device)
        memory.copy_from(given)
        return memory

    def _new(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
        """Memory that the model writes whole."""
        if self._fixed is None:
            return DeviceArray.empty(shape, dtype, self._device)
        if name not in self._fixed:
            self._fixed[name] = DeviceArray.empty(shape, dtype, self._device)
        return self._fixed[name]

    def _bind_input(self, name: str, memory: Any, shape: tuple[int, ...] | None = None) -> None:
        if isinstance(memory, DeviceArray):
            self._binding.bind_device_input(name, memory, shape or memory.shape)
        else:
            memory = np.ascontiguousarray(memory).reshape(memory.shape)
            self._binding.bind_input(name, memory)
        self._alive.append(memory)

    def _bind_buffer(self, buffer: BufferBinding, given: Any) -> None:
        sizes, changes = self._layout.sizes, bool(buffer.versions)
        commit: Callable[[DeviceArray], None]
        second: DeviceArray | None = None
        if isinstance(given, DeviceCell):
            old = given.place(sizes)
            if changes and not buffer.plan.mode.shares_memory:
                second = given.second_place()
            commit = old.copy_from if self._fixed is not None else lambda _: given.exchange()
        elif isinstance(given, DeviceArray):
            old, commit = given, given.copy_from
        elif given is None:
            shape, dtype = buffer.type.shape.evaluate(sizes), buffer.type.dtype.to_numpy()
            old, commit = self._placed(buffer.name, np.zeros(shape, dtype)), lambda _: None
            if not isinstance(old, DeviceArray):
                old = DeviceArray.of(old, self._device)
        else:
            host = given.allocate(sizes) if isinstance(given, Cell) else given
            old, commit = self._placed(f"buffer {buffer.name}", host), lambda new: _copy_out(new, host)
            if not isinstance(old, DeviceArray):
                old = DeviceArray.of(old, self._device)
        if buffer.onnx_name is not None:
            self._bind_input(buffer.onnx_name, old, buffer.onnx_shape.evaluate(sizes))
        if not changes:
            return
        if buffer.plan.mode.shares_memory:
            self.shared.append(old)
            if buffer.risk is not Risk.NONE:
                self._at_risk.append(old)
            new = old
            if not isinstance(given, (DeviceCell, DeviceArray)):
                self._done.append(lambda: commit(old))
        else:
            new = second or self._new(f"new {buffer.name}", old.shape, old.dtype)
            self._done.append(lambda: commit(new))
        for version in buffer.versions:
            self._binding.bind_device_output(version.onnx_name, new, version.shape.evaluate(sizes))
        self._alive.append(new)

    def _bind_outputs(self) -> None:
        for output, shape in zip(self._lowered.outputs, self._layout.outputs, strict=True):
            name, dtype = str(output.onnx_name), output.type.dtype
            if shape is not None and name not in self._lowered.constants:
                memory = self._new(name, shape, dtype.to_numpy())
                self._binding.bind_device_output(name, memory, shape)
                # Where the address is fixed, the next call writes there again.
                self._results.append(memory.copy if self._fixed is not None else partial(_same, memory))
            else:
                self._results.append(self._fetch(name, dtype))
        for shown in self._lowered.prints:
            self._binding.bind_fetched(shown.onnx_name)
        if not self._binding.has_outputs:
            # Only checks are left of the graph, and onnxruntime runs nothing for no output.
            self._binding.bind_fetched(self._session.outputs[0])

    def _fetch(self, name: str, dtype: DType) -> Callable[[], DeviceArray]:
        """How to get an output for which onnxruntime makes the memory; it may be the model's own."""
        if self._fixed is not None:
            raise UnsupportedError(
                f"graph `{self._lowered.graph_name}` has an output that is constant, or whose size depends on data",
                code="MG042",
                help="load the graph without cuda_graph",
            )
        wanted = dtype.to_numpy()
        if wanted.isbuiltin != 1:  # onnxruntime's value would not hold it as bytes
            self._binding.bind_fetched(name)
            return lambda: DeviceArray.of(self._binding.fetched(name, dtype), self._device)
        self._binding.bind_fetched(name, self._device)

        def take() -> DeviceArray:
            value = self._binding.value(name)
            return DeviceArray(value, wanted, value.shape(), self._device).copy()

        return take


def _same(memory: DeviceArray) -> DeviceArray:
    return memory


def _copy_out(new: DeviceArray, host: Array) -> None:
    host[...] = new.to_host()
