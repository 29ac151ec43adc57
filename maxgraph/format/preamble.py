"""The first 64 bytes of a file, and where the rest lies."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass

from .errors import fail, need
from .limits import Limits

__all__ = ["MAGIC", "MAJOR", "MINOR", "PREAMBLE_BYTES", "Preamble", "align", "blob_alignment", "section_start"]

#: Not ASCII first, then line endings of both kinds: text-mode and 7-bit transfers damage it, and are noticed.
MAGIC = b"\x89MAXG\r\n\x1a"
#: Container versions. Ledger: 1.0 (2026-12) the first.
MAJOR, MINOR = 1, 0
_LAYOUT = struct.Struct("<8sHHIQQ32s")
PREAMBLE_BYTES = _LAYOUT.size
_SECTION_ALIGNMENT = 4096
_BIG_BLOB = 1 << 20

# What a file is that is not ours, by how it begins.
_FOREIGN = (
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself", "run `git lfs pull`"),
    (b"PK\x03\x04", "a zip archive", None),
    (b"\x1f\x8b", "a gzip file", "unpack it first"),
    (b"\x80\x04", "a Python pickle", None),
    (b"GGUF", "a GGUF file", None),
    (b"<!DOCTYPE", "an HTML page", "the download went wrong"),
    (b"<html", "an HTML page", "the download went wrong"),
    (b"\x93NUMPY", "a numpy array", "pass it as an input: -i NAME=@file.npy"),
)


def align(offset: int, alignment: int) -> int:
    """The next multiple of `alignment`."""
    return (offset + alignment - 1) // alignment * alignment


def blob_alignment(length: int) -> int:
    """Large blobs lie on pages of their own, small ones where any vector load may start."""
    return 4096 if length >= _BIG_BLOB else 64


def section_start(header_length: int) -> int:
    """Where the weight section begins."""
    return align(PREAMBLE_BYTES + header_length, _SECTION_ALIGNMENT)


@dataclass(frozen=True, slots=True)
class Preamble:
    """The fixed part of a file."""

    minor: int
    header_length: int
    file_length: int
    header_sha256: bytes

    def pack(self) -> bytes:
        """Its bytes."""
        return _LAYOUT.pack(MAGIC, MAJOR, self.minor, 0, self.header_length, self.file_length, self.header_sha256)

    @property
    def model_id(self) -> str:
        """The model's identity: it covers the header by its digest, and the weights by theirs in the header."""
        return hashlib.sha256(self.pack()).hexdigest()

    @staticmethod
    def parse(start: bytes, size: int, limits: Limits) -> Preamble:
        """Reads and checks the preamble.

        Args:
            start: The file's first 64 bytes, or all of a shorter file.
            size: The file's length.

        Raises:
            FormatError: See the codes MGP01 to MGP09.
        """
        _refuse_foreign(start, size)
        magic, major, minor, flags, header_length, file_length, digest = _LAYOUT.unpack(start)
        need(magic == MAGIC, "MGP02", "this is not a .maxg file: it begins differently")
        if major != MAJOR:
            fail("MGP03", f"the file has format {major}.{minor}; this maxgraph reads format {MAJOR}", _upgrade(major))
        if minor > MINOR:
            fail(
                "MGP04", f"the file has format {major}.{minor}; this maxgraph reads up to {MAJOR}.{MINOR}", _upgrade(1)
            )
        need(flags == 0, "MGP05", f"reserved flags are set: {flags:#x}")
        if file_length != size:
            what = "it was cut off" if size < file_length else "something was appended"
            fail("MGP06", f"the file has {size} bytes but declares {file_length}: {what}", "copy or download it again")
        preamble = Preamble(minor, header_length, file_length, digest)
        preamble.check(limits)
        return preamble

    def check(self, limits: Limits) -> None:
        """Raises where the file or its header is over a limit, or the header does not fit into the file."""
        need(self.file_length <= limits.file_bytes, "MGP07", f"the file is over {limits.file_bytes} bytes")
        if not 0 < self.header_length <= limits.header_bytes:
            fail("MGP08", f"the header has {self.header_length} bytes; 1 to {limits.header_bytes} are allowed")
        inside = PREAMBLE_BYTES + self.header_length <= self.file_length
        need(inside, "MGP09", "the header runs past the end of the file")


def _upgrade(major: int) -> str:
    return "upgrade with `pip install --upgrade maxg`" if major >= MAJOR else "there is no such format"


def _refuse_foreign(start: bytes, size: int) -> None:
    """Names what the file is instead, where it can be told."""
    if size == 0:
        fail("MGP01", "the file is empty", "copy or download it again")
    for beginning, what, remedy in _FOREIGN:
        if start.startswith(beginning):
            fail("MGP02", f"this is {what}, not a .maxg file", remedy)
    if start[:1] == b"\x08" and len(start) > 2 and start[2:3] in (b"\x12", b"\x3a", b"\x42"):
        fail("MGP02", "this looks like an ONNX model, not a .maxg file")
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") < size:
        fail("MGP02", "this is a safetensors file, not a .maxg file", "use it as a state: --state-in file.safetensors")
    if not start.startswith(MAGIC[: len(start)]):
        fail("MGP02", "this is not a .maxg file: it begins differently")
    if len(start) < PREAMBLE_BYTES:
        fail("MGP01", f"the file has only {size} bytes: it was cut off", "copy or download it again")
