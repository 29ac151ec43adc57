"""Whatever a file holds: only `FormatError` leaves the reader, and what it accepts is written again as it was."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxgraph
from maxgraph.errors import CODES, FormatError
from maxgraph.format import open_file
from maxgraph.v1 import model_pb2
from tests.ops.test_samples import CASES, build

from .files import header_of, rich_graph, with_header
from .mutate import mutate

METADATA = {"license": "MIT", "note": "a"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def rich(folder: Path) -> bytes:
    maxgraph.save(rich_graph(), folder / "rich.maxg", metadata=METADATA)
    return (folder / "rich.maxg").read_bytes()


def refused(path: Path) -> bool:
    """Whether the reader refuses a file; a file that it takes must be written again byte for byte."""
    try:
        opened = open_file(path)
        str(opened.graph)
        maxgraph.save(opened.graph, path.with_suffix(".again"), metadata=opened.metadata)
    except FormatError as error:
        if error.code not in CODES or not error.summary.isprintable():
            raise
        return True
    producer = model_pb2.Model.FromString(header_of(path.read_bytes())).producer
    if (producer.name, producer.version) == ("maxgraph", maxgraph.__version__):
        assert path.with_suffix(".again").read_bytes() == path.read_bytes()
    return False


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4),
    insert=st.booleans(),
)
def test_random_bytes(changes: list[tuple[float, int]], insert: bool, rich: bytes, folder: Path) -> None:
    header = bytearray(header_of(rich))
    for place, byte in changes:
        at = int(place * len(header))
        if insert:
            header.insert(at, byte)
        else:
            header[at] = byte
    path = folder / "bytes.maxg"
    path.write_bytes(with_header(rich, bytes(header)))
    refused(path)


@settings(max_examples=600, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_random_messages(seed: int, rich: bytes, folder: Path) -> None:
    changed(rich, seed, folder / "message.maxg")


def changed(file: bytes, seed: int, path: Path) -> bool:
    """Opens the file with a randomly changed header; whether it is refused."""
    rng = random.Random(seed)
    model = model_pb2.Model.FromString(header_of(file))
    mutate(model, rng)
    if rng.random() < 0.5:  # so that deeper checks are reached, too
        del model.required_features[:]
        model.required_features.extend(sorted({"dim_expr", "dim_floordiv", "states"}))
    path.write_bytes(with_header(file, model.SerializeToString(deterministic=True)))
    return refused(path)


def test_random_messages_of_every_op(folder: Path) -> None:
    """Attributes and operands that no call could give, for every rule."""
    outcomes = set()
    for at, (made, number) in enumerate(CASES):
        graph, _, _ = build(made, made.cases[number])
        path = folder / "op.maxg"
        maxgraph.save(graph, path)
        outcomes.add(changed(path.read_bytes(), at, path))
    assert outcomes == {True, False}
