"""Small graphs that the tests of this folder share."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops

Array = np.ndarray[Any, Any]
CPU = DeviceRef.CPU()
F32, I64 = DType.float32, DType.int64


def tensor(shape: list[Any], dtype: DType = F32) -> TensorType:
    return TensorType(dtype, shape, CPU)


def buffer(shape: list[Any], dtype: DType = F32) -> BufferType:
    return BufferType(dtype, shape, CPU)


def graph_of(body: Any, *types: Any, names: list[str] | None = None) -> Graph:
    """A graph whose body is a function of the inputs, as tensors and buffers; it returns a dict of outputs."""
    with Graph("g", input_types=types, input_names=names) as graph:
        values = [v.buffer if isinstance(t, BufferType) else v.tensor for v, t in zip(graph.inputs, types, strict=True)]
        graph.output(**(body(*values) or {}))
    return graph


def counter(dtype: DType = F32) -> Graph:
    """The old value is the result; the buffer `s`, the caller's, counts up."""

    def body(s: Any) -> Any:
        old = s[...]
        s[...] = old + 1
        return {"old": old}

    return graph_of(body, buffer([4], dtype), names=["s"])


def accumulator() -> Graph:
    """The model owns `total`, which begins with 0, 1, 2, and `count`, which begins with zeros."""

    def body(x: Any) -> Any:
        total = ops.buffer_create(buffer([3]), np.arange(3, dtype=np.float32), name="total")
        count = ops.buffer_create(buffer([], I64), 0, name="count")
        total[...] = total[...] + x
        count[...] = count[...] + 1
        return {"sum": total[...], "n": count[...]}

    return graph_of(body, tensor([3]), names=["x"])


def store(rows: int = 8) -> Graph:
    """A row is stored at `at`; the row that was there, and the new one, are the results."""

    def body(row: Any, at: Any, cache: Any) -> Any:
        old = cache[at]
        cache[at] = row
        return {"old": old, "new": cache[at]}

    return graph_of(body, tensor([4]), tensor([], I64), buffer([rows, 4]), names=["row", "at", "cache"])


def product() -> Graph:
    """`s = s @ w`, whose kernel reads what it overwrites: it needs a second memory or a copy."""

    def body(s: Any, w: Any) -> Any:
        s[...] = s[...] @ w
        return {}

    return graph_of(body, buffer([3, 3]), tensor([3, 3]), names=["s", "w"])
