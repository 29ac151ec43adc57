"""Headers that are well-formed messages with right digests, and lie: only `FormatError` may leave the reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maxgraph.errors import CODES, FormatError
from maxgraph.format import load

from .files import forged, saved

Change = Callable[[Any], object]


def node(model: Any, op: str) -> Any:
    index = next(at for at, ref in enumerate(model.ops) if ref.name == op)
    return next(n for n in model.graphs[0].blocks[0].nodes if n.op == index)


def set_(target: str, value: Any) -> Change:
    """Sets a field by a path such as ``states[0].type``."""

    def change(model: Any) -> None:
        *path, name = target.split(".")
        for part in path:
            field, _, index = part.partition("[")
            model = getattr(model, field)[int(index.rstrip("]"))]
        setattr(model, name, value)

    return change


def symbolic_state(model: Any) -> None:
    model.types[4].buffer.shape.add(symbol=0)


def external(model: Any, name: str, **fields: Any) -> None:
    model.external_files.add(**{"name": name, "size": 1 << 20, "sha256": bytes(32), "format": 1, **fields})


def overlapping(model: Any) -> None:
    external(model, "w")
    for blob in model.blobs[:2]:
        blob.file, blob.offset = 1, 0


LIES: dict[str, tuple[str, Change]] = {
    "no graph": ("MGG01", lambda m: m.ClearField("graphs")),
    "two graphs": ("MGG01", lambda m: m.graphs.append(m.graphs[0])),
    "a graph without a name": ("MGG02", set_("graphs[0].name", "")),
    "a graph's name with a path": ("MGG02", set_("graphs[0].name", "../x")),
    "an input's name with an escape": ("MGG03", set_("graphs[0].inputs[0].name", "a\x1b[31m")),
    "a name like onnxruntime's memory marker": ("MGG03", set_("graphs[0].inputs[0].name", "*/_ORT_MEM_ADDR_/*")),
    "two inputs of one name": ("MGG03", set_("graphs[0].inputs[1].name", "x")),
    "two outputs of one name": ("MGG03", set_("graphs[0].outputs[1].name", "product")),
    "an output of a buffer": ("MGG15", set_("graphs[0].outputs[0].value", 3)),
    "an output of no value": ("MGG15", set_("graphs[0].outputs[0].value", 2**32 - 1)),
    "an operand of zero": ("MGG10", lambda m: node(m, "add").operands.__setitem__(0, 0)),
    "an operand of the future": ("MGG10", lambda m: node(m, "add").operands.__setitem__(0, 10_000)),
    "an operand too few": ("MGO06", lambda m: node(m, "add").operands.pop()),
    "a result of another type": ("MGO07", lambda m: node(m, "add").result_types.__setitem__(0, 0)),
    "a result too many": ("MGO07", lambda m: node(m, "add").result_types.append(0)),
    "a type index out of range": ("MGT09", lambda m: node(m, "add").result_types.__setitem__(0, 999)),
    "an undeclared write": ("MGE03", lambda m: node(m, "buffer_store").ClearField("effects")),
    "a write that is called a read": ("MGE03", lambda m: setattr(node(m, "buffer_store").effects[0], "access", 1)),
    "an effect on a tensor": ("MGE02", lambda m: setattr(node(m, "buffer_store").effects[0], "buffer", 1)),
    "a cache that is called read-only": ("MGE04", set_("graphs[0].inputs[2].access", 1)),
    "access of a tensor": ("MGG05", set_("graphs[0].inputs[0].access", 1)),
    "a state bound to nothing": ("MGG06", lambda m: m.graphs[0].inputs[3].ClearField("state")),
    "a state bound twice": ("MGG06", lambda m: setattr(m.graphs[0].inputs[4], "state", m.graphs[0].inputs[3].state)),
    "a state without a beginning": ("MGS04", lambda m: m.states[0].ClearField("initial")),
    "a state that begins as another type": ("MGS04", set_("states[1].weight", 0)),
    "an unknown attribute": ("MGO06", lambda m: node(m, "concat").attributes.add(name="zzz", int_val=1)),
    "a missing attribute": ("MGO06", lambda m: node(m, "concat").ClearField("attributes")),
    "an attribute of another kind": ("MGO06", lambda m: setattr(node(m, "concat").attributes[0], "string_val", "0")),
    "an attribute without a value": ("MGA02", lambda m: node(m, "concat").attributes[0].ClearField("value")),
    "an axis out of range": ("MGO07", lambda m: setattr(node(m, "concat").attributes[0], "int_val", 7)),
    "segments that do not add up": ("MGG11", lambda m: node(m, "concat").operand_segments.__setitem__(0, 2)),
    "no segments": ("MGG11", lambda m: node(m, "concat").ClearField("operand_segments")),
    "an op that is not used": ("MGO04", lambda m: m.ops.add(domain="maxg", name="where", version=1)),
    "ops out of order": ("MGO01", lambda m: m.ops.insert(0, m.ops.pop())),
    "an op index out of range": ("MGO03", lambda m: setattr(node(m, "add"), "op", 999)),
    "a symbol without a name": ("MGT01", set_("symbols[0].name", "")),
    "a symbol that is an expression": ("MGT01", set_("symbols[0].name", "n+__import__")),
    "a dim of 2**63": ("MGT07", lambda m: setattr(m.types[2].buffer.shape[0], "size", 2**63)),
    "a type without a kind": ("MGT03", lambda m: m.types[0].ClearField("kind")),
    "an unknown dtype": ("MGT04", lambda m: setattr(m.types[0].tensor, "dtype", 77)),
    "a device that is not there": ("MGT06", lambda m: setattr(m.types[0].tensor, "device", 5)),
    "a rank of 33": ("MGT05", lambda m: m.types[0].tensor.shape.extend([m.types[0].tensor.shape[1]] * 31)),
    "a type that is not used": ("MGT11", lambda m: setattr(m.types.add().tensor, "dtype", 2)),
    "types out of order": ("MGT10", lambda m: setattr(m.graphs[0].inputs[0], "type", 1)),
    "a device out of range": ("MGT06", lambda m: setattr(m.types[0].tensor, "device", 1)),
    "a device that is not used": ("MGT02", lambda m: m.devices.add(kind=2)),
    "a device twice": ("MGT02", lambda m: m.devices.append(m.devices[0])),
    "a symbol with a bound": ("MGT01", lambda m: setattr(m.symbols[0], "max", 7)),
    "a symbol that is not used": ("MGT01", lambda m: m.symbols.add(name="unused")),
    "a symbol twice": ("MGT01", lambda m: m.symbols.append(m.symbols[0])),
    "a type twice": ("MGT08", lambda m: m.types.append(m.types[0])),
    "an unknown device": ("MGT02", set_("devices[0].kind", 9)),
    "a division by zero": ("MGT07", lambda m: m.floor_divs[0].denominator.Clear()),
    "weights out of order": ("MGW01", lambda m: m.weights.insert(0, m.weights.pop())),
    "a weight without a blob": ("MGW05", lambda m: m.weights[1].ClearField("blob")),
    "a weight larger than its blob": ("MGW05", lambda m: setattr(m.weights[1], "type", m.weights[0].type)),
    "a blob of another length": ("MGB06", lambda m: setattr(m.blobs[0], "length", 1)),
    "a blob out of place": ("MGB06", lambda m: setattr(m.blobs[0], "offset", 64)),
    "a blob of 2**64-1": ("MGB07", lambda m: setattr(m.blobs[0], "length", 2**64 - 1)),
    "an empty blob": ("MGB04", lambda m: setattr(m.blobs[0], "length", 0)),
    "a short digest": ("MGB03", lambda m: setattr(m.blobs[0], "sha256", b"123")),
    "an external file too many": ("MGX01", lambda m: [external(m, f"w{at}") for at in range(1025)]),
    **{
        f"an external file called {name!r}": ("MGX02", lambda m, name=name: external(m, name))
        for name in (
            "",
            ".",
            "..",
            "../../etc/passwd",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "-x",
            "nul",
            "COM1.bin",
            "x.",
            "\u202e",
        )
    },
    "an external file with a short digest": ("MGX03", lambda m: external(m, "w", sha256=b"0")),
    "an external file of no kind": ("MGX04", lambda m: external(m, "w", format=0)),
    "an external file of a later kind": ("MGX04", lambda m: external(m, "w", format=2)),
    "an external file of no bytes": ("MGX05", lambda m: external(m, "w", size=0)),
    "an external file of 2**64-1 bytes": ("MGX05", lambda m: external(m, "w", size=2**64 - 1)),
    "external files out of order": ("MGX06", lambda m: [external(m, name) for name in "ba"]),
    "external files of one name": ("MGX06", lambda m: [external(m, name) for name in ("W", "w")]),
    "an external file that is not used": ("MGX07", lambda m: external(m, "w")),
    "blobs of an external file that overlap": ("MGB08", overlapping),
    "a feature of a later version": ("MGH04", lambda m: m.required_features.insert(0, "astrology")),
    "a feature that is not declared": ("MGH07", lambda m: m.required_features.pop()),
    "features out of order": ("MGH03", lambda m: m.required_features.reverse()),
    "metadata out of order": ("MGM01", lambda m: [m.metadata.add(key=k) for k in "ba"]),
    "a source path outside": ("MGD01", lambda m: m.debug_info.files.__setitem__(0, "../../x.py")),
    "a location out of range": ("MGD01", lambda m: setattr(node(m, "add"), "location", 999)),
    "a location twice": ("MGD01", lambda m: m.debug_info.locations.append(m.debug_info.locations[0])),
    "locations out of order": ("MGD01", lambda m: setattr(m.graphs[0].blocks[0].nodes[0], "location", 2)),
    "a location that is not used": ("MGD01", lambda m: m.debug_info.locations.add(line=9999)),
    "a source file that is not used": ("MGD01", lambda m: m.debug_info.files.append("other.py")),
    "a source file of a root": ("MGD01", lambda m: m.debug_info.files.__setitem__(0, "/etc/passwd")),
    "a name for an input": ("MGD01", lambda m: m.debug_info.value_names.add(value=1, name="x")),
    "a name for no value": ("MGD01", lambda m: m.debug_info.value_names.add(value=999, name="x")),
    "a name in another graph": ("MGD01", lambda m: m.debug_info.value_names.add(graph=1, value=20, name="x")),
    "a source": ("MGM01", lambda m: m.sources.add(name="x", uri="https://example.com")),
    "a metadata key without letters": ("MGM01", lambda m: m.metadata.add(key="", value="x")),
    "metadata with NUL": ("MGM01", lambda m: m.metadata.add(key="a", value="\0")),
    "a producer with NUL": ("MGM01", lambda m: setattr(m.producer, "name", "a\0")),
    "a graph without a body": ("MGG07", lambda m: m.graphs[0].ClearField("blocks")),
    "a body with results": ("MGG07", lambda m: m.graphs[0].blocks[0].results.append(1)),
    "a block that no node names": ("MGG12", lambda m: m.graphs[0].blocks.add()),
    "a node with a block": ("MGO06", lambda m: node(m, "add").blocks.append(0)),
    "a node that yields a buffer": ("MGG14", lambda m: node(m, "add").result_types.__setitem__(0, 3)),
    "an op without a name": ("MGO02", lambda m: m.ops.insert(0, type(m.ops[0])(domain="", name="x", version=1))),
    "an op of version 0": ("MGO02", lambda m: setattr(m.ops[0], "version", 0)),
    "an op of another domain": ("MGO05", lambda m: setattr(m.ops[0], "domain", "com.example")),
    "attributes out of order": ("MGA01", lambda m: node(m, "slice").attributes.append(node(m, "slice").attributes[0])),
    "effects twice": ("MGE01", lambda m: node(m, "buffer_store").effects.append(node(m, "buffer_store").effects[0])),
    "an effect of an unknown kind": ("MGE02", lambda m: setattr(node(m, "buffer_store").effects[0], "access", 7)),
    "an effect of no kind": ("MGE02", lambda m: node(m, "buffer_store").effects[0].ClearField("access")),
    "a weight that is not used": ("MGW01", lambda m: m.weights.add(name="zz", type=m.weights[1].type, blob=1)),
    "a weight of symbolic size": ("MGW02", lambda m: setattr(m.weights[0], "type", 0)),
    "a weight's blob out of range": ("MGW03", lambda m: setattr(m.weights[0], "blob", 9)),
    "blobs out of order": ("MGB02", lambda m: setattr(m.weights[0], "blob", 1)),
    "a blob of another file": ("MGB05", lambda m: setattr(m.blobs[0], "file", 1)),
    "a blob that does not end the file": ("MGB09", lambda m: m.blobs.pop()),
    "states out of order": ("MGS01", lambda m: m.states.insert(0, m.states.pop())),
    "a state of symbolic size": ("MGS02", symbolic_state),
    "a state's weight out of range": ("MGS04", lambda m: setattr(m.states[2], "weight", 99)),
    "a state of another name": ("MGG06", lambda m: setattr(m.states[0], "name", "counter")),
    "a literal of another size": (
        "MGA02",
        lambda m: setattr(node(m, "constant").attributes[0].literal_val, "data", b"12345"),
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_refused_with_its_code(lie: str, tmp_path: Path) -> None:
    code, change = LIES[lie]
    path = saved(tmp_path)
    path.write_bytes(forged(path.read_bytes(), change))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code == code, raised.value.summary
    assert raised.value.summary.isprintable()


def test_every_code_of_a_header_is_met_here() -> None:
    """But those of limits, of damaged weights, of other files, and of blocks (`test_blocks`)."""
    elsewhere = {
        "MGX08",
        "MGX09",
        "MGX10",
        "MGX11",
        "MGG04",
        "MGG08",
        "MGG09",
        "MGG13",
        "MGB01",
        "MGB10",
        "MGB11",
        "MGB12",
        "MGW06",
    }
    met = {code for code, _ in LIES.values()} | elsewhere
    assert {code for code in CODES if code[2] in "TXBGOEAWSMD"} <= met
