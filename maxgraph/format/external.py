"""Weights in safetensors files beside a file: opened when the first of them is used, and then only if they fit."""

from __future__ import annotations

import hashlib
import mmap
import os
import threading
from collections.abc import Iterable

from ..shards import read_shard_header
from .decode_weights import ExternalFile, PlacedWeight
from .errors import escaped, fail, need
from .mapped import MappedFile
from .opening import open_regular

__all__ = ["ExternalMap", "external_maps"]


class ExternalMap:
    """A file beside another one, mapped once, when the first of its weights is used.

    A symbolic link is followed, since checkpoint caches are made of them: what it leads to must have the size and the
    tensors that the header says, and each weight the digest.
    """

    def __init__(self, folder: str, file: ExternalFile, weights: Iterable[PlacedWeight]) -> None:
        self.path = os.path.join(folder, file.name)
        self._file = file
        self._weights = list(weights)
        self._opened: MappedFile | None = None
        self._lock = threading.Lock()

    def map(self) -> mmap.mmap:
        """The whole file, read-only.

        Raises:
            FormatError: It is not there, or is another file than the header says.
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
        return self._opened.map()

    def check(self) -> None:
        """Compares the whole file with its digest.

        Raises:
            FormatError: They differ.
        """
        if hashlib.sha256(self.map()).digest() != self._file.sha256:
            fail("MGX11", f"{escaped(self.path, 300)} does not match its digest", "copy or download it again")

    def _open(self) -> MappedFile:
        try:
            descriptor = open_regular(self.path)
        except OSError as error:
            fail(
                "MGX09",
                f"{escaped(self.path, 300)} cannot be read: {error.strerror}",
                "the file's weights lie in it: put it beside the .maxg file",
            )
        opened = MappedFile(descriptor, self.path)  # it closes the descriptor, whatever happens
        need(
            opened.length == self._file.size,
            "MGX10",
            f"{escaped(self.path, 300)} has {opened.length} bytes instead of {self._file.size}",
        )
        tensors = read_shard_header(descriptor, opened.length, escaped(self.path, 300)).values()
        known = {(t.dtype, t.shape, t.offset, t.length) for t in tensors}
        for weight in self._weights:
            place = (weight.type.dtype, weight.type.shape.evaluate({}), weight.offset, weight.length)
            if place not in known:
                fail("MGX10", f"{escaped(self.path, 300)} has no tensor where weight `{weight.name}` should be")
        return opened


def external_maps(path: str, weights: Iterable[PlacedWeight]) -> dict[ExternalFile, ExternalMap]:
    """The files beside `path` that hold weights; none is opened."""
    folder = os.path.dirname(os.path.abspath(path))
    grouped: dict[ExternalFile, list[PlacedWeight]] = {}
    for weight in weights:
        if weight.file is not None:
            grouped.setdefault(weight.file, []).append(weight)
    return {file: ExternalMap(folder, file, group) for file, group in grouped.items()}
