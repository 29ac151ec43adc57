"""Models on an accelerator: state and results lie there, and only what has to pass the host does."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from ..driver import Buffer, Device
from ..driver.device import CUDA_PROVIDER
from ..driver.device_buffer import DeviceBuffer
from ..driver.device_memory import DeviceArray
from ..errors import InputError, UnsupportedError
from ..lower.lowered import BufferBinding, Lowered
from .device_bound import DeviceRun
from .device_cells import DeviceCell
from .device_form import DeviceForm
from .failures import explain
from .layout import Layout
from .memory import Claim
from .model import Model
from .ort import OrtFailure, OrtSession
from .signature import Form

if TYPE_CHECKING:
    from .state import State

__all__ = ["DeviceModel", "DeviceProgram"]

#: Captured graphs that are kept; each holds memory for all inputs and outputs.
_GRAPHS = 16


class DeviceProgram:
    """Runs a lowered graph on an accelerator. See `program.Executor`.

    Args:
        lowered, session: The graph.
        device: The accelerator.
        capture: Whether executions are captured as CUDA graphs, and replayed.

    Raises:
        UnsupportedError: The graph checks an index that it computes itself, or cannot be captured.
    """

    def __init__(self, lowered: Lowered, session: OrtSession | None, device: Device, *, capture: bool = False) -> None:
        _check_runs_there(lowered, device, capture=capture)
        self.lowered = lowered
        self.session = session
        self._device = device
        self._capture = capture
        self._graphs: dict[object, tuple[int, dict[str, DeviceArray]]] = {}
        self._graph_ids = count(1)
        self._one_at_a_time = threading.Lock()  # a captured graph is one set of memory

    def run(
        self, form: Form, tensors: Sequence[Any], callers: Sequence[Any], layout: Layout, state: State
    ) -> list[Any]:
        """See `Executor.run`; the outputs are `DeviceArray`s."""
        if self.session is None:
            return []
        _check_apart(form, tensors, callers)
        state.forget_others(self)  # a program on the host has bound memory that buffers now leave
        claim = Claim(tuple(map(_extent, callers)))
        if callers:
            claim.take()
        try:
            buffers = self._buffers(callers, state)
            if self._capture:
                with self._one_at_a_time:
                    return self._replay(tensors, buffers, layout)
            run = DeviceRun(self.lowered, self.session, self._device, layout)
            run.bind(tensors, buffers)
            results = run.run()
            run.finish()
            return results
        except OrtFailure as failure:
            whole = replace(self.lowered, buffers=())  # each one has its old value
            raise explain(str(failure), whole, restored=True)[0] from None
        finally:
            if callers:
                claim.release()

    def _buffers(self, callers: Sequence[Any], state: State) -> list[tuple[BufferBinding, Any]]:
        given = iter(callers)
        found: list[tuple[BufferBinding, Any]] = []
        for buffer in self.lowered.buffers:
            if buffer.state is not None and buffer.state.scratch:
                found.append((buffer, None))
            elif buffer.state is None and callers:
                found.append((buffer, next(given)))
            else:
                found.append((buffer, state.cell(buffer.name)))
        return found

    def _replay(
        self, tensors: Sequence[Any], buffers: Sequence[tuple[BufferBinding, Any]], layout: Layout
    ) -> list[DeviceArray]:
        """Runs a captured graph; captures it first if these addresses are new.

        Capturing runs the model some times more. What it changes itself is saved before and put back after, so that the
        state advances by one execution.
        """
        if self.session is None:
            raise AssertionError(self)  # pragma: no cover - run() has looked
        addresses = tuple(_address(memory, layout) for _, memory in buffers)
        key = (layout, addresses)
        new = key not in self._graphs
        if new:
            if len(self._graphs) >= _GRAPHS:
                self.session.forget_graph(self._graphs.pop(next(iter(self._graphs)))[0])
            self._graphs[key] = (next(self._graph_ids), {})
        graph_id, memories = self._graphs[key]
        run = DeviceRun(self.lowered, self.session, self._device, layout, graph_id=graph_id, memories=memories)
        try:
            run.bind(tensors, buffers)
            if new and run.shared:
                saved = [(memory, memory.copy()) for memory in run.shared]
                try:
                    run.run()
                finally:
                    for memory, old in saved:
                        memory.copy_from(old)
            results = run.run()
        except BaseException:
            self.session.forget_graph(self._graphs.pop(key)[0])  # half a capture is of no use
            raise
        run.finish()
        return results


class DeviceModel(Model):
    """A `Model` on an accelerator.

    Its states keep their buffers there between executions, its outputs are buffers there, and tensors of other
    libraries that lie there are read and changed where they are.
    """

    def __init__(self, device: Device, *args: Any, **kwargs: Any) -> None:
        self.cell_kind = partial(DeviceCell, device=device)
        super().__init__(*args, **kwargs)
        if isinstance(self._executor, DeviceProgram):
            indices = frozenset(check.position for check in self._executor.lowered.index_checks)
            self._full = DeviceForm(self._full, device, indices)
            self._tensors_only = DeviceForm(self._tensors_only, device, indices)

    def execute(self, *args: Any, state: State | None = None) -> list[Buffer]:
        """See `Model.execute`; the outputs lie on the accelerator."""
        return [DeviceBuffer.over(buffer._array) for buffer in super().execute(*args, state=state)]  # type: ignore[arg-type]  # noqa: SLF001 - what DeviceProgram gave


def _check_runs_there(lowered: Lowered, device: Device, *, capture: bool) -> None:
    """Raises where the accelerator would not do what the graph means."""
    if lowered.provider == CUDA_PROVIDER and lowered.guards:
        # A check inside a graph is a node that fails; kernels on CUDA do not fail, but read and write out of range.
        message, where = next(iter(lowered.guards.values()))
        raise UnsupportedError(
            f"graph `{lowered.graph_name}` checks something that it computes itself, which cannot be done on {device}",
            code="MG042",
            details=[("check", message)],
            where=where,
            help="make the index an input of the graph, or run it on the CPU",
        )
    if capture and lowered.prints:
        raise UnsupportedError(
            f"graph `{lowered.graph_name}` prints, which cannot be captured",
            code="MG042",
            help="load the graph without cuda_graph",
        )


def _address(memory: Any, layout: Layout) -> int:
    if isinstance(memory, DeviceCell):
        return memory.place(layout.sizes).address
    return memory.address if isinstance(memory, DeviceArray) else 0


def _extent(array: Any) -> tuple[int, int]:
    start = array.address if isinstance(array, DeviceArray) else array.ctypes.data
    return start, start + array.nbytes


def _check_apart(form: Form, tensors: Sequence[Any], callers: Sequence[Any]) -> None:
    """Raises if a buffer overlaps another argument, on the host or on the accelerator."""
    buffers = [(*_extent(array), slot.name) for array, (_, slot) in zip(callers, form.buffers, strict=False)]
    others = [
        (*_extent(array), slot.name)
        for array, (_, slot) in zip(tensors, form.tensors, strict=True)
        if isinstance(array, DeviceArray)  # those on the host are copied before anything changes
    ]
    for at, (start, end, name) in enumerate(buffers):
        for begin, stop, other in [*buffers[at + 1 :], *others]:
            if start < stop and begin < end and start < end and begin < stop:
                raise InputError(
                    f"inputs `{name}` and `{other}` overlap in memory, and `{name}` is a buffer",
                    code="MG033",
                    help="give one of them a copy",
                )
