"""Where the writer puts weights' bytes: one blob for each different content, in the order of the weights' names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

from ..v1 import model_pb2
from .elements import PIECE_BYTES, Elements
from .preamble import align, blob_alignment

__all__ = ["place_blobs", "write_sparse"]

_ZEROS = bytes(PIECE_BYTES)


def place_blobs(
    model: model_pb2.Model, weights: Mapping[str, Elements], outside: Mapping[str, tuple[int, int]]
) -> list[tuple[int, Elements]]:
    """Adds the blobs to a model.

    Weights of equal content share a blob, and a weight without elements has none.

    Args:
        model: Its weights are there.
        weights: Their elements.
        outside: Weights that lie in external files: the file's number, and where in it.

    Returns:
        What is to be written, each with its place in the weight section, in order.
    """
    from concurrent.futures import ThreadPoolExecutor  # here, because `load` imports this module and needs no threads

    with ThreadPoolExecutor() as pool:  # hashing releases the interpreter's lock
        digests = dict(zip(weights, pool.map(Elements.digest, weights.values()), strict=True))
    placed: dict[tuple[int, int, bytes], int] = {}
    written: list[tuple[int, Elements]] = []
    end = 0
    for weight in model.weights:
        elements = weights[weight.name]
        if not elements.length:
            continue
        length, digest = elements.length, digests[weight.name]
        file, offset = outside.get(weight.name, (0, 0))
        # In external files, equal contents at two places are two blobs.
        key = (file, offset if file else length, digest)
        if key not in placed:
            placed[key] = len(placed)
            if not file:
                offset = align(end, blob_alignment(length))
                end = offset + length
                written.append((offset, elements))
            model.blobs.add(file=file, offset=offset, length=length, sha256=digest)
        weight.blob = placed[key]
    return written


def write_sparse(file: BinaryIO, offset: int, elements: Elements) -> None:
    """Writes bytes at an offset of a new file; a piece of zeros becomes a hole, which takes no disk."""
    for piece in elements.pieces():
        if bytes(piece) != _ZEROS[: len(piece)]:  # `bytes`: a memoryview compares element by element
            file.seek(offset)
            file.write(piece)
        offset += len(piece)
