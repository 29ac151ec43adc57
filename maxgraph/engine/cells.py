"""The memory of one buffer of a state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ..driver.arrays import Array
from ..errors import InputError, StateError, suggest
from ..graph.graph import Graph
from ..graph.shape import Shape
from ..graph.type import BufferType
from ..reference.symbols import Symbols

__all__ = ["Cell", "check_values", "initial_values", "own_copy"]


def initial_values(graph: Graph, weights: Mapping[str, Array] | None = None) -> dict[str, Array]:
    """The recorded initial value of each buffer that has one, read-only: its memory is the graph's own.

    Args:
        graph: The graph.
        weights: Elements of weights that the graph does not hold itself.
    """
    found = {}
    for info in graph.buffers:
        if info.state is not None and info.state.initial is not None:
            name = info.state.initial
            data = graph.weights[name].data
            if weights is not None and name in weights:
                found[info.name] = _read_only(weights[name])
            elif data is not None:
                found[info.name] = _read_only(data.numpy())
    return found


def _read_only(array: Array) -> Array:
    view = array.view()
    view.setflags(write=False)
    return view


class Cell:
    """One buffer's memory.

    Attributes:
        name, type: The buffer's.
        initial: Its recorded initial value; None: zeros.
        array: The memory; None until it is first used, and while a symbolic size is not known.
        spare: A second memory, for a plan that exchanges the two.
    """

    __slots__ = ("array", "initial", "name", "spare", "type")

    def __init__(self, name: str, type_: BufferType, initial: Array | None) -> None:
        self.name = name
        self.type = type_
        self.initial = initial
        self.array: Array | None = None
        self.spare: Array | None = None

    def allocate(self, sizes: Mapping[str, int]) -> Array:
        """The memory; made now if there is none yet, and then zero or the initial value.

        Raises:
            StateError: A size is not known.
        """
        if self.array is None:
            self.array = np.zeros(self.shape_in(sizes), self.type.dtype.to_numpy())
            if self.initial is not None:
                self.array[...] = self.initial
        return self.array

    def shape_in(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The sizes that follow from those of symbols.

        Raises:
            StateError: A size is not known.
        """
        try:
            return self.type.shape.evaluate(sizes)
        except KeyError:
            raise StateError(
                f"the size of buffer `{self.name}` is not known yet: {self.type}",
                code="MG037",
                help=f"give it a value first: state.set({self.name!r}, array)",
            ) from None

    @property
    def known_shape(self) -> tuple[int, ...] | None:
        """The sizes; None while there is no memory."""
        return None if self.array is None else self.array.shape

    def second(self) -> Array:
        """The second memory, of the same size; its contents do not matter."""
        if self.spare is None:
            if self.array is None:
                raise AssertionError(self.name)  # pragma: no cover - allocate() comes first
            self.spare = np.zeros_like(self.array)
        return self.spare

    def swap(self) -> None:
        """Exchanges the two memories."""
        self.array, self.spare = self.spare, self.array

    def reset(self) -> None:
        """Sets the initial value again, in the same memory."""
        if self.array is not None:
            self.array[...] = 0 if self.initial is None else self.initial

    def check(self, value: Array) -> None:
        """Does nothing if the value fits.

        Raises:
            StateError: Its dtype or shape differs.
        """
        wanted = self.type.dtype.to_numpy()
        fits = value.dtype == wanted and value.ndim == len(self.type.shape) and _sizes_fit(self.type.shape, value)
        if not fits:
            raise StateError(
                f"the value does not fit buffer `{self.name}`",
                code="MG037",
                details=[("wanted", str(self.type)), ("given", f"{value.dtype}{list(value.shape)}")],
            )

    def holds(self, value: Array) -> bool:
        """Whether the memory has the size of a value, which fits."""
        return self.array is not None and self.array.shape == value.shape

    def replace(self, array: Array | None) -> None:
        """Takes another memory, or none."""
        self.array = array
        self.spare = None

    def copy(self) -> Cell:
        """A cell of its own with the same value."""
        other = Cell(self.name, self.type, self.initial)
        other.array = None if self.array is None else self.array.copy()
        return other


def check_values(values: Mapping[Cell, Array], cells: Iterable[Cell], source: str) -> None:
    """Does nothing if these are values for all of a state's buffers, each one fits, and so do their sizes together.

    Args:
        values: The values.
        cells: All buffers; one whose size is symbolic may be without a value.
        source: What they came from, for the error.

    Raises:
        StateError: They are not.
    """
    for cell, value in values.items():
        cell.check(value)
    for cell in cells:
        if cell not in values and cell.type.is_static:
            raise StateError(
                f"{source} has no buffer `{cell.name}`",
                code="MG037",
                details=[("wanted", str(cell.type))],
                help=suggest(cell.name, [known.name for known in values]),
            )
    symbols = Symbols()
    try:
        for _ in range(2):  # the second round checks sizes that are computed from symbols bound later
            for cell, value in values.items():
                symbols.bind_input(cell.name, cell.type.shape, value.shape)
    except InputError as error:
        raise StateError(
            f"the buffers of {source} do not fit together: {error.summary}", code="MG037", details=error.details
        ) from None


def own_copy(value: Array) -> Array:
    """A value in memory as a buffer needs it."""
    return np.array(value, order="C", copy=True, subok=False)


def _sizes_fit(shape: Shape, value: Array) -> bool:
    try:
        Symbols().bind_input("", shape, value.shape)
    except InputError:
        return False
    return True
