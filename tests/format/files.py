"""Small files for the tests of the reader, and how to put a changed header into one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

import maxgraph
from maxgraph.dtype import DType
from maxgraph.format.preamble import PREAMBLE_BYTES, Preamble, section_start
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, Weight, ops
from maxgraph.v1 import model_pb2

__all__ = ["CPU", "f32", "forged", "header_of", "rich_graph", "saved", "with_header", "with_weights"]

CPU = DeviceRef.CPU()


def rich_graph() -> Graph:
    """A graph that uses every table: symbols, expressions, divisions, weights, states, scratch, attributes, debug."""
    types = [
        TensorType(DType.float32, ["n", 4], CPU),
        TensorType(DType.int64, [], CPU),
        BufferType(DType.float32, [8, 4], CPU),
    ]
    with Graph("rich", input_types=types, input_names=["x", "at", "cache"]) as graph:
        x, at, cache = graph.inputs[0].tensor, graph.inputs[1].tensor, graph.inputs[2].buffer
        total = ops.buffer_create(BufferType(DType.float32, [4], CPU), np.arange(4, dtype=np.float32), name="total")
        count = ops.buffer_create(BufferType(DType.int64, [], CPU), 0, name="count")
        scratch = ops.buffer_create(BufferType(DType.bool, [3], CPU), name="scratch")
        large = ops.constant(np.linspace(0, 1, 400, dtype=np.float32).reshape(4, 100))
        empty = ops.constant(np.zeros((0, 4), np.float32))
        joined = ops.concat([x, x, empty], axis=0)
        half = joined[: x.shape[0] * 2 // 2]
        halves = x[: x.shape[0] // 2]
        total[...] = total[...] + 1
        count[...] = count[...] + 1
        scratch[0] = at > 0
        cache[at] = total[...]
        product = half @ large
        graph.output(product=product, count=count[...], halves=halves, tail=cache[1:3, ::-1])
    return graph


def f32(*dims: int) -> TensorType:
    """A float32 type."""
    return TensorType(DType.float32, dims, CPU)


def with_weights(**types: TensorType) -> Graph:
    """A graph that gives its weights."""
    with Graph("weighted") as graph:
        graph.output(**{name: Weight(name, kind.dtype, kind.shape) for name, kind in types.items()})
    return graph


def saved(folder: Path, graph: Graph | None = None) -> Path:
    """The graph in a file."""
    path = folder / "model.maxg"
    maxgraph.save(graph or rich_graph(), path)
    return path


def header_of(data: bytes) -> bytes:
    """The header of a file."""
    length = int.from_bytes(data[16:24], "little")
    return data[PREAMBLE_BYTES : PREAMBLE_BYTES + length]


def with_header(data: bytes, header: bytes) -> bytes:
    """The file with another header, its lengths and its digest right."""
    old = header_of(data)
    weights = data[section_start(len(old)) :]
    start = section_start(len(header))
    length = start + len(weights) if weights else PREAMBLE_BYTES + len(header)
    preamble = Preamble(0, len(header), length, hashlib.sha256(header).digest())
    body = preamble.pack() + header
    return body + bytes(start - len(body)) + weights if weights else body


def forged(data: bytes, change: Callable[[model_pb2.Model], object]) -> bytes:
    """The file with a changed header message, its digest right."""
    model = model_pb2.Model.FromString(header_of(data))
    change(model)
    return with_header(data, model.SerializeToString(deterministic=True))
