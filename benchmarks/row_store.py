"""A row of 64 floats is stored at a given place of a buffer; the result is the row that was there."""

from __future__ import annotations

from functools import partial

import by_hand
import numpy as np
from harness import BY_HAND, CALLERS, NUMPY, PLAIN, STATE, Case, Form, main, modes

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType

ROWS = (1024, 8192, 65536)
# The empty slice of `old` in the store's index makes the read run before the store.
ONNX = """store (float[1, ROWS, 64] s, float[1, 1, 64] row, int64[1] at)
=> (float[1, 1, 64] old, float[1, ROWS, 64] new)
<int64[1] zero = {0}> {
  old = Gather <axis = 1> (s, at)
  none = Slice (old, zero, zero, zero)
  flat = Reshape (none, zero)
  after = Cast <to = 7> (flat)
  index = Concat <axis = 0> (at, after)
  new = TensorScatter <axis = 1> (s, row, index)
}"""


def graph(rows: int) -> Graph:
    cpu = DeviceRef.CPU()
    types = [
        TensorType(DType.float32, [64], cpu),
        TensorType(DType.int64, [], cpu),
        BufferType(DType.float32, [rows, 64], cpu),
    ]
    with Graph("store", input_types=types, input_names=["row", "at", "cache"]) as made:
        row, at = (value.tensor for value in made.inputs[:2])
        cache = made.inputs[2].buffer
        old = cache[at]
        cache[at] = row
        made.output(old=old)
    return made


def case(rows: int, threads: int) -> Case:
    session = by_hand.session(ONNX.replace("ROWS", str(rows)), threads)
    state, old = np.zeros((1, rows, 64), np.float32), np.zeros((1, 1, 64), np.float32)
    row, at = np.zeros((1, 1, 64), np.float32), np.zeros(1, np.int64)
    run = by_hand.bound(session, {"s": state, "row": row, "at": at}, {"old": old, "new": state})

    def bound(values: np.ndarray, position: int) -> np.ndarray:
        row[...] = values
        at[0] = position
        run()
        return old.copy()

    plain = by_hand.Plain(session, {"s": np.zeros((1, rows, 64), np.float32)}, ["old", "new"])

    def by_run(values: np.ndarray, position: int) -> np.ndarray:
        return plain(row=values.reshape(1, 1, 64), at=np.array([position]))[0]

    floor = np.zeros((rows, 64), np.float32)

    def by_numpy(values: np.ndarray, position: int) -> np.ndarray:
        before = floor[position].copy()
        floor[position] = values
        return before

    model = InferenceSession(num_threads=threads).load(graph(rows))
    ours, memory, execute = model.new_state(), np.zeros((rows, 64), np.float32), model.execute
    values, place = np.arange(320, dtype=np.float32).reshape(5, 64), np.array(5)
    one = values[1]

    def step(form, number: int) -> list[np.ndarray]:
        return [form(values[number], number % 3)]

    forms = {
        BY_HAND: Form(partial(step, bound), lambda: [state], lambda: bound(one, 5)),
        PLAIN: Form(partial(step, by_run), lambda: [plain.state["s"]], lambda: by_run(one, 5)),
        NUMPY: Form(partial(step, by_numpy), lambda: [floor], lambda: by_numpy(one, 5)),
        STATE: Form(
            partial(step, lambda v, p: execute(v, p, state=ours)[0].to_numpy()),
            lambda: [ours.to_numpy("cache")],
            lambda: execute(one, place, state=ours),
        ),
        CALLERS: Form(
            partial(step, lambda v, p: execute(v, p, memory)[0].to_numpy()),
            lambda: [memory],
            lambda: execute(one, place, memory),
        ),
    }
    return Case(f"store of a row, {rows} rows ({modes(model)})", forms)


def cases(threads: int) -> list:
    return [partial(case, rows, threads) for rows in ROWS]


if __name__ == "__main__":
    main(cases, __doc__)
