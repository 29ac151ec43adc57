"""The order in which onnxruntime ran a model's nodes, read from its own trace."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engine import InferenceSession, Model
from ..graph.graph import Graph
from .order import Conflict, conflicts_of

__all__ = ["Violation", "check_trace", "trace"]

_SUFFIX = "_kernel_time"

#: When each execution of a node began and ended, in microseconds of the trace's own clock, by the node's name.
Spans = Mapping[str, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Violation:
    """A node that read a buffer's old value when another had begun to overwrite it.

    Attributes:
        run: Which execution it was, from 0.
    """

    conflict: Conflict
    run: int

    def __str__(self) -> str:
        buffer, reader, writer = self.conflict.buffer, self.conflict.reader, self.conflict.writer
        when = f"buffer `{buffer}`, execution {self.run}"
        return f"{when}: node {reader} read an old value, but node {writer} had begun to overwrite it"


def trace(
    graph: Graph | str | os.PathLike[str],
    run: Callable[[Model], Any],
    *,
    parallel: bool = False,
    **options: Any,
) -> list[Violation]:
    """Runs a graph under onnxruntime's profiler; gives what went against the order that its buffers need.

    Args:
        graph: A graph, or the path of a file.
        run: Calls the model as often as is wanted.
        parallel: Let nodes that do not wait for each other run at the same time.
        **options: Of the `InferenceSession`, such as `num_threads` and `optimization`.

    Example:
        >>> import numpy as np
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef
        >>> with Graph("count", input_types=[BufferType(DType.int64, [2], DeviceRef.CPU())]) as graph:
        ...     total = graph.inputs[0].buffer
        ...     old = total[...]
        ...     total[...] = old + 1
        ...     graph.output(old * 2)
        >>> trace(graph, lambda model: [model.execute(np.zeros(2, np.int64)) for _ in range(3)])
        []
    """
    with tempfile.TemporaryDirectory() as folder:
        session = InferenceSession(profile=os.path.join(folder, "trace"), **options)
        session.parallel = parallel
        model = session.load(graph)
        lowered = model.lowered
        if lowered is None or not lowered.model:
            return []
        run(model)
        spans = read_spans(Path(model.end_profile()))
    return check_trace(conflicts_of(lowered), spans)


def read_spans(path: Path) -> Spans:
    """When each node ran."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for event in json.loads(path.read_text()):
        name = event.get("name", "")
        if event.get("cat") == "Node" and name.endswith(_SUFFIX):
            start = int(event["ts"])
            spans.setdefault(name.removesuffix(_SUFFIX), []).append((start, start + int(event["dur"])))
    return spans


def check_trace(conflicts: Iterable[Conflict], spans: Spans) -> list[Violation]:
    """Where a reader had not ended when the writer began.

    Raises:
        ValueError: The trace lacks a node, or has it another number of times than the other: then it says nothing.
    """
    found = []
    for conflict in conflicts:
        readers, writers = spans.get(conflict.reader, []), spans.get(conflict.writer, [])
        if len(readers) != len(writers) or not readers:
            raise ValueError(
                f"the trace has {len(readers)} of {conflict.reader} and {len(writers)} of {conflict.writer}"
            )
        for run, ((_, ended), (began, _)) in enumerate(zip(sorted(readers), sorted(writers), strict=True)):
            if ended > began:
                found.append(Violation(conflict, run))
    return found
