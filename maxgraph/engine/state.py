"""The buffers of a model, as one thing that lives on between executions."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..driver import Buffer
from ..driver.arrays import Array, array_from_dlpack, scalar_array
from ..errors import StateError, StateInUseError, suggest
from ..graph.graph import Graph
from ..graph.type import BufferType
from .cells import Cell, check_values, initial_values, own_copy
from .pool import Pool

if TYPE_CHECKING:
    from .model import Model

__all__ = ["State"]


class State:
    """A value for each buffer of a graph, scratch memory left out.

    A new state holds each buffer's recorded initial value, or zeros. An execution that is given a state reads and
    changes it; different states of one model may be used by different threads at the same time.

    Args:
        source: The model or the graph whose buffers it holds.

    Attributes:
        lock: Held by the execution that uses the state, and never waited for.
        pools: The bindings of each program that has used it.
        doubtful: Buffers that a failed execution may have left half changed; the state is not used until each of them
            has a value again.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph
        >>> total_type = BufferType(DType.int64, [2], DeviceRef.CPU())
        >>> with Graph("count", input_types=[total_type], input_names=["total"]) as graph:
        ...     total = graph.inputs[0].buffer
        ...     total[...] = total[...] + 1
        ...     graph.output(total[...])
        >>> state = State(graph)
        >>> state.set("total", np.array([3, 4]))
        >>> state.to_numpy("total")
        array([3, 4])
        >>> other = state.fork()
        >>> other.reset()
        >>> other.to_numpy("total"), state.to_numpy("total")
        (array([0, 0]), array([3, 4]))
    """

    def __init__(self, source: Graph | Model) -> None:
        graph = source if isinstance(source, Graph) else source.graph
        initial = initial_values(graph) if isinstance(source, Graph) else source.initial_values
        kind = Cell if isinstance(source, Graph) else source.cell_kind
        cells: dict[str, Cell] = {}
        for info in graph.buffers:
            type_ = info.value.type
            if isinstance(type_, BufferType) and not (info.state is not None and info.state.scratch):
                cells[info.name] = kind(info.name, type_, initial.get(info.name))
        self._begin(graph, cells)

    def _begin(self, graph: Graph, cells: dict[str, Cell]) -> None:
        self._graph = graph
        self._cells = cells
        self._program: str | None = None
        self.lock = threading.Lock()
        self.pools: dict[object, Pool] = {}
        self.doubtful: set[str] = set()

    @property
    def names(self) -> list[str]:
        """The buffers' names, in the order of the signature."""
        return list(self._cells)

    @property
    def program(self) -> str:
        """The hash of the graph that it belongs to, see `maxgraph.program_hash`."""
        if self._program is None:
            from . import program_of

            self._program = program_of(self._graph)
        return self._program

    # What it holds --------------------------------------------------------------------------------------------------

    def reset(self, name: str | None = None) -> None:
        """Sets one buffer, or all of them, to the recorded initial value, or to zeros.

        Raises:
            StateError: There is no such buffer.
            StateInUseError: An execution uses the state.
        """
        with self.exclusive():
            for cell in self._cells.values() if name is None else [self.cell(name)]:
                cell.reset()
                self.doubtful.discard(cell.name)

    def set(self, name: str, array: Any) -> None:
        """Copies a value into a buffer; a buffer with symbolic sizes takes its sizes from it.

        Raises:
            StateError: There is no such buffer, or the value does not fit.
            StateInUseError: An execution uses the state.
        """
        with self.exclusive():
            cell = self.cell(name)
            value = _array(array, cell)
            cell.check(value)
            self._replace({cell: value})

    def to_numpy(self, name: str) -> Array:
        """A copy of a buffer.

        Raises:
            StateError: There is no such buffer, its size is not known yet, or a failed execution half changed it.
            StateInUseError: An execution uses the state.
        """
        with self.exclusive():
            cell = self.cell(name)
            if name in self.doubtful:
                raise self.half_changed()
            return cell.allocate({}).copy()

    def as_dict(self) -> dict[str, Array]:
        """A copy of each buffer; one whose size is not known yet is left out.

        Raises:
            StateError: A failed execution has left a buffer half changed.
            StateInUseError: An execution uses the state.
        """
        with self._whole():
            known = [c for c in self._cells.values() if c.array is not None or c.type.is_static]
            return {cell.name: cell.allocate({}).copy() for cell in known}

    def items(self) -> Iterator[tuple[str, Array]]:
        """The same as pairs."""
        yield from self.as_dict().items()

    def fork(self) -> State:
        """An independent state that begins with the values of this one.

        Raises:
            StateError: A failed execution has left a buffer half changed.
            StateInUseError: An execution uses the state.
        """
        with self._whole():
            other = object.__new__(State)
            other._begin(self._graph, {name: cell.copy() for name, cell in self._cells.items()})
        other._program = self._program
        return other

    @contextmanager
    def checkpoint(self) -> Iterator[State]:
        """Puts every buffer back to what it is now if the block ends by an exception, which goes on.

        The values are copied when the block is entered.

        Example:
            >>> from maxgraph.dtype import DType
            >>> from maxgraph.graph import BufferType, DeviceRef, Graph
            >>> graph = Graph("g", lambda s: None, input_types=[BufferType(DType.int64, [], DeviceRef.CPU())])
            >>> state = State(graph)
            >>> try:
            ...     with state.checkpoint():
            ...         state.set("s", 5)
            ...         raise KeyError
            ... except KeyError:
            ...     print(state.to_numpy("s"))
            0

        Raises:
            StateError: A failed execution has left a buffer half changed.
            StateInUseError: An execution uses the state when the block is entered.
        """
        with self._whole():
            kept = [(cell, None if cell.array is None else cell.array.copy()) for cell in self._cells.values()]
        try:
            yield self
        except BaseException:
            with self.lock:  # whatever another thread still runs on it comes to its end first
                self._replace({cell: value for cell, value in kept if value is not None})
                self._forget([cell for cell, value in kept if value is None])
            raise

    # Files ----------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all buffers to a safetensors file; the file appears at once and whole, or not at all.

        Its metadata name the graph and the hash of its program.

        Raises:
            StateError: The file cannot be written, or a failed execution has left a buffer half changed.
            StateInUseError: An execution uses the state.
        """
        from .state_file import StateFile, write_state

        write_state(path, StateFile(self.as_dict(), self._graph.name, self.program))

    def load(self, path: str | os.PathLike[str], *, any_program: bool = False) -> None:
        """Sets all buffers from a safetensors file, or an .npz file. All is checked before anything is changed.

        Args:
            path: The file.
            any_program: Take it also if it says that another program wrote it, as long as its buffers fit; a
                classifier may so begin with the weights that its training left. A file that does not say is taken
                anyway.

        Raises:
            StateError: The file cannot be read, is one of another program, a buffer is missing or unknown, or a value
                does not fit.
            StateInUseError: An execution uses the state.
        """
        from .state_file import read_state

        found = read_state(path)
        if found.program and found.program != self.program and not any_program:
            raise StateError(
                f"{os.fspath(path)} is a state of another program",
                code="MG038",
                details=[
                    ("wanted", f"graph `{self._graph.name}`, program {self.program[:16]}"),
                    ("given", f"graph {found.graph!r}, program {found.program[:16]!r}"),
                ],
                help="if its buffers mean the same here: state.load(path, any_program=True), maxg run --any-program",
            )
        with self.exclusive():
            values = {self.cell(name): array for name, array in found.buffers.items()}
            check_values(values, self._cells.values(), os.fspath(path))
            self._replace(values)
            # A state has no value for a buffer whose size was not known yet when it was saved.
            self._forget([cell for cell in self._cells.values() if cell not in values])

    def __contains__(self, name: object) -> bool:
        return name in self._cells

    def __repr__(self) -> str:
        return f"State({', '.join(f'{cell.name}: {cell.type}' for cell in self._cells.values())})"

    # What executions use --------------------------------------------------------------------------------------------

    def cell(self, name: str) -> Cell:
        """One buffer's memory.

        Raises:
            StateError: There is none of this name.
        """
        cell = self._cells.get(name)
        if cell is None:
            raise StateError(
                f"graph `{self._graph.name}` has no buffer `{name}`", code="MG037", help=suggest(name, self.names)
            )
        return cell

    def in_use(self) -> StateInUseError:
        """The error for an execution that finds the lock taken."""
        return StateInUseError(
            f"this state of graph `{self._graph.name}` is used by another execution",
            code="MG036",
            help="give each thread a state of its own: model.new_state()",
        )

    def half_changed(self) -> StateError:
        """The error for whoever wants to use a state that is not whole."""
        names = [name for name in self._cells if name in self.doubtful]
        return StateError(
            f"an execution of graph `{self._graph.name}` failed and may have half changed this state",
            code="MG048",
            details=[("may have changed", ", ".join(names))],
            help="give these buffers a value first: state.reset(), state.load(path) or state.set(name, array)",
        )

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """The state, while nothing executes on it."""
        if not self.lock.acquire(blocking=False):
            raise self.in_use()
        try:
            yield
        finally:
            self.lock.release()

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """The same, and no failed execution has half changed it."""
        with self.exclusive():
            if self.doubtful:
                raise self.half_changed()
            yield

    def pool(self, program: object) -> Pool:
        """The bindings of one program to this state."""
        pool = self.pools.get(program)
        return self.pools.setdefault(program, Pool()) if pool is None else pool

    def forget_others(self, program: object) -> None:
        """Drops what other programs have bound, after `program` has exchanged memories."""
        if len(self.pools) > 1:
            for other in list(self.pools):
                if other is not program:
                    del self.pools[other]

    def _replace(self, values: Mapping[Cell, Array]) -> None:
        """Gives buffers values, which fit. What may fail for want of memory comes before the first change."""
        fresh = {cell: own_copy(value) for cell, value in values.items() if not cell.holds(value)}
        if fresh:
            self.pools.clear()  # bindings to memory that is no longer there
        for cell, value in values.items():
            if cell in fresh:
                cell.replace(fresh[cell])
            elif cell.array is not None:
                cell.array[...] = value
            self.doubtful.discard(cell.name)

    def _forget(self, cells: list[Cell]) -> None:
        """Takes buffers back to before they had a memory."""
        for cell in cells:
            if cell.array is not None:
                self.pools.clear()
            cell.replace(None)
            self.doubtful.discard(cell.name)


def _array(value: Any, cell: Cell) -> Array:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Buffer):
        return value._array  # noqa: SLF001 - see Buffer
    if isinstance(value, (bool, int, float, np.generic)):
        return scalar_array(value, cell.type.dtype)
    return array_from_dlpack(value)
