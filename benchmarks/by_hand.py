"""Onnxruntime as somebody uses it who knows how: no check of anything, and nothing done twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime

Array = np.ndarray[Any, Any]
_HEAD = '<ir_version: 10, opset_import: ["": 24, "com.microsoft": 1]>\n'


def session(text: str, threads: int) -> onnxruntime.InferenceSession:
    """A session of a graph in ONNX's text form."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    model = onnx.parser.parse_model(_HEAD + text)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def bound(
    made: onnxruntime.InferenceSession, inputs: Mapping[str, Array], outputs: Mapping[str, Array]
) -> Callable[[], None]:
    """A run on memory that is bound once; an array that is an input and an output is changed in place."""
    value = onnxruntime.OrtValue.ortvalue_from_numpy
    values = {id(array): value(array) for array in (*inputs.values(), *outputs.values())}
    binding = made.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, values[id(array)])
    for name, array in outputs.items():
        binding.bind_ortvalue_output(name, values[id(array)])
    run = made.run_with_iobinding
    kept = (inputs, outputs, values)  # onnxruntime does not keep the arrays

    def call(_: object = kept) -> None:
        run(binding)

    return call


class Plain:
    """`session.run` with the state passed in and a new one coming out.

    Attributes:
        state: The state, by the name of its input.
    """

    def __init__(self, made: onnxruntime.InferenceSession, state: dict[str, Array], names: Sequence[str]) -> None:
        self.state = state
        self._run = made.run
        self._results = len(made.get_outputs()) - len(state)
        self._names = list(names)

    def __call__(self, **inputs: Array) -> list[Array]:
        """A step; gives the results, which come before the new states among the outputs."""
        found = self._run(self._names, {**self.state, **inputs})
        self.state = dict(zip(self.state, found[len(found) - len(self.state) :], strict=True))
        return found[: len(found) - len(self.state)]
