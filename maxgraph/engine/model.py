"""Loaded models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..driver import CPU, Buffer, Device
from ..driver.arrays import Array
from ..errors import InputError, InputTypeError, StateError, suggest
from ..graph.graph import Graph
from ..graph.type import BufferType
from ..lower.plan import Plan
from .cells import Cell
from .layout import Layouts
from .signature import Signature
from .spec import TensorSpec
from .state import State

if TYPE_CHECKING:
    from ..lower.lowered import Lowered
    from .program import Executor

__all__ = ["Model"]

_new = object.__new__


class Model:
    """A graph that is ready to run. `InferenceSession.load` makes one.

    Attributes:
        graph: The graph.
        plan: How each buffer is changed, and why so; None if the interpreter runs it.
        state: The buffers that the model owns, and a place for all others; used where a call is given no other state.
        initial_values: The recorded initial value of each buffer that has one.

    Example:
        >>> import numpy as np
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.engine import InferenceSession
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph
        >>> total_type = BufferType(DType.int64, [2], DeviceRef.CPU())
        >>> with Graph("count", input_types=[total_type], input_names=["total"]) as graph:
        ...     total = graph.inputs[0].buffer
        ...     total[...] = total[...] + 1
        ...     graph.output(total[...])
        >>> model = InferenceSession().load(graph)
        >>> ours, state = np.zeros(2, np.int64), model.new_state()
        >>> [model.execute(ours)[0].to_numpy().tolist() for _ in range(2)], ours
        ([[1, 1], [2, 2]], array([2, 2]))
        >>> model.execute(state=state)[0].to_numpy(), state.to_numpy("total")
        (array([1, 1]), array([1, 1]))
    """

    #: What the model's states hold their buffers in.
    cell_kind: Callable[[str, BufferType, Array | None], Cell] = Cell

    def __init__(
        self,
        graph: Graph,
        executor: Executor,
        layouts: Layouts,
        *,
        plan: Plan | None,
        devices: Sequence[Device],
        initial_values: Mapping[str, Array],
    ) -> None:
        self.graph = graph
        self.plan = plan
        self.initial_values = dict(initial_values)
        self.state = State(self)
        self._executor = executor
        self._layouts = layouts
        self._devices = list(devices)
        self._result_device = CPU() if all(device.is_host for device in devices) else self._devices[0]
        signature = Signature(graph)
        self._python_signature = signature.python
        self._full, self._tensors_only = signature.full, signature.tensors_only
        kept = [i for i in graph.buffers if not (i.state is not None and i.state.scratch)]
        self._owns = any(info.state is not None for info in kept)
        self._kept = [info.name for info in kept]
        self._symbolic = [info.name for info in kept if not info.value.type.is_static]
        is_static = not any(slot.symbolic for slot in self._full.slots)
        self._static_layout = layouts.get(self._full, [], [], []) if is_static else None

    def execute(self, *args: Any, state: State | None = None) -> list[Buffer]:
        """Runs the model once.

        Args:
            *args: A value for each input in order, buffers included: a `Buffer`, a numpy array or a DLPack tensor; a
                Python scalar for a tensor of rank 0. The memory of a buffer is changed in place. With `state`, the
                buffers are left out.
            state: Holds all buffers; `new_state` makes one.

        Returns:
            The outputs. They are the caller's own: no later call changes them.

        Raises:
            InputError, InputTypeError: An argument is missing or does not fit. Nothing has changed.
            StateInUseError: Another execution uses the state or the memory of a buffer. Nothing has changed.
            StateError: The state is one of another graph, has no sizes yet, or an earlier execution has failed and
                left it half changed.
            ExecutionError: The graph fails on this data, such as by an index out of range. No buffer has changed.
        """
        if state is None:
            form, used, locked = self._full, self.state, self._owns
        else:
            if state.__class__ is not State or self._executor not in state.pools:
                self._check_state(state)
            form, used, locked = self._tensors_only, state, bool(self._kept)
        tensors, callers = form.take(args)
        if locked and not used.lock.acquire(False):
            raise used.in_use()
        try:
            if locked and used.doubtful:
                raise used.half_changed()
            layout = self._static_layout
            if layout is None:
                cells = [] if state is None else [state.cell(name) for name in self._symbolic]
                layout = self._layouts.get(form, tensors, callers, cells)
            for tensor, low, high, _, _ in layout.ranges:
                index = tensors[tensor]
                if index.ndim or low < 0 or not low <= index.item() <= high:  # the quick answer for most
                    layout.check_indices(tensors)
                    break
            results = self._executor.run(form, tensors, callers, layout, used)
        finally:
            if locked:
                used.lock.release()
        device = self._result_device
        buffers = []
        for array in results:
            buffer = _new(Buffer)  # what `Buffer._over` does; a call for each result would be felt
            buffer._array, buffer._device = array, device  # noqa: SLF001 - the driver's friend; see Form.take
            buffers.append(buffer)
        return buffers

    def __call__(self, *args: Any, **kwargs: Any) -> list[Buffer]:
        """The same as `execute`, with inputs also by name; ``state=`` is a `State` unless an input has this name."""
        state = kwargs.get("state")
        if isinstance(state, State):
            del kwargs["state"]
            return self.execute(*self._tensors_only.arrange(args, kwargs), state=state)
        return self.execute(*self._full.arrange(args, kwargs))

    @property
    def lowered(self) -> Lowered | None:
        """What onnxruntime runs; None if the interpreter runs the graph."""
        return getattr(self._executor, "lowered", None)

    def end_profile(self) -> str:
        """Ends the trace that a session with `profile` writes; gives the path of the file.

        Raises:
            ValueError: The session writes none.
        """
        session = getattr(self._executor, "session", None)
        path = "" if session is None else session.end_profiling()
        if not path:
            raise InputError(
                f"model `{self.name}` is not profiled",
                code="MG017",
                help='load it with InferenceSession(profile="...")',
            )
        return str(path)

    def new_state(self) -> State:
        """A state of its own: each buffer at its initial value, or zero."""
        return State(self)

    # What it is ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.graph.name

    @property
    def signature(self) -> inspect.Signature:
        """The inputs as Python parameters."""
        return self._python_signature

    @property
    def buffers(self) -> list[str]:
        """The names of the buffers that a state holds."""
        return list(self._kept)

    @property
    def input_metadata(self) -> list[TensorSpec]:
        """The inputs that callers pass."""
        return [TensorSpec(slot.name, slot.type) for slot in self._full.slots]

    @property
    def output_metadata(self) -> list[TensorSpec]:
        """The outputs."""
        return [TensorSpec(name, value.tensor_type) for name, value in self.graph.results]

    @property
    def devices(self) -> list[Device]:
        """Where it runs."""
        return list(self._devices)

    @property
    def input_devices(self) -> list[Device]:
        """The device of each input."""
        return [self._result_device] * len(self._full.slots)

    @property
    def output_devices(self) -> list[Device]:
        """The device of each output."""
        return [self._result_device] * len(self.graph.results)

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.input_metadata))
        outputs = ", ".join(map(str, self.output_metadata))
        return f"Model({self.name}: ({inputs}) -> ({outputs}))"

    def _check_state(self, state: State) -> None:
        """Does nothing if the state has the model's buffers; one that it has run on before is known to."""
        if not isinstance(state, State):
            raise InputTypeError(
                f"state is a State, not {type(state).__name__}", code="MG032", help="model.new_state() makes one"
            )
        if self._executor in state.pools:
            return
        for info in self.graph.buffers:
            if info.name in self._kept:
                type_ = state.cell(info.name).type if info.name in state else None
                if type_ != info.value.type:
                    raise StateError(
                        f"the state does not fit graph `{self.name}`: buffer `{info.name}` differs",
                        code="MG037",
                        details=[("wanted", str(info.value.type)), ("the state has", str(type_ or "none"))],
                        help=None if type_ else suggest(info.name, state.names),
                    )
        state.pool(self._executor)
