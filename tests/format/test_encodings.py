"""A message has many encodings and one that is canonical; only that one is read, so equal models have equal bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from maxgraph.errors import FormatError
from maxgraph.format import load

from .files import header_of, saved, with_header
from .wire import LENGTH, VARINT, Field, at, fields, joined, varint

# Paths in the header, by field number.
PRODUCER, OP, GRAPH, BODY = (1,), (3,), (11,), (11, 4)
NODE = (11, 4, (2, 2))  # the first that has operands


Steps = tuple[int | tuple[int, int], ...]
Change = Callable[[list[Field]], list[Field] | None]


def inside(path: Steps, change: Change) -> Callable[[bytes], bytes]:
    """Changes the fields of the message at a path, in place or by giving others."""

    def apply(header: bytes) -> bytes:
        found = at(header, *path)
        changed = change(found) or found
        return joined(header, path, b"".join(field.encode() for field in changed))

    return apply


def first(found: list[Field], kind: int) -> Field:
    return next(field for field in found if field.kind == kind)


def padded(kind: int, **paddings: int) -> Callable[[list[Field]], None]:
    def change(found: list[Field]) -> None:
        field = first(found, kind)
        for name, value in paddings.items():
            setattr(field, name, value)

    return change


def longer(found: list[Field]) -> None:
    field = first(found, VARINT)
    field.value = field.value[:-1] + bytes([field.value[-1] | 0x80]) + b"\0"


def overflowing(found: list[Field]) -> None:
    """A uint32 of 33 bits, which parsers cut."""
    field = first(found, VARINT)
    field.value = varint((1 << 32) + 1)


def ten_bytes(found: list[Field]) -> None:
    first(found, VARINT).value = b"\xff" * 9 + b"\x7f"


def unpacked(found: list[Field]) -> list[Field]:
    """Repeated numbers, a field for each."""
    packed = next(f for f in found if f.number == 2)
    where = found.index(packed)
    return found[:where] + [Field(2, VARINT, bytes([byte])) for byte in packed.value] + found[where + 1 :]


def split(found: list[Field]) -> list[Field]:
    packed = next(f for f in found if f.number == 2)
    where = found.index(packed)
    return [*found[:where], Field(2, LENGTH, packed.value[:1]), Field(2, LENGTH, packed.value[1:]), *found[where + 1 :]]


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "a length that is not minimal": inside((), padded(LENGTH, length_padding=1)),
    "a length with four bytes more": inside((), padded(LENGTH, length_padding=4)),
    "a tag that is not minimal": inside((), padded(LENGTH, tag_padding=1)),
    "a nested length that is not minimal": inside(GRAPH, padded(LENGTH, length_padding=1)),
    "a nested tag that is not minimal": inside(NODE, padded(LENGTH, tag_padding=1)),
    "a number that is not minimal": inside(OP, longer),
    "a number beyond 32 bits": inside(OP, overflowing),
    "a number of ten bytes that overflows": inside(OP, ten_bytes),
    "fields out of order": inside((), lambda found: found[1:] + found[:1]),
    "nested fields out of order": inside(OP, lambda found: found[::-1]),
    "a singular message twice": lambda h: first((fields(h)), LENGTH).encode() + h,
    "a singular text twice": inside(PRODUCER, lambda found: [found[0], *found]),
    "a singular number twice": inside(OP, lambda found: [*found, found[-1]]),
    "a message in two parts": lambda h: b"".join(
        [*(Field(1, LENGTH, part.encode()).encode() for part in at(h, 1)), *(f.encode() for f in fields(h)[1:])]
    ),
    "a default that is written": inside(NODE, lambda found: [Field(1, VARINT, b"\0"), *found]),
    "an empty text that is written": inside(PRODUCER, lambda found: [*found, Field(2, LENGTH, b"")]),
    "an empty list that is written": inside(BODY, lambda found: [Field(1, LENGTH, b""), *found]),
    "an empty message at the end": lambda h: h + Field(14, LENGTH, b"").encode(),
    "a list that is not packed": inside(NODE, unpacked),
    "a list in two records": inside(NODE, split),
    "a choice made twice": lambda h: joined(
        h, (6,), b"".join([Field(2, LENGTH, b"").encode(), *(f.encode() for f in at(h, 6))])
    ),
    "an unknown field": lambda h: h + Field(127, VARINT, b"\1").encode(),
    "an unknown field deep inside": inside(NODE, lambda found: [*found, Field(99, LENGTH, b"hidden")]),
    "an unknown group": lambda h: h + b"\xfb\x07\xfc\x07",
    "nested unknown groups": lambda h: h + b"\xfb\x07" * 50 + b"\xfc\x07" * 50,
    "a hundred thousand groups": lambda h: h + b"\xfb\x07" * 100_000 + b"\xfc\x07" * 100_000,
    "groups without end": lambda h: h + b"\xfb\x07" * 200,
    "a known number of another kind": lambda h: h + Field(1, VARINT, b"\1").encode(),
    "a field number of zero": lambda h: h + b"\x00\x00",
    "a length beyond the end": lambda h: h + b"\x0a\x7f",
    "a length of 2**63": lambda h: h + b"\x0a" + varint(2**63),
    "a cut field": lambda h: h[:-1],
    "text that is not UTF-8": inside(PRODUCER, lambda found: [Field(1, LENGTH, b"\xff\xfe"), *found[1:]]),
    "text with half a surrogate pair": inside(PRODUCER, lambda found: [Field(1, LENGTH, b"\xed\xa0\x80"), *found[1:]]),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return saved(tmp_path_factory.mktemp("encodings")).read_bytes()


def test_the_wire_tool_changes_nothing_by_itself(file: bytes) -> None:
    header = header_of(file)
    assert b"".join(field.encode() for field in fields(header)) == header
    assert joined(header, NODE, b"".join(field.encode() for field in at(header, *NODE))) == header


@pytest.mark.parametrize("name", ENCODINGS)
def test_only_the_canonical_encoding_is_read(name: str, file: bytes, tmp_path: Path) -> None:
    header = header_of(file)
    changed = ENCODINGS[name](header)
    assert changed != header
    path = tmp_path / "encoded.maxg"
    path.write_bytes(with_header(file, changed))
    with pytest.raises(FormatError) as raised:
        load(path)
    assert raised.value.code in ("MGH02", "MGH05", "MGH06")
