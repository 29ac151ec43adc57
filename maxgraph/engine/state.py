"""The memory of a model's buffers, as an object: made, read, set, saved, restored, put back to the beginning."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Mapping

import numpy as np

from ..errors import StateError, UsageError, suggest
from ..graph.graph import Graph
from ..graph.ir import InputInfo
from ..graph.type import BufferType
from .arguments import Array

__all__ = ["State", "read_arrays"]


class State:
    """The buffers of one graph, each with memory of its own.

    It is made by `Model.new_state`. Buffers begin with the initial value that the file records, else with zeros. A
    buffer whose size is symbolic has no memory until it is `set`, or first used.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.engine import InferenceSession
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph
        >>> with Graph("count", input_types=[BufferType(DType.int64, [2], DeviceRef.CPU())]) as graph:
        ...     total = graph.inputs[0].buffer
        ...     total[...] = total[...] + 1
        ...     graph.output()
        >>> model = InferenceSession().load(graph)
        >>> state = model.new_state()
        >>> for _ in range(3):
        ...     model.execute(state=state)
        []
        []
        []
        >>> state.to_numpy("total").tolist()
        [3, 3]
        >>> state.reset()
        >>> state.to_numpy("total").tolist()
        [0, 0]
    """

    def __init__(self, graph: Graph, *, only_owned: bool = False) -> None:
        self._graph = graph
        self._infos: dict[str, InputInfo] = {
            info.name: info
            for info in graph.buffers
            if not (info.state is not None and info.state.scratch) and (info.state is not None or not only_owned)
        }
        self._memory: dict[str, Array] = {}
        self._spare: dict[str, Array] = {}
        self.lock = threading.Lock()
        for name in self._infos:
            if self._infos[name].value.type.is_static:
                self._memory[name] = self._initial(name)

    @property
    def names(self) -> list[str]:
        """The buffers, in the order of the graph's signature."""
        return list(self._infos)

    @property
    def types(self) -> dict[str, BufferType]:
        """The type of each buffer."""
        kinds = {name: info.value.type for name, info in self._infos.items()}
        return {name: kind for name, kind in kinds.items() if isinstance(kind, BufferType)}

    def _initial(self, name: str, shape: tuple[int, ...] | None = None) -> Array:
        """What a buffer begins with, in new memory."""
        info = self._infos[name]
        kind = info.value.type
        memory = np.zeros(kind.shape.evaluate({}) if shape is None else shape, kind.dtype.to_numpy())
        if info.state is not None and info.state.initial is not None:
            data = self._graph.weights[info.state.initial].data
            if data is None:
                raise StateError(f"the initial value of buffer `{name}` is not given", code="MG039")
            memory[...] = data.numpy()
        return memory

    def _info(self, name: str) -> InputInfo:
        info = self._infos.get(name)
        if info is None:
            raise StateError(f"there is no buffer `{name}`", code="MG037", help=suggest(name, self.names))
        return info

    def reset(self, name: str | None = None) -> None:
        """Puts one buffer, or all, back to what it began with.

        Raises:
            StateError: There is no such buffer.
        """
        for each in self.names if name is None else [name]:
            self._info(each)
            memory = self._memory.get(each)
            if memory is not None:
                memory[...] = self._initial(each, memory.shape)

    def set(self, name: str, array: Array) -> None:
        """Copies an array into a buffer.

        Raises:
            StateError: There is no such buffer, or the dtype or shape differs; nothing has changed then.
        """
        self._set(name, self._checked(name, array))

    def _set(self, name: str, array: Array) -> None:
        memory = self._memory.get(name)
        if memory is None or memory.shape != array.shape:
            self._memory[name] = np.array(array, order="C", copy=True)
            self._spare.pop(name, None)
        else:
            np.copyto(memory, array)

    def _checked(self, name: str, value: Array) -> Array:
        kind = self._info(name).value.type
        array = np.asarray(value)
        fits = array.dtype == kind.dtype.to_numpy() and len(kind.shape) == array.ndim
        for dim, size in zip(kind.shape, array.shape, strict=False):
            fits = fits and (dim.polynomial.value is None or dim.polynomial.value == size)
        if not fits:
            raise StateError(
                f"this does not fit buffer `{name}`",
                code="MG037",
                details=[("wanted", str(kind)), ("given", f"{array.dtype}{list(array.shape)}")],
            )
        return array

    def to_numpy(self, name: str) -> Array:
        """A copy of a buffer's contents.

        Raises:
            StateError: There is no such buffer, or its size is not known yet.
        """
        self._info(name)
        if name not in self._memory:
            raise StateError(
                f"buffer `{name}` has no memory yet: its size is symbolic",
                code="MG037",
                help="set it, or run the model once",
            )
        return self._memory[name].copy()

    def as_dict(self) -> dict[str, Array]:
        """Copies of all buffers that have memory."""
        return {name: self._memory[name].copy() for name in self.names if name in self._memory}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all buffers to a safetensors file; whole or not at all.

        Raises:
            UsageError: It cannot be written.
        """
        from safetensors.numpy import save

        target = os.fspath(path)
        temporary = f"{target}.{secrets.token_hex(6)}.tmp"
        data = save(self.as_dict(), {"format": "maxgraph.state/1", "graph": self._graph.name})
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except OSError as error:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise UsageError(f"{target} cannot be written: {error.strerror}", code="MG050") from None

    def load(self, path: str | os.PathLike[str]) -> None:
        """Reads all buffers from a safetensors or npz file. All is checked before anything changes.

        Raises:
            StateError: A buffer is missing, unknown, or does not fit.
            UsageError: The file cannot be read.
        """
        self.restore(read_arrays(os.fspath(path)), os.fspath(path))

    def restore(self, arrays: Mapping[str, Array], source: str = "the given arrays") -> None:
        """Sets all buffers at once. All is checked before anything changes.

        Raises:
            StateError: A buffer is missing, unknown, or does not fit.
        """
        for name in arrays:
            if name not in self._infos:
                raise StateError(
                    f"{source} holds `{name}`, which is no buffer of graph `{self._graph.name}`",
                    code="MG037",
                    help=suggest(name, self.names),
                )
        missing = [name for name in self.names if name not in arrays]
        if missing:
            raise StateError(f"{source} lacks buffer `{missing[0]}`", code="MG037", help=suggest(missing[0], list(arrays)))
        checked = {name: self._checked(name, array) for name, array in arrays.items()}
        for name, array in checked.items():
            self._set(name, array)

    # What the engine uses -------------------------------------------------------------------------------------------

    def memory(self, name: str, shape: tuple[int, ...] | None) -> Array:
        """A buffer's memory, made where it has none yet."""
        found = self._memory.get(name)
        if found is None:
            found = self._memory[name] = self._initial(name, shape)
        return found

    def spare(self, name: str) -> Array:
        """A second memory for a buffer that is swapped."""
        memory = self._memory[name]
        found = self._spare.get(name)
        if found is None or found.shape != memory.shape:
            found = self._spare[name] = np.zeros_like(memory)
        return found

    def swap(self, name: str) -> None:
        """Exchanges a buffer's two memories."""
        self._memory[name], self._spare[name] = self._spare[name], self._memory[name]

    def holds(self, name: str, memory: Array) -> bool:
        """Whether this is the buffer's memory now."""
        return self._memory.get(name) is memory


def read_arrays(path: str) -> dict[str, Array]:
    """The arrays of a safetensors or npz file, by name.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        if path.endswith(".npz"):
            with np.load(path, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        from safetensors.numpy import load_file

        return dict(load_file(path))
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file", code="MG050") from None
    except Exception as error:  # safetensors and zipfile have errors of their own for damaged files
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise UsageError(f"{path} cannot be read as a state: {reason}", code="MG050") from None
