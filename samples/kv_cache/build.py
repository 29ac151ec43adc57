"""One decode step of attention over key and value caches.

Each step stores the new key and value at a position that is an input, and attends to all positions up to it.
"""

import math

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops

CPU = DeviceRef.CPU()


def build(heads: int = 4, length: int = 256, width: int = 32) -> Graph:
    """The graph; the caches belong to the model and live on between steps."""
    row = TensorType(DType.float32, [heads, width], CPU)
    types = [row, row, row, TensorType(DType.int64, [], CPU)]
    with Graph("attention_step", input_types=types, input_names=["q", "k", "v", "position"]) as graph:
        q, k, v, position = (value.tensor for value in graph.inputs)
        cache = BufferType(DType.float32, [heads, length, width], CPU)
        keys = ops.buffer_create(cache, 0.0, name="keys")
        values = ops.buffer_create(cache, 0.0, name="values")

        # Two stores of one row in each head; nothing else of the caches is touched.
        keys[:, position] = k
        values[:, position] = v

        scores = keys[...] @ q.reshape([heads, width, 1]) / math.sqrt(width)
        seen = ops.range(0, length, dtype=DType.int64, device=CPU) <= position
        masked = ops.where(seen, scores.reshape([heads, length]), -math.inf)
        weights = ops.softmax(masked).reshape([heads, 1, length])
        graph.output(attended=(weights @ values[...]).reshape([heads, width]))
    return graph
