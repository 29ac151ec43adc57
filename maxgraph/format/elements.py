"""A weight's elements as the file has them: row-major, little-endian, in pieces, so that no second copy is made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..graph import ir
from ..graph.type import TensorType
from .mapped import MappedData
from .packed import is_packed, pack

if TYPE_CHECKING:
    import numpy as np

__all__ = ["PIECE_BYTES", "Elements"]

PIECE_BYTES = 1 << 20


class Elements:
    """The bytes of one weight.

    Attributes:
        type, data: Its type, and where its elements come from.
        length: How many bytes the file has of it.

    Raises:
        InputError: The array is not of the weight's type.
    """

    def __init__(self, name: str, type_: TensorType, data: ir.TensorData) -> None:
        import numpy as np

        self._digest = data.place.sha256 if isinstance(data, MappedData) else None
        self._array = np.asarray(data.numpy())
        self.type, self.data = type_, data
        self._packed = is_packed(type_.dtype)
        self.length = type_.num_bytes
        given, wanted = self._array.dtype, type_.dtype.to_numpy()
        if given.newbyteorder("=") != wanted or self._array.shape != type_.shape.evaluate({}):
            raise InputError(
                f"weight `{name}` does not fit",
                code="MG039",
                details=[("wanted", str(type_)), ("given", f"{given}{list(self._array.shape)}")],
            )
        if wanted == np.bool_ and any(bytes(piece).strip(b"\0\1") for piece in self.pieces()):
            raise InputError(f"weight `{name}` has bool elements that are neither 0 nor 1", code="MG039")

    def digest(self) -> bytes:
        """The SHA-256 of the bytes."""
        if self._digest is None:
            hasher = hashlib.sha256()
            for piece in self.pieces():
                hasher.update(piece)
            self._digest = hasher.digest()
        return self._digest

    def pieces(self) -> Iterator[bytes | memoryview]:
        """The bytes, in pieces of at most `PIECE_BYTES`; each is valid until the next is taken."""
        import numpy as np

        if not self.length:
            return
        size = self._array.dtype.itemsize
        order = ">" if self._array.dtype.byteorder == ">" or (not np.little_endian and size > 1) else "<"
        raw = self._array.view(f"{order}u{size}")
        if self._packed:
            flat = np.ascontiguousarray(raw).reshape(-1)
            for at in range(0, len(flat), PIECE_BYTES):
                yield pack(flat[at : at + PIECE_BYTES].tobytes())
        elif order == "<" and raw.flags.c_contiguous:
            flat = raw.reshape(-1).view(np.uint8)
            for at in range(0, len(flat), PIECE_BYTES):
                yield flat[at : at + PIECE_BYTES].data
        else:
            yield from _reordered(raw, size)


def _reordered(raw: np.ndarray[Any, Any], size: int) -> Iterator[bytes]:
    """An array of any layout and byte order, a buffer at a time."""
    import numpy as np

    pieces = np.nditer(
        [raw],
        flags=["external_loop", "buffered"],
        op_flags=[["readonly"]],
        op_dtypes=[np.dtype(f"<u{size}")],
        order="C",
        casting="equiv",
        buffersize=PIECE_BYTES // size,
    )
    for piece in pieces:
        yield np.asarray(piece).tobytes()
