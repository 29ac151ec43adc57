"""The buffers of a model, as one thing that lives on between executions."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..driver import Buffer
from ..driver.arrays import Array, array_from_dlpack, scalar_array
from ..errors import StateError, StateInUseError, suggest
from ..graph.graph import Graph
from ..graph.type import BufferType
from .cells import Cell, initial_values
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
    """

    def __init__(self, source: Graph | Model) -> None:
        graph = source if isinstance(source, Graph) else source.graph
        initial = initial_values(graph) if isinstance(source, Graph) else source.initial_values
        kind = Cell if isinstance(source, Graph) else source.cell_kind
        self._graph_name = graph.name
        self._cells: dict[str, Cell] = {}
        for info in graph.buffers:
            type_ = info.value.type
            if isinstance(type_, BufferType) and not (info.state is not None and info.state.scratch):
                self._cells[info.name] = kind(info.name, type_, initial.get(info.name))
        self.lock = threading.Lock()
        self.pools: dict[object, Pool] = {}

    @property
    def names(self) -> list[str]:
        """The buffers' names, in the order of the signature."""
        return list(self._cells)

    def reset(self, name: str | None = None) -> None:
        """Sets one buffer, or all of them, to the recorded initial value, or to zeros.

        Raises:
            StateError: There is no such buffer.
            StateInUseError: An execution uses the state.
        """
        with self.exclusive():
            for cell in self._cells.values() if name is None else [self.cell(name)]:
                cell.reset()

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
            StateError: There is no such buffer, or its size is not known yet.
            StateInUseError: An execution uses the state.
        """
        with self.exclusive():
            return self.cell(name).allocate({}).copy()

    def as_dict(self) -> dict[str, Array]:
        """A copy of each buffer; one whose size is not known yet is left out."""
        with self.exclusive():
            known = [c for c in self._cells.values() if c.array is not None or c.type.is_static]
            return {cell.name: cell.allocate({}).copy() for cell in known}

    def items(self) -> Iterator[tuple[str, Array]]:
        """The same as pairs."""
        yield from self.as_dict().items()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all buffers to a safetensors file; the file appears at once and whole, or not at all.

        Raises:
            StateError: The file cannot be written.
            StateInUseError: An execution uses the state.
        """
        from .state_file import write_state

        write_state(path, self.as_dict(), self._graph_name)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Sets all buffers from a safetensors file, or an .npz file. All is checked before anything is changed.

        Raises:
            StateError: The file cannot be read, a buffer is missing or unknown, or a value does not fit.
            StateInUseError: An execution uses the state.
        """
        from .state_file import read_state

        found = read_state(path)
        with self.exclusive():
            values = {self.cell(name): array for name, array in found.items()}
            for cell, value in values.items():
                cell.check(value)
            for cell in self._cells.values():
                if cell not in values and cell.type.is_static:
                    raise StateError(
                        f"{os.fspath(path)} has no buffer `{cell.name}`",
                        code="MG037",
                        details=[("wanted", str(cell.type))],
                        help=suggest(cell.name, list(found)),
                    )
            self._replace(values)

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
                f"graph `{self._graph_name}` has no buffer `{name}`", code="MG037", help=suggest(name, self.names)
            )
        return cell

    def in_use(self) -> StateInUseError:
        """The error for an execution that finds the lock taken."""
        return StateInUseError(
            f"this state of graph `{self._graph_name}` is used by another execution",
            code="MG036",
            help="give each thread a state of its own: model.new_state()",
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

    def _replace(self, values: dict[Cell, Array]) -> None:
        for cell, value in values.items():
            if cell.set(value):
                self.pools.clear()  # bindings to memory that is no longer there


def _array(value: Any, cell: Cell) -> Array:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Buffer):
        return value._array  # noqa: SLF001 - see Buffer
    if isinstance(value, (bool, int, float, np.generic)):
        return scalar_array(value, cell.type.dtype)
    return array_from_dlpack(value)
