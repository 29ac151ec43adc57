"""The same two programs written straight on onnxruntime, as someone would who knows how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime

Array = np.ndarray[Any, Any]
_HEAD = '<ir_version: 10, opset_import: ["": 24]>\n'

# `old` is a copy (a Concat of one operand is not optimised away), and the store reads the copy, so that it runs later.
_COUNTER = """counter (float[4] s) => (float[4] old, float[4] new) <float[1] one = {1}> {
  old = Concat <axis = 0> (s)
  new = Add (old, one)
}"""

# The empty slice of `old` in the store's index makes the read run before the store.
_STORE = """store (float[1, ROWS, 64] s, float[1, 1, 64] row, int64[1] at)
=> (float[1, 1, 64] old, float[1, ROWS, 64] new)
<int64[1] zero = {0}> {
  old = Gather <axis = 1> (s, at)
  none = Slice (old, zero, zero, zero)
  flat = Reshape (none, zero)
  after = Cast <to = 7> (flat)
  index = Concat <axis = 0> (at, after)
  new = TensorScatter <axis = 1> (s, row, index)
}"""


class ByHand:
    """A session with a binding, made once; every version of the state is bound to the one memory.

    Attributes:
        state: The state's memory.
    """

    def __init__(self, text: str, state: Array, inputs: dict[str, Array], old: Array, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        model = onnx.parser.parse_model(_HEAD + text)
        self.session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self.state = state
        self.old = old
        self.inputs = inputs
        self.binding = self.session.io_binding()
        value = onnxruntime.OrtValue.ortvalue_from_numpy
        bound = value(state)
        self.binding.bind_ortvalue_input("s", bound)
        for name, array in inputs.items():
            self.binding.bind_ortvalue_input(name, value(array))
        self.binding.bind_ortvalue_output("old", value(old))
        self.binding.bind_ortvalue_output("new", bound)


def counter(threads: int) -> tuple[Callable[[], Array], Callable[[], Array]]:
    """A step with the binding, and a step with `session.run`, which give the old value as the caller's own array."""
    made = ByHand(_COUNTER, np.zeros(4, np.float32), {}, np.zeros(4, np.float32), threads)
    run, binding, old = made.session.run_with_iobinding, made.binding, made.old

    def bound() -> Array:
        run(binding)
        return old.copy()

    plain_state = np.zeros(4, np.float32)
    plain_run = made.session.run

    def plain() -> Array:
        nonlocal plain_state
        before, plain_state = plain_run(None, {"s": plain_state})
        return np.asarray(before)

    return bound, plain


def store(rows: int, threads: int) -> tuple[Callable[[Array, int], Array], Callable[[Array, int], Array]]:
    """The same for the store of one row, which gives the row that was there."""
    text = _STORE.replace("ROWS", str(rows))
    row, at = np.zeros((1, 1, 64), np.float32), np.zeros(1, np.int64)
    made = ByHand(
        text, np.zeros((1, rows, 64), np.float32), {"row": row, "at": at}, np.zeros((1, 1, 64), np.float32), threads
    )
    run, binding, old = made.session.run_with_iobinding, made.binding, made.old

    def bound(values: Array, position: int) -> Array:
        row[...] = values
        at[0] = position
        run(binding)
        return old.copy()

    plain_state = np.zeros((1, rows, 64), np.float32)
    plain_run = made.session.run

    def plain(values: Array, position: int) -> Array:
        nonlocal plain_state
        feeds = {"s": plain_state, "row": values.reshape(1, 1, 64), "at": np.array([position])}
        before, plain_state = plain_run(None, feeds)
        return np.asarray(before)

    return bound, plain
