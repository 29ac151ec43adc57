"""Weights that lie in a file: mapped, never copied, and checked when they are first used."""

from __future__ import annotations

import hashlib
import mmap
import os
import threading
from typing import TYPE_CHECKING, Any, Protocol

from ..dtype import DType
from .decode_weights import PlacedWeight
from .errors import escaped, fail
from .packed import is_packed, unpack

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Mapped", "MappedData", "MappedFile"]

_CHUNK = 1 << 20


class Mapped(Protocol):
    """A file that can be mapped.

    Attributes:
        path: Its name, for messages.
    """

    path: str

    def map(self) -> mmap.mmap:
        """The whole file, read-only."""
        ...


class MappedFile:
    """An open file that is mapped once, when the first weight is used.

    It keeps its own descriptor: a file that is replaced under its name stays readable here.
    """

    def __init__(self, descriptor: int, path: str) -> None:
        self.path = path
        self.descriptor = descriptor
        self.length = os.fstat(descriptor).st_size
        self._map: mmap.mmap | None = None
        self._lock = threading.Lock()

    def map(self) -> mmap.mmap:
        """The whole file, read-only.

        Raises:
            FormatError: It became shorter since it was opened; to read past its end would end the process.
        """
        with self._lock:
            if self._map is None:
                if os.fstat(self.descriptor).st_size < self.length:
                    fail("MGP06", f"{escaped(self.path)} became shorter since it was opened")
                self._map = mmap.mmap(self.descriptor, self.length, access=mmap.ACCESS_READ)
            return self._map

    def __del__(self) -> None:
        os.close(self.descriptor)


class MappedData:
    """The elements of one weight.

    Attributes:
        place: Where they lie, and the digest that the header records.
    """

    __slots__ = ("_checked", "_file", "_lock", "_unpacked", "place")

    def __init__(self, file: Mapped, place: PlacedWeight) -> None:
        self.place = place
        self._file = file
        self._checked = not place.length
        self._unpacked: bytes | None = None
        self._lock = threading.Lock()

    @property
    def path(self) -> str:
        """The file that they lie in."""
        return self._file.path

    def check(self) -> None:
        """Compares the bytes with their digest, once.

        Raises:
            FormatError: They differ, or are no elements of the weight's type.
        """
        with self._lock:
            if self._checked:
                return
            view = self._view()
            if hashlib.sha256(view).digest() != self.place.sha256:
                self._fail("MGB12", "do not match their digest")
            dtype = self.place.type.dtype
            if dtype is DType.bool and any(
                view[at : at + _CHUNK].tobytes().strip(b"\0\1") for at in range(0, len(view), _CHUNK)
            ):
                self._fail("MGW06", "are bools that are neither 0 nor 1")
            if is_packed(dtype):
                self._unpacked = unpack(view.tobytes(), self.place.type.num_elements())
                if self._unpacked is None:
                    self._fail("MGW06", "do not end in zeros")
            self._checked = True

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements, read-only, in the mapping itself; only those of less than a byte are unpacked."""
        import numpy as np

        dtype, shape = self.place.type.dtype.to_numpy(), self.place.type.shape.evaluate({})
        if not self.place.length:
            return np.frombuffer(b"", dtype).reshape(shape)
        self.check()
        if self._unpacked is not None:
            return np.frombuffer(self._unpacked, dtype).reshape(shape)
        count = self.place.type.num_elements()
        return np.frombuffer(self._file.map(), dtype, count, self.place.offset).reshape(shape)

    def _view(self) -> memoryview:
        return memoryview(self._file.map())[self.place.offset : self.place.offset + self.place.length]

    def _fail(self, code: str, what: str) -> None:
        fail(
            code,
            f"the bytes of weight `{escaped(self.place.name)}` in {escaped(self._file.path)} {what}",
            "the file is damaged: copy or download it again",
        )
