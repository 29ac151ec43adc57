"""A buffer of 4 floats counts up; the result is its old value."""

from __future__ import annotations

import by_hand
import numpy as np
from harness import BY_HAND, CALLERS, NUMPY, PLAIN, STATE, Case, Form, main, modes

from maxgraph.driver import Buffer
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.graph import BufferType, DeviceRef, Graph

# `old` is a copy (a Concat of one operand is not optimised away). It runs before `new`, which reads it.
ONNX = """counter (float[4] s) => (float[4] old, float[4] new) <float[1] one = {1}> {
  old = Concat <axis = 0> (s)
  new = Add (old, one)
}"""


def graph() -> Graph:
    with Graph("counter", input_types=[BufferType(DType.float32, [4], DeviceRef.CPU())]) as made:
        state = made.inputs[0].buffer
        old = state[...]
        state[...] = old + 1
        made.output(old)
    return made


def case(threads: int) -> Case:
    session = by_hand.session(ONNX, threads)
    state, old = np.zeros(4, np.float32), np.zeros(4, np.float32)
    run = by_hand.bound(session, {"s": state}, {"old": old, "new": state})

    def bound() -> np.ndarray:
        run()
        return old.copy()

    plain = by_hand.Plain(session, {"s": np.zeros(4, np.float32)}, ["old", "new"])
    floor = np.zeros(4, np.float32)

    def by_numpy() -> np.ndarray:
        before = floor.copy()
        np.add(floor, 1, out=floor)
        return before

    model = InferenceSession(num_threads=threads).load(graph())
    ours, memory = model.new_state(), Buffer.zeros([4], DType.float32)
    execute = model.execute
    forms = {
        BY_HAND: Form(lambda _: [bound()], lambda: [state], bound),
        PLAIN: Form(lambda _: plain(), lambda: [plain.state["s"]], plain),
        NUMPY: Form(lambda _: [by_numpy()], lambda: [floor], by_numpy),
        STATE: Form(
            lambda _: [execute(state=ours)[0].to_numpy()],
            lambda: [ours.to_numpy(ours.names[0])],
            lambda: execute(state=ours),
        ),
        CALLERS: Form(lambda _: [execute(memory)[0].to_numpy()], lambda: [memory.to_numpy()], lambda: execute(memory)),
    }
    return Case(f"counter, 4 floats ({modes(model)})", forms)


def cases(threads: int) -> list:
    return [lambda: case(threads)]


if __name__ == "__main__":
    main(cases, __doc__)
