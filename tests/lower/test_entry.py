"""Lowered graphs as bytes: the same comes back, and what is no such thing is refused."""

from __future__ import annotations

import copy
import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Dim, Graph, Shape, TensorType, Weight, ops
from maxgraph.lower import Lowered, lower
from maxgraph.lower.codec import Codec, Malformed
from maxgraph.lower.convert import give_weights
from maxgraph.lower.entry import pack, unpack

CPU = DeviceRef.CPU()


def rich() -> Graph:
    """A graph whose lowered form has something of everything: checks, guards, prints, weights, folded ones, states."""
    w = Weight("w", DType.float32, [40, 30])
    types = [
        BufferType(DType.float32, ["n", 30], CPU),
        TensorType(DType.float32, ["n", 40], CPU),
        TensorType(DType.int64, [], CPU),
    ]
    with Graph("rich", input_types=types, input_names=["cache", "x", "at"]) as graph:
        cache, x, at = graph.inputs
        steps = ops.buffer_create(BufferType(DType.int64, [], CPU), 3, name="steps")
        row = ops.relu(x.tensor @ w + x.tensor @ (1.0 * ops.transpose(Weight("v", DType.float32, [30, 40]), 0, 1)))
        cache.buffer[at.tensor] = row[at.tensor]
        cache.buffer[steps[...]] = row[0]
        steps[...] = steps[...] + 1
        ops.print(steps[...], "steps")
        graph.output(whole=cache.buffer[...] * 2, half=row[0 : (Dim("n") + 1) // 2])
    return graph


WEIGHTS = {
    "w": np.arange(1200, dtype=np.float32).reshape(40, 30),
    "v": np.arange(1200, dtype=np.float32).reshape(30, 40),
}


def packed(graph: Graph) -> tuple[Lowered, bytes]:
    lowered = lower(graph, weights=WEIGHTS)
    return lowered, b"".join(bytes(part) for part in pack(lowered))


def comparable(lowered: Lowered) -> dict[str, Any]:
    found = {f.name: getattr(lowered, f.name) for f in dataclasses.fields(lowered) if f.name != "external"}
    found["external"] = [
        (e.onnx_name, e.weight.name, e.weight.type, e.folded, e.weight.data.numpy().tolist())  # type: ignore[union-attr]
        for e in lowered.external
    ]
    return found


@pytest.fixture(scope="module")
def entry() -> tuple[Graph, Lowered, bytes]:
    graph = rich()
    return graph, *packed(graph)


def test_the_same_comes_back(entry: tuple[Graph, Lowered, bytes]) -> None:
    graph, lowered, body = entry
    again = unpack(body, graph, give_weights(graph, WEIGHTS))
    assert comparable(again) == comparable(lowered)
    assert lowered.index_checks
    assert lowered.guards
    assert lowered.prints
    assert any(external.folded for external in lowered.external)
    assert any(not external.folded for external in lowered.external)


def test_weights_are_named_and_not_kept(entry: tuple[Graph, Lowered, bytes]) -> None:
    graph, lowered, body = entry
    own = [external.weight.name for external in lowered.external if not external.folded]
    assert own
    for name in own:
        assert WEIGHTS[name].tobytes() not in body
    other = {name: np.zeros_like(array) for name, array in WEIGHTS.items()}
    again = unpack(body, graph, give_weights(graph, other))
    assert all(e.weight.data is not None and not e.weight.data.numpy().any() for e in again.external if not e.folded)


def test_every_length_is_refused(entry: tuple[Graph, Lowered, bytes]) -> None:
    graph, _, body = entry
    known = give_weights(graph, WEIGHTS)
    text = int.from_bytes(body[:4], "little")
    for length in [*range(0, 4 + text, 97), 4 + text, len(body) - 20]:
        with pytest.raises(Malformed):
            unpack(body[:length], graph, known)


def test_another_graphs_entry_is_refused(entry: tuple[Graph, Lowered, bytes]) -> None:
    _, _, body = entry
    with Graph("rich", input_types=[TensorType(DType.float32, [2], CPU)]) as other:
        other.output(other.inputs[0].tensor * 2)
    with pytest.raises(Malformed):
        unpack(body, other, {})


def len_of(number: int) -> str:
    return f"{number.bit_length()} bits{' below' if number < 0 else ''}"


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(found for key, child in children for found in leaves(child, (*path, key)))]


@pytest.mark.parametrize("wrong", [None, -1, 10**30, 1.5, "x", [], {}, [[]], True], ids=repr)
def test_whatever_a_stranger_writes_is_data_or_malformed(entry: tuple[Graph, Lowered, bytes], wrong: Any) -> None:
    """Every place of the tree, replaced; sizes of buffers are never other than the graph's."""
    graph, _, body = entry
    known = give_weights(graph, WEIGHTS)
    length = int.from_bytes(body[:4], "little")
    top = json.loads(body[4 : 4 + length])
    sections = body[4 + length + -(4 + length) % 16 :]
    refused = 0
    for path in leaves(top):
        changed = copy.deepcopy({"top": top})
        place: Any = changed
        for key in ("top", *path)[:-1]:
            place = place[key]
        place[("top", *path)[-1]] = wrong
        text = json.dumps(changed["top"]).encode()
        try:
            found = unpack(
                len(text).to_bytes(4, "little") + text + bytes(-(4 + len(text)) % 16) + sections, graph, known
            )
        except Malformed:
            refused += 1
            continue
        for buffer in found.buffers:
            for shape in (buffer.onnx_shape, *(v.shape for v in buffer.versions)):
                assert Shape(shape).num_elements == buffer.type.shape.num_elements
    assert refused > 20


@pytest.mark.parametrize(
    ("hint", "tree"),
    [
        (int, True),
        (int, "one"),
        (bool, 1),
        (str | None, [2, "x"]),
        (str | None, "x"),
        (tuple[int, str], [1]),
        (DType, "float31"),
        (Dim, "not a name"),
        (Dim, [[1, [[1, 0]]]]),
        (TensorType, ["float32", [-1], "cpu", 0]),
        (TensorType, ["float32", [1], "tpu", 0]),
        (dict[str, int], [1]),
        (object, 1),
    ],
    ids=str,
)
def test_what_an_annotation_does_not_name_is_malformed(hint: Any, tree: Any) -> None:
    with pytest.raises(Malformed):
        Codec().decode(hint, tree)


@pytest.mark.parametrize(
    "dim", [0, 7, "n", Dim("n") * 3 - 1, (Dim("n") + 5) // 4, Dim("a") * Dim("b") // Dim("c") + 2], ids=str
)
def test_dims_come_back_in_their_normal_form(dim: Any) -> None:
    tree = json.loads(json.dumps(Codec().encode(Dim, Dim(dim))))
    again = Codec().decode(Dim, tree)
    assert again == Dim(dim)
    assert type(again) is type(Dim(dim))


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, 2**63, -(2**63), 2**100_000 - 1, -(2**100_000)], ids=len_of)
def test_ints_of_any_length(number: int) -> None:
    assert Codec().decode(int, json.loads(json.dumps(Codec().encode(int, number)))) == number


def test_a_kind_that_cannot_be_kept_is_an_error_when_it_is_written() -> None:
    with pytest.raises(TypeError):
        Codec().encode(complex, 1j)
