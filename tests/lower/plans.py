"""Programs of every kind with the plans that they get, as text.

``python -m tests.lower.plans`` writes ``golden/plans.txt`` anew; a row that changes is a decision, to be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
from maxgraph.lower import Mode, lower

from . import test_blocks, test_hazards, test_reuse

__all__ = ["GOLDEN", "plans"]

GOLDEN = Path(__file__).parent / "golden" / "plans.txt"
CPU = DeviceRef.CPU()
F, INT = DType.float32, DType.int64
N = 64


def tensor(*dims: int | str) -> TensorType:
    return TensorType(F, dims, CPU)


def buffer(*dims: int | str, dtype: DType = F) -> BufferType:
    return BufferType(dtype, dims, CPU)


INDEX = TensorType(INT, [], CPU)
STORES: dict[str, tuple[list[Any], Callable[..., Any]]] = {}


def store(*types: Any) -> Callable[[Callable[..., Any]], None]:
    def add(body: Callable[..., Any]) -> None:
        STORES[body.__name__] = (list(types), body)

    return add


@store(buffer(N, 4), tensor(4), INDEX)
def row_at_a_place(c: Any, x: Any, p: Any) -> None:
    c[p] = x


@store(buffer(2, N, 4), tensor(2, 4), INDEX)
def middle_axis_at_a_place(c: Any, x: Any, p: Any) -> None:
    c[:, p] = x


@store(buffer(N, 4), tensor(), INDEX, INDEX)
def element_at_a_place(c: Any, x: Any, p: Any, q: Any) -> None:
    c[p, q] = x


@store(buffer(N, 4), tensor(8, 4), INDEX)
def rows_from_a_place(c: Any, x: Any, p: Any) -> None:
    c[(slice(p, p + 8), 8),] = x


@store(buffer(N, 4), tensor(2, 2))
def block(c: Any, x: Any) -> None:
    c[1:3, 0:2] = x


@store(buffer(N, 4), tensor(N // 2, 4))
def every_other_row(c: Any, x: Any) -> None:
    c[::2] = x


@store(buffer(N, 4), tensor(N, 4))
def rows_backwards(c: Any, x: Any) -> None:
    c[::-1] = x


@store(buffer("n", 4), tensor(4), INDEX)
def row_of_a_symbolic_buffer(c: Any, x: Any, p: Any) -> Any:
    old = c[p]
    c[p] = x
    return old


@store(buffer(N, dtype=DType.bfloat16), TensorType(DType.bfloat16, [], CPU), INDEX)
def element_of_a_half(c: Any, x: Any, p: Any) -> None:
    c[p] = x


@store(buffer(N, 4), tensor(4), INDEX)
def place_computed_from_what_was_stored(c: Any, x: Any, p: Any) -> None:
    c[0] = x
    c[c[0, 0].cast(INT) + p] = x


@store(buffer(N), tensor(N))
def running_mean(c: Any, x: Any) -> Any:
    c[...] = c[...] * 0.9 + x * 0.1
    return c[...]


@store(buffer(N), tensor(N), tensor(N, N), tensor(N, N))
def recurrent_network(h: Any, x: Any, w: Any, u: Any) -> Any:
    h[...] = ops.tanh(h[...] @ w + x @ u)
    return h[...]


@store(buffer(1, N), buffer(1, N), tensor(1, N), tensor(2 * N, 4 * N))
def long_short_term_memory(h: Any, c: Any, x: Any, w: Any) -> Any:
    z = ops.concat([x, h[...]], axis=1) @ w
    i, f, g, o = ops.split(z, [N] * 4, axis=1)
    c[...] = ops.sigmoid(f) * c[...] + ops.sigmoid(i) * ops.tanh(g)
    h[...] = ops.sigmoid(o) * ops.tanh(c[...])
    return h[...]


@store(buffer(2, N, 8), buffer(2, N, 8), *[tensor(2, 8)] * 3, INDEX)
def attention_over_a_cache(k: Any, v: Any, q: Any, new_k: Any, new_v: Any, p: Any) -> Any:
    k[:, p] = new_k
    v[:, p] = new_v
    scores = (k[...] @ q.reshape([2, 8, 1])).reshape([2, N])
    return ops.softmax(scores).reshape([2, 1, N]) @ v[...]


@store(buffer(N, N), buffer(N, N), tensor(N, N))
def momentum(w: Any, m: Any, gradient: Any) -> None:
    m[...] = m[...] * 0.9 + gradient
    w[...] = w[...] - m[...] * 0.1


@store(buffer(N, N), tensor(N, N))
def gradient_descent(w: Any, x: Any) -> Any:
    y = x @ w[...]
    w[...] = w[...] - (x.T @ y) * 0.1
    return ops.sum(y)


@store(buffer(N, N), tensor(N), tensor(N))
def layer_norm(b: Any, gamma: Any, beta: Any) -> None:
    b[...] = ops.layer_norm(b[...], gamma, beta, 1e-5)


@store(buffer(N, N), tensor(N))
def rms_norm(b: Any, weight: Any) -> None:
    b[...] = ops.rms_norm(b[...], weight, 1e-5)


@store(buffer(N, N))
def softmax(b: Any) -> None:
    b[...] = ops.softmax(b[...])


@store(buffer(N, N))
def logsoftmax(b: Any) -> None:
    b[...] = ops.logsoftmax(b[...])


@store(buffer(N, N))
def sums_up_to_here(b: Any) -> None:
    b[...] = ops.cumsum(b[...], axis=1)


@store(buffer(N, N))
def sums_before(b: Any) -> None:
    b[...] = ops.cumsum(b[...], axis=1, exclusive=True)


def _graph(types: list[Any], body: Callable[..., Any]) -> Graph:
    with Graph(body.__name__, input_types=types) as graph:
        values = [v.buffer if isinstance(v.type, BufferType) else v.tensor for v in graph.inputs]
        result = body(*values)
        graph.output(*([] if result is None else [result]))
    return graph


def _programs() -> Iterator[tuple[str, str, Graph]]:
    for body in test_hazards.CASES:
        yield "hazards", body.__name__, test_hazards.build(body, N)
    for name, (types, body) in STORES.items():
        yield "stores and cells", name, _graph(types, body)
    for blocks in test_blocks.PROGRAMS:
        yield "branches and loops", blocks.__name__, test_blocks.build(blocks)
    for chain in test_reuse.PROGRAMS:
        yield "chains over large buffers", chain.__name__, test_reuse.build(chain, test_reuse.N)


def plans() -> str:
    """A line for each buffer of each program that is changed; what is not in place says why."""
    lines: list[str] = []
    seen = ""
    for group, name, graph in _programs():
        if group != seen:
            lines += ["", f"# {group}"]
            seen = group
        weights = {w: np.ones(i.type.shape.evaluate({}), np.float32) for w, i in graph.weights.items() if not i.data}
        for row in lower(graph, weights=weights).plan.buffers:
            if row.mode is Mode.UNTOUCHED:
                continue
            because = "" if row.mode is Mode.IN_PLACE and not row.copies else f"  {row.reason}"
            lines.append(f"{name:38} {row.buffer:7} {row.mode!s:16} {row.copies}{because}")
    return "\n".join(lines).lstrip() + "\n"


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(plans())
