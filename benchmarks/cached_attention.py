"""A decode step of attention in one kernel: 8 heads of 64 over caches of which so much is filled."""

from __future__ import annotations

from functools import partial

import by_hand
import numpy as np
from harness import BY_HAND, CALLERS, NUMPY, STATE, Case, Form, main, modes

from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops

#: How much the caches hold, and how much of that is filled.
SIZES = ((1024, 1024), (8192, 8192), (8192, 128))
HEADS, WIDTH = 8, 64
ONNX = """attend (float[1, 1, 512] q, float[1, 1, 512] nk, float[1, 1, 512] nv, float[1, 8, LEN, 64] k,
  float[1, 8, LEN, 64] v, int32[1] last, int32 total)
=> (float[1, 1, 512] y, float[1, 8, LEN, 64] k2, float[1, 8, LEN, 64] v2) {
  y, k2, v2 = com.microsoft.GroupQueryAttention <num_heads = 8, kv_num_heads = 8, scale = 0.125>
    (q, nk, nv, k, v, last, total)
}"""


def graph(length: int) -> Graph:
    cpu = DeviceRef.CPU()
    row, cache = (kind(DType.float32, [1, HEADS, n, WIDTH], cpu) for kind, n in ((TensorType, 1), (BufferType, length)))
    types = [row, row, row, TensorType(DType.int64, [], cpu), cache, cache]
    with Graph("attend", input_types=types, input_names=["q", "k", "v", "at", "keys", "values"]) as made:
        q, k, v, at = (value.tensor for value in made.inputs[:4])
        keys, values = (value.buffer for value in made.inputs[4:])
        made.output(y=ops.cached_attention(q, k, v, keys, values, at))
    return made


def case(length: int, filled: int, threads: int) -> Case:
    shape = (1, HEADS, length, WIDTH)

    def start() -> list[np.ndarray]:
        made = np.random.default_rng(1)
        return [made.standard_normal(shape, np.float32) for _ in range(2)]

    session = by_hand.session(ONNX.replace("LEN", str(length)), threads)
    keys, values = start()
    q, nk, nv, y = (np.zeros((1, 1, HEADS * WIDTH), np.float32) for _ in range(4))
    last, total = np.zeros(1, np.int32), np.zeros((), np.int32)
    run = by_hand.bound(
        session,
        {"q": q, "nk": nk, "nv": nv, "k": keys, "v": values, "last": last, "total": total},
        {"y": y, "k2": keys, "v2": values},
    )

    def bound(query: np.ndarray, key: np.ndarray, value: np.ndarray, position: int) -> np.ndarray:
        q[...], nk[...], nv[...] = query.reshape(-1), key.reshape(-1), value.reshape(-1)
        last[...], total[...] = position, position + 1
        run()
        return y.copy()

    floor = start()

    def by_numpy(query: np.ndarray, key: np.ndarray, value: np.ndarray, position: int) -> np.ndarray:
        floor[0][:, :, position], floor[1][:, :, position] = key[:, :, 0], value[:, :, 0]
        end = position + 1
        scores = (floor[0][0, :, :end] @ query[0, :, 0, :, None])[:, :, 0]
        scores *= np.float32(0.125)
        scores -= scores.max(1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(1, keepdims=True)
        return scores[:, None] @ floor[1][0, :, :end]

    model = InferenceSession(num_threads=threads).load(graph(length))
    ours, mine, execute = model.new_state(), start(), model.execute
    for name, array in zip(("keys", "values"), start(), strict=True):
        ours.set(name, array)
    tokens = np.random.default_rng(0).standard_normal((5, 3, 1, HEADS, 1, WIDTH), np.float32)
    token, place = tuple(tokens[1]), np.array(filled - 1)

    def step(form, number: int) -> list[np.ndarray]:
        return [form(*tokens[number], filled - 6 + number)]

    forms = {
        BY_HAND: Form(partial(step, bound), lambda: [keys, values], lambda: bound(*token, filled - 1)),
        NUMPY: Form(partial(step, by_numpy), lambda: floor, lambda: by_numpy(*token, filled - 1)),
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
    return Case(f"attention, one kernel, {filled} of {length} filled ({modes(model)})", forms, exact=False)


def cases(threads: int) -> list:
    return [partial(case, length, filled, threads) for length, filled in SIZES]


if __name__ == "__main__":
    main(cases, __doc__)
