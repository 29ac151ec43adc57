"""Attributes whose bytes a message may hold, but no graph: each value has one form."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import maxgraph
from maxgraph.errors import FormatError
from maxgraph.format import Limits, load
from maxgraph.format.decode_attributes import AttributeDecoder
from maxgraph.format.decode_ops import KnownOp
from maxgraph.format.decode_types import TypeTable
from maxgraph.graph import Graph, ops
from maxgraph.graph.ops.registry import AttributeKind, AttributeSpec
from maxgraph.v1 import graph_pb2, model_pb2

from .files import forged


def decoded(kind: AttributeKind, **value: Any) -> Any:
    """An attribute of an op that no module declares: no op has one of every kind."""
    spec = AttributeSpec("a", kind)
    op: Any = SimpleNamespace(name="op", attributes=(spec,))
    node = graph_pb2.Node()
    node.attributes.add(name="a", **value)
    decoder = AttributeDecoder(TypeTable(model_pb2.Model(), Limits()), Limits(), [])
    return decoder.attributes(KnownOp(op, {"a": spec}, segmented=False), node)["a"]


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, 5e-324])
def test_a_float_keeps_its_bits(value: float) -> None:
    assert struct.pack("<d", decoded(AttributeKind.FLOAT, float_val=value)) == struct.pack("<d", value)


@pytest.mark.parametrize("bits", ["7ff8000000000001", "fff8000000000000", "7ff0000000000001"])
def test_there_is_one_nan(bits: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    with pytest.raises(FormatError, match="NaN"):
        decoded(AttributeKind.FLOAT, float_val=value)


@pytest.mark.parametrize("value", ["a\0b", "x" * 65537])
def test_text_has_its_bounds(value: str) -> None:
    with pytest.raises(FormatError, match="a text attribute"):
        decoded(AttributeKind.STRING, string_val=value)
    assert decoded(AttributeKind.STRING, string_val="x" * 65536) == "x" * 65536


@pytest.mark.parametrize("field", ["floats_val", "strings_val"])
def test_a_list_that_no_op_takes_is_refused(field: str) -> None:
    empty = graph_pb2.FloatList() if field == "floats_val" else graph_pb2.StringList()
    with pytest.raises(FormatError, match="must be of kind ints") as raised:
        decoded(AttributeKind.INTS, **{field: empty})
    assert raised.value.code == "MGO06"


@pytest.mark.parametrize("data", [b"\2\0\1", b"\0\0\xff", b"\0\0"])
def test_a_bool_literal_is_0_or_1(data: bytes, tmp_path: Path) -> None:
    with Graph("g") as graph:
        graph.output(ops.constant(np.array([True, False, True])))
    path = tmp_path / "a.maxg"
    maxgraph.save(graph, path)

    def change(model: Any) -> None:
        model.graphs[0].blocks[0].nodes[0].attributes[0].literal_val.data = data

    path.write_bytes(forged(path.read_bytes(), change))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code == "MGA02"
