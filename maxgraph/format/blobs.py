"""Where the writer puts weights' bytes: one blob for each different content, in the order of the weights' names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

from ..v1 import model_pb2
from .elements import PIECE_BYTES, Elements
from .preamble import align, blob_alignment

__all__ = ["place_blobs", "write_sparse"]

_ZEROS = bytes(PIECE_BYTES)


def place_blobs(model: model_pb2.Model, weights: Mapping[str, Elements]) -> list[Elements]:
    """Adds the blobs to a model; gives their elements, in the same order.

    Weights of equal content share a blob, and a weight without elements has none.
    """
    from concurrent.futures import ThreadPoolExecutor  # here, because `load` imports this module and needs no threads

    with ThreadPoolExecutor() as pool:  # hashing releases the interpreter's lock
        digests = dict(zip(weights, pool.map(Elements.digest, weights.values()), strict=True))
    placed: dict[tuple[int, bytes], int] = {}
    blobs: list[Elements] = []
    end = 0
    for weight in model.weights:
        elements = weights[weight.name]
        if not elements.length:
            continue
        key = (elements.length, digests[weight.name])
        if key not in placed:
            placed[key] = len(blobs)
            blobs.append(elements)
            offset = align(end, blob_alignment(elements.length))
            model.blobs.add(file=0, offset=offset, length=elements.length, sha256=key[1])
            end = offset + elements.length
        weight.blob = placed[key]
    return blobs


def write_sparse(file: BinaryIO, offset: int, elements: Elements) -> None:
    """Writes bytes at an offset of a new file; a piece of zeros becomes a hole, which takes no disk."""
    for piece in elements.pieces():
        if bytes(piece) != _ZEROS[: len(piece)]:  # `bytes`: a memoryview compares element by element
            file.seek(offset)
            file.write(piece)
        offset += len(piece)
