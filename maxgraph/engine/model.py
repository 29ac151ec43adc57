"""A loaded model: takes inputs, runs, gives outputs."""

from __future__ import annotations

import inspect
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import onnxruntime as ort

from ..driver import Buffer, Device
from ..dtype import DType
from ..errors import ExecutionError, InputError, MaxGraphError, StateInUseError
from ..graph.graph import Graph
from ..graph.ops.device import printed
from ..graph.type import static_dim
from ..lower.lowered import Lowered
from ..lower.plan import Plan
from .arguments import Array, Parameter, Sizes, buffer_array, check_overlap, order_arguments, tensor_array
from .binding import SMALL_BYTES, Binding, Memory
from .failures import explain_failure
from .state import State

__all__ = ["Model", "TensorSpec"]

#: Bindings that are kept: enough for a few states or buffers that take turns.
_KEPT_BINDINGS = 8
#: Addresses of callers' buffers that an execution is changing now; each is set and removed under the GIL.
_BUSY: dict[int, object] = {}


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """What a model says of an input or an output; a dim that is not static is None."""

    name: str
    dtype: DType
    shape: list[int | None]


class Runnable(Protocol):
    """What executes a graph over memories that are fixed."""

    def run(self, tensors: Sequence[Array]) -> list[Array]:
        """One execution; gives the outputs, then what is to be printed."""
        ...


class Model:
    """A graph that is ready to run. Made by `InferenceSession.load`.

    Attributes:
        name: The graph's name.
        devices: Where it runs.
        plan: How each buffer is changed; see `maxgraph.lower.Mode`. None for the reference interpreter.
        state: The buffers that the model itself owns.
    """

    def __init__(
        self, graph: Graph, lowered: Lowered, session: ort.InferenceSession | None, devices: Sequence[Device]
    ) -> None:
        self._graph = graph
        self._lowered = lowered
        self._session = session
        self.name = graph.name
        self.devices = list(devices)
        self.plan: Plan | None = lowered.plan
        self._parameters = [
            Parameter(info.name, info.value.type, info.value.type.dtype.to_numpy())
            for info in graph.signature
            if info.state is None
        ]
        self._tensors = [p for p in self._parameters if not p.is_buffer]
        self._tensor_positions = [at for at, p in enumerate(self._parameters) if not p.is_buffer]
        self.state = State(graph, only_owned=True)
        self._bindings: OrderedDict[tuple[object, ...], _Bound] = OrderedDict()
        self._last: _Bound | None = None

    @property
    def input_metadata(self) -> list[TensorSpec]:
        """The inputs that a caller passes, in order."""
        return [_spec(p.name, p.type) for p in self._parameters]

    @property
    def output_metadata(self) -> list[TensorSpec]:
        """The outputs, in order."""
        return [_spec(name, value.type) for name, value in self._graph.results]

    @property
    def input_devices(self) -> list[Device]:
        """Where each input is taken from."""
        return [self.devices[0]] * len(self._parameters)

    @property
    def output_devices(self) -> list[Device]:
        """Where each output lies."""
        return [self.devices[0]] * len(self._graph.results)

    @property
    def signature(self) -> inspect.Signature:
        """The inputs as the parameters of a call."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(p.name.replace(".", "_"), kind) for p in self._parameters])

    def new_state(self) -> State:
        """Memory for every buffer of the graph, also those that callers may pass."""
        return State(self._graph)

    def __call__(self, *args: object, state: State | None = None, **kwargs: object) -> list[Buffer]:
        """As `execute`, with inputs by name too."""
        parameters = self._tensors if state is not None else self._parameters
        return self.execute(*order_arguments(parameters, args, kwargs), state=state)

    def execute(self, *args: object, state: State | None = None) -> list[Buffer]:
        """Runs the graph once.

        Args:
            *args: An argument for each input, in order. A tensor is an array, a `Buffer`, DLPack memory, or (of rank
                0) a number. A buffer is memory, which is changed in place: a writable C-contiguous array, or a
                `Buffer`.
            state: Take all buffers from here; then only tensors are passed.

        Returns:
            The outputs; they are the caller's own and never change later.

        Example:
            >>> import numpy as np
            >>> from maxgraph.dtype import DType
            >>> from maxgraph.engine import InferenceSession
            >>> from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType
            >>> cpu = DeviceRef.CPU()
            >>> types = [TensorType(DType.float32, [2], cpu), BufferType(DType.float32, [2], cpu)]
            >>> with Graph("sum", input_types=types) as graph:
            ...     x, total = graph.inputs[0].tensor, graph.inputs[1].buffer
            ...     total[...] = total[...] + x
            ...     graph.output()
            >>> memory = np.zeros(2, np.float32)
            >>> InferenceSession().load(graph).execute(np.ones(2, np.float32), memory)
            []
            >>> memory.tolist()
            [1.0, 1.0]

        Raises:
            InputError, InputTypeError: An argument does not fit; nothing has changed.
            ExecutionError: The graph fails on this data; every buffer is as it was before.
            StateInUseError: The state or a buffer is used by another execution at this moment.
        """
        bound = self._last
        if bound is None or not bound.fits(args, state):
            bound = self._bind(args, state)
        tensors = bound.take(args)
        bound.acquire()
        try:
            bound.check_indices(tensors)
            for memory in bound.scratch:
                memory[...] = 0
            try:
                results = bound.run(tensors)
            except MaxGraphError:
                raise
            except Exception as error:
                raise explain_failure(error, self._lowered) from None
            bound.hand_over()
        finally:
            bound.release()
        count = len(self._lowered.outputs)
        for shown, array in zip(self._lowered.prints, results[count:], strict=True):
            print(printed(shown.label, array))  # noqa: T201 - this is what ops.print is for
        return [Buffer._over(array) for array in results[:count]]  # noqa: SLF001 - results are made by the engine

    def _bind(self, args: Sequence[object], state: State | None) -> _Bound:
        """Checks all arguments, and finds or makes the binding for their memory and sizes."""
        parameters = self._tensors if state is not None else self._parameters
        order_arguments(parameters, args, {})
        sizes = Sizes()
        tensors: list[Array] = []
        passed: dict[str, Array] = {}
        for parameter, value in zip(parameters, args, strict=True):
            array = buffer_array(parameter, value) if parameter.is_buffer else tensor_array(parameter, value)
            sizes.bind(parameter.name, parameter.type.shape, array.shape)
            if parameter.is_buffer:
                passed[parameter.name] = array
            else:
                tensors.append(array)
        owner = state if state is not None else self.state
        memories = self._memories(owner, passed, sizes)
        check_overlap({m.binding.name: m.old for m in memories})
        for check in self._lowered.dim_checks:
            if check.value.evaluate(sizes.sizes) < check.low.evaluate(sizes.sizes):
                given = ", ".join(f"{name} = {size}" for name, size in sizes.sizes.items())
                raise InputError(check.message, code="MG031", details=[("sizes", given)], where=check.where)
        key = (
            tuple(array.shape for array in tensors),
            tuple((id(m.old), id(m.new)) for m in memories),
            id(owner),
            threading.get_ident(),  # what is bound is filled and read by one thread at a time
        )
        found = self._bindings.get(key)
        if found is None:
            binding = self._make_binding(tensors, memories, sizes.sizes)
            found = _Bound(self, binding, memories, state, owner, tensors, sizes.sizes)
            self._bindings[key] = found
            while len(self._bindings) > _KEPT_BINDINGS:
                self._bindings.popitem(last=False)
        self._bindings.move_to_end(key)
        found.arguments = list(args)
        self._last = found
        return found

    def _make_binding(
        self, tensors: Sequence[Array], memories: Sequence[Memory], sizes: dict[str, int]
    ) -> Runnable | None:
        """What runs over these memories; None where the graph computes nothing."""
        if self._session is None:
            return None
        return Binding(self._session, self._lowered, tensors, memories, sizes)

    def _memories(self, owner: State, passed: dict[str, Array], sizes: Sizes) -> list[Memory]:
        """Where each buffer's old and new contents are."""
        memories = []
        for buffer in self._lowered.buffers:
            apart = bool(buffer.versions) and not buffer.plan.mode.shares_memory
            if buffer.name in passed:
                old = passed[buffer.name]
                memories.append(Memory(buffer, old, np.empty_like(old) if apart else old))
                continue
            if buffer.state is not None and buffer.state.scratch:
                old = np.zeros(buffer.type.shape.evaluate({}), buffer.type.dtype.to_numpy())
                memories.append(Memory(buffer, old, np.empty_like(old) if apart else old))
                continue
            shape = None
            if not buffer.type.is_static:
                known = owner._memory.get(buffer.name)  # noqa: SLF001 - the engine's own class
                if known is not None:
                    sizes.bind(buffer.name, buffer.type.shape, known.shape)
                elif not all(symbol.name in sizes.sizes for symbol in buffer.type.shape.parameters):
                    raise InputError(
                        f"the size of buffer `{buffer.name}` is not known: {buffer.type}",
                        code="MG037",
                        help=f"set it first: state.set({buffer.name!r}, array)",
                    )
                shape = buffer.type.shape.evaluate(sizes.sizes)
            old = owner.memory(buffer.name, shape)
            memories.append(Memory(buffer, old, owner.spare(buffer.name) if apart else old))
        return memories


class _Bound:
    """A binding with the arguments that it was made for, so that the next call with the same ones checks little."""

    def __init__(
        self,
        model: Model,
        binding: Runnable | None,
        memories: list[Memory],
        state: State | None,
        owner: State,
        tensors: Sequence[Array],
        sizes: dict[str, int],
    ) -> None:
        self.binding = binding
        self.sizes = dict(sizes)
        self.arguments: list[object] = []
        self._state = state
        self._owner = owner
        parameters = model._tensors if state is not None else model._parameters  # noqa: SLF001 - one unit with Model
        shapes = iter([array.shape for array in tensors])
        self._wanted = [(None if p.is_buffer else next(shapes), p) for p in parameters]
        passed = {p.name for p in parameters if p.is_buffer}
        self._owned = [
            m
            for m in memories
            if m.binding.name not in passed and not (m.binding.state is not None and m.binding.state.scratch)
        ]
        self.scratch = [m.old for m in memories if m.binding.state is not None and m.binding.state.scratch]
        self._callers = [m for m in memories if m.binding.name in passed]
        self._addresses = [m.old.ctypes.data for m in self._callers if m.old.nbytes]
        self._apart = [m for m in memories if m.apart]
        # The model's own state guards only the buffers that it holds.
        self._lock = owner.lock if self._owned else threading.Lock()
        self._thread = threading.get_ident()
        self._checks = [
            (
                model._tensor_positions.index(check.position),  # noqa: SLF001 - one unit with Model
                check.size.evaluate(sizes),
                check.low.evaluate(sizes),
                check.high.evaluate(sizes),
                check,
            )
            for check in model._lowered.index_checks  # noqa: SLF001 - one unit with Model
        ]
        self._large = [at for at, array in enumerate(tensors) if array.nbytes > SMALL_BYTES]
        self._memories = memories
        self._token = object()

    def fits(self, args: Sequence[object], state: State | None) -> bool:
        """Whether this binding serves the call: the same memory, and tensors of the same dtype and shape."""
        if state is not self._state or len(args) != len(self._wanted) or threading.get_ident() != self._thread:
            return False
        known = self.arguments
        for at, (shape, parameter) in enumerate(self._wanted):
            value = args[at]
            if shape is None:
                if value is not known[at]:
                    return False
                continue
            array = value._array if type(value) is Buffer else value  # noqa: SLF001 - the engine's own class
            if (
                type(array) is not np.ndarray
                or array.shape != shape
                or array.dtype != parameter.numpy_dtype
                or not array.flags.c_contiguous
            ):
                return False
        return all(self._owner.holds(m.binding.name, m.old) for m in self._owned)

    def take(self, args: Sequence[object]) -> list[Array]:
        """The tensor arguments as arrays; a large one that lies in a buffer's memory is copied first."""
        tensors = []
        for value, (shape, parameter) in zip(args, self._wanted, strict=True):
            if shape is not None:
                known = type(value) is np.ndarray
                tensors.append(value if known else tensor_array(parameter, value))
        for at in self._large:
            if any(np.may_share_memory(tensors[at], m.old) for m in self._memories):
                tensors[at] = tensors[at].copy()
            elif not tensors[at].flags.c_contiguous:
                tensors[at] = np.array(tensors[at], order="C", copy=True)
        return tensors

    def check_indices(self, tensors: Sequence[Array]) -> None:
        """Refuses an index that would leave its buffer or tensor, before anything runs."""
        for position, size, low, high, check in self._checks:
            value = int(tensors[position].item())
            if not low <= (value + size if value < 0 else value) <= high:
                raise ExecutionError(check.message.format(value=value, size=size), code="MG035", where=check.where)

    def acquire(self) -> None:
        """Claims the memory for one execution.

        Raises:
            StateInUseError: Another execution has it.
        """
        if not self._lock.acquire(blocking=False):
            raise StateInUseError(
                "this state is used by another execution at this moment",
                code="MG036",
                help="give each thread a state of its own: model.new_state()",
            )
        taken = []
        for address in self._addresses:
            if _BUSY.setdefault(address, self._token) is not self._token:
                for other in taken:
                    del _BUSY[other]
                self._lock.release()
                raise StateInUseError(
                    "a buffer is used by another execution at this moment",
                    code="MG036",
                    help="give each thread buffers of its own",
                )
            taken.append(address)

    def release(self) -> None:
        """Gives the memory back."""
        for address in self._addresses:
            _BUSY.pop(address, None)
        self._lock.release()

    def run(self, tensors: Sequence[Array]) -> list[Array]:
        """One execution."""
        return self.binding.run(tensors) if self.binding is not None else []

    def hand_over(self) -> None:
        """Puts new values that were computed apart where their buffers are."""
        for memory in self._apart:
            if memory in self._owned:
                self._owner.swap(memory.binding.name)
            else:
                np.copyto(memory.old, memory.new)


def _spec(name: str, type_: Any) -> TensorSpec:  # noqa: ANN401 - a TensorType or a BufferType
    return TensorSpec(name, type_.dtype, [static_dim(dim) for dim in type_.shape])
