"""A decode step of attention: 8 heads of 64, keys and values stored at a position, then all that is there is read."""

from __future__ import annotations

from functools import partial

import by_hand
import numpy as np
from harness import BY_HAND, CALLERS, NUMPY, PLAIN, STATE, Case, Form, main, modes

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops

LENGTHS = (1024, 8192)
HEADS, WIDTH = 8, 64
ONNX = """attend (float[8, LEN, 64] k, float[8, LEN, 64] v, float[8, 64, 1] q, float[8, 1, 64] nk, float[8, 1, 64] nv,
  int64[8] at)
=> (float[8, 1, 64] y, float[8, LEN, 64] k2, float[8, LEN, 64] v2)
<float[1] scale = {0.125}, float[1] never = {-3e38}, int64 zero = {0}, int64 length = {LEN}, int64 one = {1},
 int64[1] first = {0}, int64[3] column = {1, LEN, 1}, int64[3] row = {8, 1, LEN}> {
  k2 = TensorScatter <axis = 1> (k, nk, at)
  v2 = TensorScatter <axis = 1> (v, nv, at)
  scores = MatMul (k2, q)
  scaled = Mul (scores, scale)
  places = Range (zero, length, one)
  where = Reshape (places, column)
  last = Gather (at, first)
  seen = LessOrEqual (where, last)
  masked = Where (seen, scaled, never)
  flat = Reshape (masked, row)
  weights = Softmax <axis = -1> (flat)
  y = MatMul (weights, v2)
}"""


def graph(length: int) -> Graph:
    cpu = DeviceRef.CPU()
    vector, cache = (
        TensorType(DType.float32, [HEADS, WIDTH], cpu),
        BufferType(DType.float32, [HEADS, length, WIDTH], cpu),
    )
    types = [vector, vector, vector, TensorType(DType.int64, [], cpu), cache, cache]
    with Graph("attend", input_types=types, input_names=["q", "k", "v", "at", "keys", "values"]) as made:
        q, k, v, at = (value.tensor for value in made.inputs[:4])
        keys, values = (value.buffer for value in made.inputs[4:])
        keys[:, at] = k
        values[:, at] = v
        scores = (keys[...] @ q.reshape([HEADS, WIDTH, 1])) * 0.125
        places = ops.range(0, length, 1, dtype=DType.int64, device=cpu).reshape([1, length, 1])
        never = ops.constant(-3e38, DType.float32, cpu)
        masked = ops.where(ops.logical_not(ops.greater(places, at)), scores, never)
        weights = ops.softmax(masked.reshape([HEADS, 1, length]))
        made.output(y=weights @ values[...])
    return made


def case(length: int, threads: int) -> Case:
    rng = np.random.default_rng(0)
    shape = (HEADS, length, WIDTH)

    def start() -> list[np.ndarray]:
        made = np.random.default_rng(1)
        return [made.standard_normal(shape, np.float32) for _ in range(2)]

    session = by_hand.session(ONNX.replace("LEN", str(length)), threads)
    keys, values = start()
    q, nk, nv = (np.zeros(s, np.float32) for s in ((HEADS, WIDTH, 1), (HEADS, 1, WIDTH), (HEADS, 1, WIDTH)))
    at, y = np.zeros(HEADS, np.int64), np.zeros((HEADS, 1, WIDTH), np.float32)
    run = by_hand.bound(
        session,
        {"k": keys, "v": values, "q": q, "nk": nk, "nv": nv, "at": at},
        {"y": y, "k2": keys, "v2": values},
    )

    def bound(query: np.ndarray, key: np.ndarray, value: np.ndarray, position: int) -> np.ndarray:
        q[..., 0], nk[:, 0], nv[:, 0], at[...] = query, key, value, position
        run()
        return y.copy()

    plain = by_hand.Plain(session, dict(zip("kv", start(), strict=True)), ["y", "k2", "v2"])

    def by_run(query: np.ndarray, key: np.ndarray, value: np.ndarray, position: int) -> np.ndarray:
        one = (HEADS, 1, WIDTH)
        return plain(
            q=query.reshape(HEADS, WIDTH, 1),
            nk=key.reshape(one),
            nv=value.reshape(one),
            at=np.full(HEADS, position),
        )[0]

    floor = start()

    def by_numpy(query: np.ndarray, key: np.ndarray, value: np.ndarray, position: int) -> np.ndarray:
        floor[0][:, position], floor[1][:, position] = key, value
        end = position + 1
        scores = (floor[0][:, :end] @ query[:, :, None])[:, :, 0]
        scores *= np.float32(0.125)
        scores -= scores.max(1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(1, keepdims=True)
        return scores[:, None] @ floor[1][:, :end]

    model = InferenceSession(num_threads=threads).load(graph(length))
    ours, mine, execute = model.new_state(), start(), model.execute
    for name, array in zip(("keys", "values"), start(), strict=True):
        ours.set(name, array)
    tokens = rng.standard_normal((5, 3, HEADS, WIDTH), np.float32)
    token, place = tuple(tokens[1]), np.array(length - 2)

    def step(form, number: int) -> list[np.ndarray]:
        return [form(*tokens[number], length - 7 + number)]

    forms = {
        BY_HAND: Form(partial(step, bound), lambda: [keys, values], lambda: bound(*token, length - 2)),
        PLAIN: Form(partial(step, by_run), lambda: list(plain.state.values()), lambda: by_run(*token, length - 2)),
        NUMPY: Form(partial(step, by_numpy), lambda: floor, lambda: by_numpy(*token, length - 2)),
        STATE: Form(
            partial(step, lambda *given: execute(*given, state=ours)[0].to_numpy()),
            lambda: [ours.to_numpy(n) for n in ("keys", "values")],
            lambda: execute(*token, place, state=ours),
        ),
        CALLERS: Form(
            partial(step, lambda *given: execute(*given, *mine)[0].to_numpy()),
            lambda: mine,
            lambda: execute(*token, place, *mine),
        ),
    }
    return Case(f"attention decode, {length} positions ({modes(model)})", forms, exact=False)


def cases(threads: int) -> list:
    return [partial(case, length, threads) for length in LENGTHS]


if __name__ == "__main__":
    main(cases, __doc__)
