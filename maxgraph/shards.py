"""Safetensors files, read strictly: which tensor lies where.

The header is eight bytes of length and a JSON object; the tensors lie behind it, end to end. What the format leaves to
a reader's goodwill is refused here: keys that stand twice, tensors over one another, bytes that belong to none.
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from typing import Any

from .dtype import DType
from .errors import FormatError

__all__ = ["SHARD_DTYPES", "ShardTensor", "read_shard_header"]

_LENGTH = struct.Struct("<Q")
#: The bound that the format's own library has.
_HEADER_BYTES = 100_000_000
_MOST_RANK = 32
#: The format's names of element types.
SHARD_DTYPES: dict[str, DType] = {
    **{
        f"{kind}{bits}": DType[f"{name}{bits}"]
        for kind, name in (("I", "int"), ("U", "uint"))
        for bits in (8, 16, 32, 64)
    },
    **{f"F{bits}": DType[f"float{bits}"] for bits in (16, 32, 64)},
    "BF16": DType.bfloat16,
    "BOOL": DType.bool,
    "F8_E4M3": DType.float8_e4m3fn,
    "F8_E5M2": DType.float8_e5m2,
    "F8_E8M0": DType.float8_e8m0fnu,
}


@dataclass(frozen=True, slots=True)
class ShardTensor:
    """A tensor of a file.

    Attributes:
        offset: From the start of the file.
        length: In bytes.
    """

    dtype: DType
    shape: tuple[int, ...]
    offset: int
    length: int


def read_shard_header(descriptor: int, size: int, name: str) -> dict[str, ShardTensor]:
    """The tensors of an open file, by name; nothing of them is read.

    Args:
        descriptor: The open file.
        size: Its size in bytes.
        name: What it is called in errors; it must be safe to print.

    Raises:
        FormatError: It is no safetensors file, or one that says two things.
    """
    prefix = os.pread(descriptor, _LENGTH.size, 0)
    if len(prefix) < _LENGTH.size:
        raise _refused(name, "it is too short")
    (length,) = _LENGTH.unpack(prefix)
    if not 0 < length <= min(_HEADER_BYTES, size - _LENGTH.size):
        raise _refused(name, f"its header would have {length} bytes")
    text = os.pread(descriptor, length, _LENGTH.size)
    if len(text) < length:
        raise _refused(name, "it became shorter while it was read")
    try:
        header = json.loads(text.decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError):  # also what is no UTF-8, and a key that stands twice
        raise _refused(name, "its header is no JSON object with each key once") from None
    if not isinstance(header, dict):
        raise _refused(name, "its header is no JSON object")
    header.pop("__metadata__", None)
    start = _LENGTH.size + length
    tensors = {key: _tensor(name, key, entry, start) for key, entry in header.items()}
    end = start
    for tensor in sorted(tensors.values(), key=lambda tensor: (tensor.offset, tensor.length)):
        if tensor.offset != end:
            raise _refused(name, "its tensors do not lie end to end")
        end += tensor.length
    if end != size:
        raise _refused(name, f"its tensors end at {end}, but it has {size} bytes")
    return tensors


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _tensor(file: str, key: str, entry: Any, start: int) -> ShardTensor:
    shown = ascii(key[:80])
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise _refused(file, f"tensor {shown} does not have a dtype, a shape and data_offsets")
    dtype, shape, offsets = SHARD_DTYPES.get(str(entry["dtype"])), entry["shape"], entry["data_offsets"]
    if dtype is None:
        raise _refused(file, f"tensor {shown} has dtype {str(entry['dtype'])[:20]!a}")
    if not (_are_sizes(shape) and len(shape) <= _MOST_RANK and _are_sizes(offsets) and len(offsets) == 2):
        raise _refused(file, f"the shape or the place of tensor {shown} is malformed")
    length = dtype.size_in_bytes
    for dim in shape:
        length *= dim
    if offsets[1] - offsets[0] != length:
        raise _refused(file, f"tensor {shown} takes {offsets[1] - offsets[0]} bytes, but its shape {length}")
    return ShardTensor(dtype, tuple(shape), start + offsets[0], length)


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**63 for value in values)


def _refused(name: str, reason: str) -> FormatError:
    return FormatError(f"{name} is no safetensors file that can be trusted: {reason}", code="MGX08")
