"""A state of 64 MiB decays towards an input as large: state = state * 0.9 + x."""

from __future__ import annotations

from functools import partial

import by_hand
import numpy as np
from harness import BY_HAND, CALLERS, NUMPY, PLAIN, STATE, Case, Form, main, modes

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType

SIZE = 16 * 1024 * 1024
# By hand, the value in between is an output, too, and bound to the state's memory.
ONNX = """decay (float[N] s, float[N] x) => (float[N] part, float[N] new) <float[1] rate = {0.9}> {
  part = Mul (s, rate)
  new = Add (part, x)
}"""


def graph(size: int) -> Graph:
    cpu = DeviceRef.CPU()
    types = [TensorType(DType.float32, [size], cpu), BufferType(DType.float32, [size], cpu)]
    with Graph("decay", input_types=types, input_names=["x", "state"]) as made:
        x, state = made.inputs[0].tensor, made.inputs[1].buffer
        state[...] = state[...] * 0.9 + x
        made.output()
    return made


def case(size: int, threads: int) -> Case:
    x = np.random.default_rng(0).standard_normal(size, np.float32)
    session = by_hand.session(ONNX.replace("N", str(size)), threads)
    state = np.zeros(size, np.float32)
    run = by_hand.bound(session, {"s": state, "x": x}, {"part": state, "new": state})
    plain = by_hand.Plain(session, {"s": np.zeros(size, np.float32)}, ["new"])
    floor, rate = np.zeros(size, np.float32), np.float32(0.9)

    def by_numpy() -> None:
        np.multiply(floor, rate, out=floor)
        np.add(floor, x, out=floor)

    model = InferenceSession(num_threads=threads).load(graph(size))
    ours, memory, execute = model.new_state(), np.zeros(size, np.float32), model.execute
    forms = {
        BY_HAND: Form(lambda _: run() or [], lambda: [state], run),
        PLAIN: Form(lambda _: plain(x=x), lambda: [plain.state["s"]]),
        NUMPY: Form(lambda _: by_numpy() or [], lambda: [floor], by_numpy),
        STATE: Form(lambda _: execute(x, state=ours), lambda: [ours.to_numpy("state")]),
        CALLERS: Form(lambda _: execute(x, memory), lambda: [memory]),
    }
    return Case(f"state * 0.9 + x, {size * 4 >> 20} MiB ({modes(model)})", forms)


def cases(threads: int) -> list:
    return [partial(case, SIZE, threads)]


if __name__ == "__main__":
    main(cases, __doc__)
