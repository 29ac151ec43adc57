"""Protobuf's wire format, taken apart and put together by hand: what no protobuf library would write."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Field", "at", "fields", "joined", "varint"]

VARINT, LENGTH, START, END = 0, 2, 3, 4


def varint(value: int, padding: int = 0) -> bytes:
    """A varint; `padding` bytes longer than it need be."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value | (0x80 if padding else 0))
    return bytes(out) + (b"\x80" * (padding - 1) + b"\0" if padding else b"")


@dataclass
class Field:
    """One field as it is on the wire."""

    number: int
    kind: int
    value: bytes  # of a varint: its bytes
    tag_padding: int = 0
    length_padding: int = 0

    def encode(self) -> bytes:
        """Its bytes."""
        tag = varint(self.number << 3 | self.kind, self.tag_padding)
        length = varint(len(self.value), self.length_padding) if self.kind == LENGTH else b""
        return tag + length + self.value


def fields(data: bytes) -> list[Field]:
    """The fields of a message, in order."""
    found = []
    position = 0

    def take_varint() -> bytes:
        nonlocal position
        start = position
        while data[position] & 0x80:
            position += 1
        position += 1
        return data[start:position]

    while position < len(data):
        tag = number_of(take_varint())
        kind = tag & 7
        if kind == LENGTH:
            size = number_of(take_varint())
            value, position = data[position : position + size], position + size
        elif kind == VARINT:
            value = take_varint()
        else:  # fixed 64 bits: the only other kind in the schema
            value, position = data[position : position + 8], position + 8
        found.append(Field(tag >> 3, kind, value))
    return found


def number_of(data: bytes) -> int:
    """The value of a varint."""
    return sum((byte & 0x7F) << 7 * at for at, byte in enumerate(data))


def find(found: list[Field], step: int | tuple[int, int]) -> Field:
    """The first field of a number, or the one at an index among those of the number."""
    number, index = step if isinstance(step, tuple) else (step, 0)
    return [field for field in found if field.number == number][index]


def at(data: bytes, *path: int | tuple[int, int]) -> list[Field]:
    """The fields of the message at a path of field numbers."""
    for step in path:
        data = find(fields(data), step).value
    return fields(data)


def joined(data: bytes, path: tuple[int | tuple[int, int], ...], inner: bytes) -> bytes:
    """The message with other bytes for the message at a path."""
    if not path:
        return inner
    changed = fields(data)
    target = find(changed, path[0])
    target.value = joined(target.value, path[1:], inner)
    return b"".join(field.encode() for field in changed)
