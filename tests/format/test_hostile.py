"""Headers that are well-formed messages with right digests, and lie: only `FormatError` may leave the reader."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import maxgraph.format
from maxgraph.errors import CODES, FormatError
from maxgraph.format import load
from maxgraph.v1 import model_pb2

from .files import forged, header_of, rich_graph, saved, with_header

Change = Callable[[Any], object]


def node(model: Any, op: str) -> Any:
    index = next(at for at, ref in enumerate(model.ops) if ref.name == op)
    return next(n for n in model.graphs[0].blocks[0].nodes if n.op == index)


def set_(target: str, value: Any) -> Change:
    """Sets a field by a path such as ``states[0].type``."""

    def change(model: Any) -> None:
        path, _, name = target.rpartition(".")
        exec(f"owner = model.{path}", {"model": model}, scope := {})
        setattr(scope["owner"], name, value)

    return change


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
    "a type that is not used": ("MGT11", lambda m: m.types.add().tensor.CopyFrom(model_pb2.Model().types.add().tensor)),
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
    "an external file": ("MGX01", lambda m: m.external_files.add(name="../../etc/passwd", size=8, sha256=b"0" * 32)),
    "a feature of a later version": ("MGH04", lambda m: m.required_features.insert(0, "control_flow")),
    "a feature that is not declared": ("MGH07", lambda m: m.required_features.pop()),
    "features out of order": ("MGH03", lambda m: m.required_features.reverse()),
    "metadata out of order": ("MGM01", lambda m: [m.metadata.add(key=k) for k in "ba"]),
    "a source path outside": ("MGD01", lambda m: m.debug_info.files.__setitem__(0, "../../x.py")),
    "a location out of range": ("MGD01", lambda m: setattr(node(m, "add"), "location", 999)),
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
    assert (raised.value.code, raised.value.summary) == (code, raised.value.summary)
    assert raised.value.summary.isprintable()


# Encodings of the same message that are not the canonical one.
def varint(value: int, pad: int = 0) -> bytes:
    out = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        more = value or pad
        out.append(byte | (0x80 if more else 0))
        if not value:
            for at in range(pad):
                out.append(0x80 if at < pad - 1 else 0)
            return bytes(out)


def first_field(header: bytes) -> tuple[bytes, bytes]:
    """The producer field, which comes first, and the rest."""
    length = header[1]
    return header[: 2 + length], header[2 + length :]


OTHER_ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "a length that is not minimal": lambda h: h[:1] + varint(h[1], 1) + h[2:],
    "a tag that is not minimal": lambda h: b"\x8a\x00" + h[1:],
    "fields out of order": lambda h: first_field(h)[1] + first_field(h)[0],
    "a singular field twice": lambda h: first_field(h)[0] + h,
    "an unknown field": lambda h: h + b"\xf8\x07\x01",
    "an unknown group": lambda h: h + b"\xfb\x07\xfc\x07",
    "nested unknown groups": lambda h: h + b"\xfb\x07" * 50 + b"\xfc\x07" * 50,
    "groups without end": lambda h: h + b"\xfb\x07" * 200,
    "a known number with another wire type": lambda h: h + b"\x08\x01",
    "an empty message field": lambda h: h + b"\x72\x00",
    "an empty producer": lambda h: b"\x0a\x00" + h,
    "a cut field": lambda h: h[:-1],
    "text that is not UTF-8": lambda h: h[:4] + b"\xff" + h[5:],
    "a field number of zero": lambda h: h + b"\x00\x00",
    "a length beyond the end": lambda h: h + b"\x0a\x7f",
}


@pytest.mark.parametrize("name", OTHER_ENCODINGS)
def test_only_the_canonical_encoding_is_read(name: str, tmp_path: Path) -> None:
    path = saved(tmp_path)
    data = path.read_bytes()
    path.write_bytes(with_header(data, OTHER_ENCODINGS[name](header_of(data))))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code in ("MGH02", "MGH05", "MGH06")


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
@given(
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4),
    insert=st.booleans(),
)
def test_random_headers_raise_nothing_else(
    changes: list[tuple[float, int]], insert: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.maxg"
    if not hasattr(test_random_headers_raise_nothing_else, "data"):
        maxgraph.save(rich_graph(), path)
        test_random_headers_raise_nothing_else.data = path.read_bytes()  # type: ignore[attr-defined]
    data: bytes = test_random_headers_raise_nothing_else.data  # type: ignore[attr-defined]
    header = bytearray(header_of(data))
    for place, byte in changes:
        at = int(place * len(header))
        if insert:
            header.insert(at, byte)
        else:
            header[at] = byte
    path.write_bytes(with_header(data, bytes(header)))
    try:
        load(path)
    except FormatError as error:
        known = error.code in CODES
    else:
        known = True
    assert known


def test_the_reader_executes_nothing() -> None:
    """No file content can reach an interpreter, an importer, an unpickler or a process."""
    forbidden = {"eval", "exec", "compile", "__import__", "import_module", "system", "popen"}
    modules = {"pickle", "marshal", "subprocess", "zipfile", "importlib", "ctypes", "shelve", "urllib", "socket"}
    for source in Path(maxgraph.format.__file__).parent.glob("*.py"):
        for item in ast.walk(ast.parse(source.read_text())):
            if isinstance(item, ast.Call):
                name = getattr(item.func, "id", getattr(item.func, "attr", ""))
                is_pattern = ast.unparse(item.func) == "re.compile"
                assert name not in forbidden or is_pattern, (source.name, name)
            names = [a.name for a in item.names] if isinstance(item, ast.Import | ast.ImportFrom) else []
            names += [item.module or ""] if isinstance(item, ast.ImportFrom) else []
            assert not {n.partition(".")[0] for n in names} & modules, source.name
