"""Weights that lie in a file: mapped, never copied, and checked when they are first used."""

from __future__ import annotations

import hashlib
import mmap
import os
import threading
from typing import TYPE_CHECKING, Any

from ..graph.type import TensorType
from .errors import escaped, fail

if TYPE_CHECKING:
    import numpy as np

__all__ = ["MappedData", "MappedFile"]


class MappedFile:
    """An open file that is mapped once, when the first weight is used.

    It keeps its own descriptor: a file that is replaced under its name stays readable here.
    """

    def __init__(self, descriptor: int, path: str) -> None:
        self.path = path
        self._descriptor = descriptor
        self._map: mmap.mmap | None = None
        self._lock = threading.Lock()

    def map(self) -> mmap.mmap:
        """The whole file, read-only."""
        with self._lock:
            if self._map is None:
                self._map = mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ)
            return self._map

    def __del__(self) -> None:
        os.close(self._descriptor)


class MappedData:
    """The elements of one weight.

    Attributes:
        sha256: The digest that the header records.
    """

    __slots__ = ("_checked", "_file", "_length", "_lock", "_name", "_offset", "_type", "sha256")

    def __init__(self, file: MappedFile, name: str, type_: TensorType, offset: int, length: int, sha256: bytes) -> None:
        self._file = file
        self._name = name
        self._type = type_
        self._offset = offset
        self._length = length
        self._checked = False
        self._lock = threading.Lock()
        self.sha256 = sha256

    def check(self) -> None:
        """Compares the bytes with their digest, once.

        Raises:
            FormatError: They differ.
        """
        with self._lock:
            if self._checked:
                return
            view = memoryview(self._file.map())[self._offset : self._offset + self._length]
            if hashlib.sha256(view).digest() != self.sha256:
                fail(
                    "MGB12",
                    f"the bytes of weight `{escaped(self._name)}` in {self._file.path} do not match their digest",
                    "the file is damaged: copy or download it again",
                )
            self._checked = True

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements, read-only, in the mapping itself."""
        import numpy as np

        self.check()
        dtype = self._type.dtype.to_numpy()
        shape = self._type.shape.evaluate({})
        count = self._type.num_elements()
        return np.frombuffer(self._file.map(), dtype, count, self._offset).reshape(shape)
