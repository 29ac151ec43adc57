"""Elements of four bits: two in a byte in the file, the first in the low half; a byte for each in memory.

Without numpy, because opening a file must not load it; each step is one call over all bytes.
"""

from __future__ import annotations

from ..dtype import DType

__all__ = ["is_packed", "pack", "unpack"]

_BITS = 4
_LOW = bytes(byte & 0xF for byte in range(256))
_HIGH = bytes(byte >> _BITS for byte in range(256))
_RAISED = bytes((byte & 0xF) << _BITS for byte in range(256))


def is_packed(dtype: DType) -> bool:
    """Whether two elements share a byte in the file."""
    return dtype.size_in_bits == _BITS


def pack(elements: bytes) -> bytes:
    """One byte for each two elements; the last is filled with zeros.

    Example:
        >>> pack(bytes([1, 2, 3])).hex()
        '2103'
    """
    low = elements[::2].translate(_LOW)
    high = elements[1::2].translate(_RAISED)
    return (int.from_bytes(low, "little") | int.from_bytes(high, "little")).to_bytes(len(low), "little")


def unpack(data: bytes, count: int) -> bytes | None:
    """One byte for each of `count` elements; None where the last byte is not filled with zeros.

    Example:
        >>> list(unpack(bytes.fromhex("2103"), 3))
        [1, 2, 3]
    """
    elements = bytearray(2 * len(data))
    elements[::2] = data.translate(_LOW)
    elements[1::2] = data.translate(_HIGH)
    return bytes(elements[:count]) if not any(elements[count:]) else None
