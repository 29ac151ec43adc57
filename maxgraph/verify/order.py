"""Which nodes of an executed model must not change places, told from the model and its bindings alone.

This shares no code with the proof in `maxgraph.lower`, so that a fault there is not a fault here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..lower.lowered import InputView, Lowered

if TYPE_CHECKING:
    import onnx

__all__ = ["Conflict", "conflicts_of", "executed_model"]

#: Operators whose result is their operand's memory, unless it is an output of the model.
_SAME_MEMORY = {"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Dropout", "BitCast"}
#: Operators that look at sizes only.
_SIZES_ONLY = {"Shape", "Size"}


@dataclass(frozen=True, slots=True)
class Conflict:
    """A node that reads a buffer before it is overwritten, and the one that overwrites it.

    Attributes:
        buffer: The user's name of the buffer.
        reader, writer: The nodes' names in the executed model.
    """

    buffer: str
    reader: str
    writer: str


def executed_model(lowered: Lowered) -> bytes:
    """The model that the engine runs on the CPU."""
    return lowered.entry.model if lowered.entry else lowered.model


def conflicts_of(lowered: Lowered) -> list[Conflict]:
    """Every pair of a reader and a later writer of one memory, of all buffers whose versions share theirs."""
    import onnx

    graph = onnx.ModelProto.FromString(executed_model(lowered)).graph
    found: list[Conflict] = []
    for buffer in lowered.buffers:
        if not (buffer.versions and buffer.plan.mode.shares_memory):
            continue
        # By name: which version's memory it is; the input's own contents are version 0.
        version: dict[str, int] = {buffer.onnx_name: 0} if buffer.onnx_name else {}
        version.update((view.name, 0) for view in _views(lowered, buffer.onnx_name))
        version.update((made.onnx_name, at + 1) for at, made in enumerate(buffer.versions))
        found += _pairs(graph, buffer.name, version, len(buffer.versions))
    return found


def _views(lowered: Lowered, name: str | None) -> list[InputView]:
    return [view for view in lowered.entry.views if view.source == name] if lowered.entry else []


def _pairs(graph: onnx.GraphProto, buffer: str, version: dict[str, int], count: int) -> Iterator[Conflict]:
    outputs = {output.name for output in graph.output}
    readers: list[tuple[str, int]] = []
    writers: dict[int, str] = {}
    for node in graph.node:
        read = {version[name] for name in _names_read(node) if name in version}
        passes_on = node.op_type in _SAME_MEMORY and not node.domain and node.output[0] not in outputs
        if passes_on and node.input[0] in version:
            version[node.output[0]] = version[node.input[0]]
        elif node.op_type not in _SIZES_ONLY:
            readers += [(node.name, number) for number in read]
        for name in node.output:
            if name in outputs and name in version:
                writers[version[name]] = node.name
    for reader, number in readers:
        for later in range(number + 1, count + 1):
            if later in writers and writers[later] != reader:
                yield Conflict(buffer, reader, writers[later])


def _names_read(node: onnx.NodeProto) -> Iterator[str]:
    """The operands, and whatever the subgraphs name."""
    yield from node.input
    for attribute in node.attribute:
        if attribute.HasField("g"):
            for inner in attribute.g.node:
                yield from _names_read(inner)
