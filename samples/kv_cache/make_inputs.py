"""Writes inputs.npz, 200 steps of random queries, keys and values, and expected.npz: full attention in numpy."""

import numpy as np

STEPS, HEADS, WIDTH = 200, 4, 32
rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal((STEPS, HEADS, WIDTH)).astype(np.float32) for _ in range(3))
np.savez("inputs.npz", q=q, k=k, v=v, position=np.arange(STEPS))

# All steps at once, in double precision: a step attends to the steps before it and to itself.
scores = np.einsum("shw,thw->hst", q.astype(np.float64), k) / np.sqrt(WIDTH)
scores[:, ~np.tri(STEPS, dtype=bool)] = -np.inf
weights = np.exp(scores - scores.max(-1, keepdims=True))
weights /= weights.sum(-1, keepdims=True)
np.savez("expected.npz", attended=np.einsum("hst,thw->shw", weights, v).astype(np.float32))
print(f"inputs.npz: {STEPS} steps; expected.npz: full attention in numpy")
