"""The state that a command begins with."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from maxgraph.errors import UsageError, suggest
from maxgraph.graph import Graph
from maxgraph.graph.type import BufferType

from .console import safe
from .values import Generator, parse_value, resolve_shape

if TYPE_CHECKING:
    from maxgraph.engine import Model, State

__all__ = ["begin_state"]


def begin_state(
    graph: Graph,
    model: Model,
    *,
    state_in: str | None,
    any_program: bool,
    reset: Sequence[str],
    set_state: Sequence[str],
    dims: Mapping[str, int],
    rng: np.random.Generator,
    fill: int | None = None,
) -> State:
    """The state to begin with; everything is checked before a step runs.

    Args:
        graph: The graph.
        model: Its model.
        state_in, any_program, reset: The options of that name.
        set_state: What ``--state`` gave.
        dims: The sizes of symbols.
        rng: Makes random values.
        fill: The seed of random values for the buffers that a caller passes; None: they begin with zeros.

    Raises:
        UsageError, StateError: A buffer is unknown, or a value does not fit.
    """
    state = model.new_state()
    if fill is not None:
        _fill(graph, state, dims, fill)
    if state_in is not None:
        state.load(state_in, any_program=any_program)
    for name in reset:
        state.reset(name)
    kinds = {i.name: i.value.type for i in graph.buffers if i.name in state and isinstance(i.value.type, BufferType)}
    for text in set_state:
        name, equals, value = text.partition("=")
        if not equals or name not in kinds:
            raise UsageError(f"there is no buffer `{safe(name)}`", code="MG037", help=suggest(name, list(kinds)))
        array = parse_value(name, value, kinds[name])
        if isinstance(array, Generator):
            array = array.make(kinds[name], resolve_shape(kinds[name], dims, name), rng)
        state.set(name, array)
    return state


def _fill(graph: Graph, state: State, sizes: Mapping[str, int], seed: int) -> None:
    """Fills the floats among the buffers that a caller passes with random values.

    Those that the model owns begin as the file says, and ints at zero: they may count positions, and must be valid.
    """
    for info in graph.buffers:
        kind = info.value.type
        if info.state is None and isinstance(kind, BufferType):
            text = "random" if kind.dtype.is_float() else "zeros"
            rng = np.random.default_rng([seed, zlib.crc32(info.name.encode())])  # whatever other buffers there are
            state.set(info.name, Generator(text).make(kind, resolve_shape(kind, sizes, info.name), rng))
