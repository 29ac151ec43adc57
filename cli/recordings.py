"""Recorded results: outputs by name, and under ``buffer:NAME`` what a buffer held after each step."""

from __future__ import annotations

import numpy as np

from maxgraph.compare import Recorded
from maxgraph.errors import UsageError, suggest
from maxgraph.graph import Graph
from maxgraph.graph.type import BufferType, TensorType

from .values import Array, read_set

__all__ = ["read_recording", "recording_arrays", "steps_of"]

_PREFIX = "buffer:"


def recording_arrays(recorded: Recorded) -> dict[str, Array]:
    """What is written to a file."""
    return {**recorded.outputs, **{_PREFIX + name: array for name, array in recorded.after.items()}}


def read_recording(path: str, graph: Graph) -> Recorded:
    """Reads what `maxg compare --record` or `maxg run -o` wrote.

    Args:
        path: An .npz or .safetensors file. Each array holds one entry a step along its first axis, or is the result
            of a single step.
        graph: The graph whose results they are.

    Raises:
        UsageError: The file cannot be read, names what the graph does not have, or an array has no such rank.
    """
    kinds: dict[str, TensorType | BufferType] = {name: value.tensor_type for name, value in graph.results}
    kinds |= {_PREFIX + info.name: info.value.type for info in graph.buffers}
    outputs, buffers = {}, {}
    for name, array in read_set(path).items():
        if name not in kinds:
            raise UsageError(
                f"{path} holds `{name}`, which is no output of graph `{graph.name}`",
                code="MG030",
                help=suggest(name, list(kinds)),
            )
        stacked = _stacked(path, name, array, kinds[name])
        if name.startswith(_PREFIX):
            buffers[name.removeprefix(_PREFIX)] = stacked
        else:
            outputs[name] = stacked
    if not outputs and not buffers:
        raise UsageError(f"{path} holds no results", code="MG052")
    recorded = Recorded(path, outputs, buffers)
    lengths = {name: len(array) for name, array in recording_arrays(recorded).items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(
            f"{path} holds results of different numbers of steps",
            code="MG031",
            details=[(name, str(length)) for name, length in lengths.items()],
        )
    return recorded


def steps_of(recorded: Recorded) -> int:
    """How many steps were recorded."""
    return len(next(iter(recording_arrays(recorded).values())))


def _stacked(path: str, name: str, array: Array, kind: TensorType | BufferType) -> Array:
    """One entry a step along the first axis."""
    wanted = kind.dtype.to_numpy()
    if array.dtype.kind == "V" and array.dtype.names is None and array.dtype.itemsize == wanted.itemsize:
        array = array.view(wanted)  # .npz has no name for bfloat16 and smaller floats
    if array.ndim == kind.rank:
        return np.asarray(array)[None]
    if array.ndim == kind.rank + 1:
        return array
    raise UsageError(
        f"`{name}` in {path} has rank {array.ndim}",
        code="MG031",
        details=[("wanted", f"{kind}, or steps of it"), ("given", f"{array.dtype}{list(array.shape)}")],
    )
