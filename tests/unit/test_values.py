"""Tensors and buffers in a program: MAX's names and operators, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.errors import GraphTypeError
from maxgraph.graph import BufferType, BufferValue, DeviceRef, Dim, Graph, TensorType, TensorValue, Value, Weight, ops

CPU = DeviceRef.CPU()
X = TensorType(DType.float32, [2, 3], CPU)
B = BufferType(DType.float32, [4, 3], CPU)


def opened() -> tuple[Graph, TensorValue, BufferValue]:
    graph = Graph("g", input_types=[X, B])
    return graph, graph.inputs[0].tensor, graph.inputs[1].buffer


def last_ops(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes()]


def test_what_a_buffer_value_is() -> None:
    graph, x, b = opened()
    with graph:
        assert (b.dtype, b.shape, b.rank, b.device, b.type) == (DType.float32, [Dim(4), Dim(3)], 2, CPU, B)
        assert BufferValue(b).to_mlir() is b.to_mlir()
        assert BufferValue.from_mlir(b.to_mlir()).type == B
        assert isinstance(Value.from_mlir(b.to_mlir()), BufferValue)

        class Holder:
            def __buffervalue__(self) -> BufferValue:
                return b

        assert BufferValue(Holder()).to_mlir() is b.to_mlir()
        b.print("contents")
        assert last_ops(graph) == ["buffer_load", "print"]
        for wrong in (x, x.to_mlir(), 3, None):
            with pytest.raises(GraphTypeError, match="buffer"):
                BufferValue(wrong)  # type: ignore[arg-type]
        with pytest.raises(GraphTypeError, match="a tensor, not a buffer"):
            _ = x.buffer
        with pytest.raises(GraphTypeError, match="a buffer, not a tensor"):
            _ = b.tensor
        with pytest.raises(TypeError):
            b + 1  # type: ignore[operator]
        with pytest.raises(GraphTypeError, match="iterated"):
            list(b)
        graph.output()


def test_loads_and_stores_by_index() -> None:
    graph, x, b = opened()
    with graph:
        _ = b[...]
        b[...] = b[...]
        _ = b[0], b[1:3, None, ::2], b[-1, 2]
        b[:2] = x
        b[0] = x[0]
        b[...] = ops.concat([x, x])
        graph.output()
    names = last_ops(graph)
    assert names.count("buffer_store") == 2
    assert names.count("buffer_store_slice") == 2


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floor_div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
}


@pytest.mark.parametrize("name", BINARY)
def test_operators_in_both_directions(name: str) -> None:
    graph, x, _ = opened()
    with graph:
        for operands in ((x, x), (x, 2), (2.5, x), (x, np.float32(2)), (np.ones(3, np.float32), x)):
            result = BINARY[name](*operands)
            assert isinstance(result, TensorValue)
            assert result.shape == X.shape
        graph.output()
    assert name in last_ops(graph)


def test_other_operators() -> None:
    graph, x, _ = opened()
    with graph:
        assert (x < 1).dtype is DType.bool
        assert (1 <= x).dtype is DType.bool  # noqa: SIM300 - the reflected operator
        assert (x @ x.T).shape == [2, 2]
        assert (-x).type == X
        assert round(x).type == X
        quotient, rest = divmod(x, 2)
        assert quotient.type == rest.type == X
        assert ((x > 0) & (x < 1) | ~(x > 2) ^ (x == 1)).dtype is DType.bool
        assert x.reshape([3, 2]).transpose(0, 1).flatten().broadcast_to([2, 6]).permute([1, 0]).shape == [6, 2]
        assert x.cast(DType.int32).argmax().dtype is DType.int64
        assert x.max().shape == x.min(1).shape == x.mean().shape == [2, 1]
        graph.output()


@pytest.mark.parametrize("use", [bool, len, list, lambda x: x in [x + 1], lambda x: {x}], ids=range(5))
def test_what_a_tensor_is_not(use: Callable[[Any], object]) -> None:
    graph, x, _ = opened()
    with graph:
        with pytest.raises(TypeError):
            use(x)
        graph.output()


def test_weights_and_dims_stand_for_tensors() -> None:
    with Graph("g", input_types=[TensorType(DType.int64, ["n"], CPU)]) as graph:
        n = graph.inputs[0].tensor
        weight = Weight("w", DType.int64, [1])
        total = n + weight
        assert TensorValue(weight).to_mlir() is graph.add_weight(weight).to_mlir()
        assert (total * n.shape[0]).type == n.type
        graph.output(total)
    assert list(graph.weights) == ["w"]


def test_inputs_and_outputs_are_named_after_the_programs_variables() -> None:
    with Graph("g", input_types=[X, B, X]) as graph:
        image = graph.inputs[0].tensor
        cache = graph.inputs[1].buffer
        scores = image * cache[0]
        graph.output(scores, image, image + 1, scores, total=image)
    assert [info.name for info in graph.signature] == ["image", "cache", "input2"]
    assert [name for name, _ in graph.results] == ["scores", "image", "output0", "output1", "total"]

    def forward(pixels: TensorValue, memory: BufferValue, factor: float) -> dict[str, TensorValue]:
        assert factor == 3
        return {"half": pixels.tensor * 0.5, "kept": memory.buffer[0]}

    graph = Graph("g", forward, [X, B], factor=3)
    assert [info.name for info in graph.signature] == ["pixels", "memory"]
    assert [name for name, _ in graph.results] == ["half", "kept"]


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = "numpy, onnx, onnxruntime, google.protobuf, click, ml_dtypes, safetensors"
    code = f"import maxgraph, maxgraph.graph, sys; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
