"""What a store costs, counted: on the graph that is executed, and by an allocator that has no room for a copy."""

from __future__ import annotations

import subprocess
import sys
from math import prod

import numpy as np
import onnx
import pytest

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
from maxgraph.lower import Mode, lower
from maxgraph.lower.kernels import VIEWS

ROWS, WIDTH = 64_000, 64
CPU = DeviceRef.CPU()


def store_rows(count: int) -> Graph:
    row = TensorType(DType.float32, [WIDTH], CPU)
    types = [BufferType(DType.float32, [ROWS, WIDTH], CPU), row, TensorType(DType.int64, [], CPU)]
    with Graph("rows", input_types=types, input_names=["cache", "row", "at"]) as graph:
        cache, value, at = graph.inputs
        old = cache.buffer[at.tensor]
        cache.buffer[at.tensor] = value.tensor
        if count == 2:
            cache.buffer[0] = old * 2
        graph.output(old=old)
    return graph


def product_over_the_buffer() -> Graph:
    with Graph("product", input_types=[BufferType(DType.float32, [ROWS, WIDTH], CPU)], input_names=["cache"]) as graph:
        cache = graph.inputs[0].buffer
        cache[...] = cache[...] @ np.eye(WIDTH, dtype=np.float32)
        graph.output()
    return graph


def elementwise_chain() -> Graph:
    with Graph("chain", input_types=[BufferType(DType.float32, [ROWS, WIDTH], CPU)], input_names=["cache"]) as graph:
        cache = graph.inputs[0].buffer
        cache[...] = (cache[...] * 0.9 + 1) * 2
        cache[...] = ops.sigmoid(cache[...]) + 3
        graph.output()
    return graph


GRAPHS = {
    "one store": lambda: store_rows(1),
    "two stores": lambda: store_rows(2),
    "product": product_over_the_buffer,
    "chain": elementwise_chain,
}


@pytest.mark.parametrize("count", [1, 2])
def test_a_row_store_makes_no_value_of_the_buffers_size_but_its_versions(count: int) -> None:
    lowered = lower(store_rows(count))
    (buffer,) = lowered.buffers
    model = onnx.shape_inference.infer_shapes(onnx.load_from_string(lowered.model))
    versions = {version.onnx_name for version in buffer.versions}
    assert len(versions) == count
    sizes = {}
    for info in [*model.graph.value_info, *model.graph.output]:
        dims = info.type.tensor_type.shape.dim
        if all(dim.HasField("dim_value") for dim in dims):
            sizes[info.name] = prod(dim.dim_value for dim in dims)
    large = [
        node.op_type
        for node in model.graph.node
        for output in node.output
        if output not in versions and node.op_type not in VIEWS and sizes.get(output, 0) >= ROWS
    ]
    assert large == []
    assert all(output in sizes for node in model.graph.node for output in node.output if node.op_type != "Reshape")


# An arena that cannot grow beyond a few MB stands in for onnxruntime's own statistics, which Python cannot read: a copy
# of the 16 MB buffer would make the run fail.
SCRIPT = """
import sys
import numpy as np
import onnxruntime as ort
from maxgraph.lower import lower
from tests.lower import test_counts
from tests.lower.runner import Runner

ort.create_and_register_allocator(
    ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT),
    ort.OrtArenaCfg({"max_mem": 4 << 20, "arena_extend_strategy": 1, "initial_chunk_size_bytes": 1 << 16}),
)
runner = Runner(lower(test_counts.GRAPHS[sys.argv[1]]()), config={"session.use_env_allocators": "1"})
cache = np.zeros((test_counts.ROWS, test_counts.WIDTH), np.float32)
feeds = {"row": np.full(test_counts.WIDTH, 3, np.float32), "at": np.array(5)}
feeds = feeds if "store" in sys.argv[1] else {}
for _ in range(2):
    runner.run(feeds, {"cache": cache})
assert not feeds or cache[5, 0] == 3
"""


def run_in_a_small_arena(what: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", SCRIPT, what], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("what", ["one store", "two stores", "chain"])
def test_it_runs_where_a_copy_of_the_buffer_has_no_room(what: str) -> None:
    done = run_in_a_small_arena(what)
    assert done.returncode == 0, done.stderr


def test_the_small_arena_refuses_a_run_that_copies() -> None:
    assert lower(product_over_the_buffer()).plan["cache"].mode is Mode.WRITTEN_THROUGH
    assert run_in_a_small_arena("product").returncode != 0
