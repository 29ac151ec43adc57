"""Two buffers that read each other: a, b = b + 1, a - 1, both from the old values."""

from __future__ import annotations

from functools import partial

import by_hand
import numpy as np
from harness import BY_HAND, CALLERS, NUMPY, PLAIN, STATE, Case, Form, main, modes

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.graph import BufferType, DeviceRef, Graph

SIZES = (4, 65536)
ONNX = """both (float[N] a, float[N] b) => (float[N] c, float[N] d) <float[1] one = {1}> {
  c = Add (b, one)
  d = Sub (a, one)
}"""

# The same with one memory for each buffer: `old` is a copy, and empty slices make it run first, and `d` last.
IN_ONE = """both (float[N] a, float[N] b) => (float[N] c, float[N] d)
<float[1] one = {1}, int64[1] zero = {0}> {
  old = Concat <axis = 0> (a)
  none = Slice (old, zero, zero)
  one_later = Concat <axis = 0> (one, none)
  c = Add (b, one_later)
  nothing = Slice (c, zero, zero)
  one_last = Concat <axis = 0> (one, nothing)
  d = Sub (old, one_last)
}"""
ONE_MEMORY = "by hand, one memory each"


def graph(size: int) -> Graph:
    kind = BufferType(DType.float32, [size], DeviceRef.CPU())
    with Graph("both", input_types=[kind, kind], input_names=["a", "b"]) as made:
        a, b = (value.buffer for value in made.inputs)
        old_a, old_b = a[...], b[...]
        a[...] = old_b + 1
        b[...] = old_a - 1
        made.output()
    return made


def case(size: int, threads: int) -> Case:
    def start() -> list[np.ndarray]:
        return [np.full(size, 0.25, np.float32), np.arange(size, dtype=np.float32) / size]

    # By hand: two memories for each buffer and two bindings, used in turn, so that nothing is ever copied.
    session = by_hand.session(ONNX.replace("N", str(size)), threads)
    memories = [start(), [np.empty(size, np.float32) for _ in range(2)]]
    runs = [
        by_hand.bound(session, dict(zip("ab", old, strict=True)), dict(zip("cd", new, strict=True)))
        for old, new in (memories, memories[::-1])
    ]
    turn = 0

    def bound() -> None:
        nonlocal turn
        runs[turn]()
        turn = 1 - turn

    single = start()
    in_one = by_hand.bound(
        by_hand.session(IN_ONE.replace("N", str(size)), threads),
        dict(zip("ab", single, strict=True)),
        dict(zip("cd", single, strict=True)),
    )

    plain = by_hand.Plain(session, dict(zip("ab", start(), strict=True)), ["c", "d"])
    floor, spare = start(), np.empty(size, np.float32)

    def by_numpy() -> None:
        nonlocal spare
        a, b = floor
        np.add(b, 1, out=spare)
        np.subtract(a, 1, out=a)
        floor[:], spare = [spare, a], b

    model = InferenceSession(num_threads=threads).load(graph(size))
    ours, mine, execute = model.new_state(), start(), model.execute
    for name, array in zip("ab", start(), strict=True):
        ours.set(name, array)
    forms = {
        BY_HAND: Form(lambda _: bound() or [], lambda: memories[turn], bound),
        ONE_MEMORY: Form(lambda _: in_one() or [], lambda: single, in_one),
        PLAIN: Form(lambda _: plain(), lambda: list(plain.state.values()), plain),
        NUMPY: Form(lambda _: by_numpy() or [], lambda: floor, by_numpy),
        STATE: Form(
            lambda _: execute(state=ours), lambda: [ours.to_numpy(n) for n in "ab"], lambda: execute(state=ours)
        ),
        CALLERS: Form(lambda _: execute(*mine), lambda: mine, lambda: execute(*mine)),
    }
    return Case(f"two buffers of {size} floats that read each other ({modes(model)})", forms)


def cases(threads: int) -> list:
    return [partial(case, size, threads) for size in SIZES]


if __name__ == "__main__":
    main(cases, __doc__)
