"""Every op on every sample: what its type rule says, what numpy computes, and what onnxruntime computes agree."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import zlib
from typing import Any

import numpy as np
import onnx
import pytest

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, Graph, TensorType
from maxgraph.graph.ops.registry import REGISTRY, Op
from maxgraph.graph.ops.samples import Sample, Spec
from maxgraph.graph.type import static_dim
from maxgraph.lower import lower
from maxgraph.reference import Interpreter
from tests.lower.runner import Runner

Array = np.ndarray[Any, Any]
# torch.testing's defaults, but looser where two float32 implementations of a transcendental function differ.
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-5, "float64": 1e-12}
CASES = [(made, number) for made in REGISTRY.values() for number in range(len(made.cases))]
# Made by public functions that have their own tests: they need a graph's literals and weights.
BY_HAND = {"constant", "weight", "cond", "while_loop"}


def _fed(spec: Spec) -> TensorType | BufferType:
    """The type of the graph's input: bfloat16 goes in and out as float32, which the runner can bind."""
    return spec.type.cast(DType.float32) if spec.dtype is DType.bfloat16 else spec.type


def specs_of(sample: Sample) -> list[Spec]:
    """The operands of a sample, in order."""
    groups = [value if isinstance(value, list) else [value] for value in sample.values()]
    return [value for group in groups for value in group if isinstance(value, Spec)]


def has_bfloat16(sample: Sample) -> bool:
    return any(spec.dtype is DType.bfloat16 for spec in specs_of(sample))


def build(made: Op[..., Any], sample: Sample) -> tuple[Graph, dict[str, Array], dict[str, Array]]:
    """A graph of one op, with its inputs and buffers."""
    rng = np.random.default_rng(zlib.crc32(made.name.encode()))
    specs = specs_of(sample)
    names = [f"in{at}" for at in range(len(specs))]
    with Graph(made.name, input_types=[_fed(spec) for spec in specs], input_names=names) as graph:
        inputs = iter(graph.inputs)

        def operand(value: Any) -> Any:
            if isinstance(value, Spec):
                given = next(inputs)
                return given.buffer if value.is_buffer else given.tensor.cast(value.dtype)
            if isinstance(value, list) and value and isinstance(value[0], Spec):
                return [operand(v) for v in value]
            return value

        result = made(**{name: operand(value) for name, value in sample.items()})
        results = result if isinstance(result, list) else [] if result is None else [result]
        shown = [v.cast(DType.float32) if v.dtype is DType.bfloat16 else v for v in results]
        graph.output(**{f"out{at}": value for at, value in enumerate(shown)})
    arrays = {
        name: spec.array(rng).astype(_fed(spec).dtype.to_numpy()) for name, spec in zip(names, specs, strict=True)
    }
    buffers = {n: a for (n, a), s in zip(arrays.items(), specs, strict=True) if s.is_buffer}
    return graph, {n: a for n, a in arrays.items() if n not in buffers}, buffers


def same(actual: Array, expected: Array, rounded_to: str | None = None) -> None:
    """Equal in dtype and shape, and in elements within the tolerance of the dtype that they were rounded to."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if expected.dtype.name in TOLERANCE:
        tolerance = TOLERANCE[rounded_to or expected.dtype.name]
        np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), tolerance, tolerance)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(("made", "number"), CASES, ids=lambda v: v.name if isinstance(v, Op) else str(v))
def test_a_sample_agrees_with_the_interpreter(made: Op[..., Any], number: int) -> None:
    graph, inputs, buffers = build(made, made.cases[number])
    expected_buffers = {name: array.copy() for name, array in buffers.items()}
    with contextlib.redirect_stdout(io.StringIO()):
        expected = Interpreter(graph).run(inputs, expected_buffers)
    for (name, value), array in zip(graph.results, expected.values(), strict=True):
        assert array.dtype == value.type.dtype.to_numpy(), name
        for dim, size in zip(value.type.shape, array.shape, strict=True):
            assert static_dim(dim) in (None, size)
    for level in ("none", "all"):
        lowered = lower(graph, optimization=level)
        actual_buffers = {name: array.copy() for name, array in buffers.items()}
        actual = Runner(lowered).run(inputs, actual_buffers)
        for name, array in expected.items():
            same(actual[name], array, "bfloat16" if has_bfloat16(made.cases[number]) else None)
        for name, array in expected_buffers.items():
            same(actual_buffers[name], array)


@pytest.mark.parametrize("made", REGISTRY.values(), ids=lambda made: made.name)
def test_a_result_type_is_what_onnx_infers(made: Op[..., Any]) -> None:
    for sample in made.cases:
        graph, _, _ = build(made, sample)
        model = onnx.load_from_string(lower(graph, optimization="none").model)
        if any(node.domain for node in model.graph.node):
            continue
        outputs = {o.name: copy.deepcopy(o.type.tensor_type) for o in model.graph.output}
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        for output in inferred.graph.output:
            declared, found = outputs[output.name], output.type.tensor_type
            assert found.elem_type == declared.elem_type
            if found.HasField("shape"):
                assert len(found.shape.dim) == len(declared.shape.dim)
                for a, b in zip(found.shape.dim, declared.shape.dim, strict=True):
                    assert not (a.HasField("dim_value") and b.HasField("dim_value")) or a.dim_value == b.dim_value


@pytest.mark.parametrize("made", REGISTRY.values(), ids=lambda made: made.name)
def test_a_declaration_is_whole(made: Op[..., Any]) -> None:
    assert made._rule is not None
    assert made._lowering is not None
    assert made._meaning is not None
    assert made.name in BY_HAND or len(made.cases) >= 2
    assert made.__doc__


def test_every_public_op_has_an_example() -> None:
    from maxgraph.graph import ops

    for name in ops.__all__:
        found = getattr(ops, name)
        # A module of ops, such as `ops.complex`, says for itself which they are.
        public = [getattr(found, inner) for inner in found.__all__] if inspect.ismodule(found) else [found]
        for function in public:
            assert "Example:" in (function.__doc__ or ""), (name, function)
