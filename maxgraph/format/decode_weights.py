"""From the header's weights and blobs to where their elements lie."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.type import TensorType
from ..v1 import model_pb2
from .checks import check_sorted, identifier
from .decode_types import TypeTable
from .errors import need
from .limits import Limits
from .preamble import PREAMBLE_BYTES, Preamble, align, blob_alignment, section_start

__all__ = ["PlacedWeight", "check_blobs", "place_weights"]

_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True)
class PlacedWeight:
    """A weight: its type, and where its bytes are in the file; no bytes, no place."""

    name: str
    type: TensorType
    offset: int
    length: int
    sha256: bytes


def check_blobs(model: model_pb2.Model, preamble: Preamble, limits: Limits) -> None:
    """Raises unless the blobs tile the weight section exactly, so that nothing overlaps and nothing hides."""
    need(not model.external_files, "MGX01", "the model keeps weights in other files, which this version does not read")
    need(len(model.blobs) <= limits.blobs, "MGB01", f"{len(model.blobs)} blobs are over the limit of {limits.blobs}")
    start, end = section_start(preamble.header_length), 0
    for blob in model.blobs:
        need(len(blob.sha256) == _DIGEST_BYTES, "MGB03", "a digest that is not 32 bytes long")
        need(blob.length > 0, "MGB04", "an empty blob")
        need(blob.file == 0, "MGB05", f"a blob of file {blob.file}, which is not declared")
        expected = align(end, blob_alignment(blob.length))
        need(blob.offset == expected, "MGB06", f"a blob at {blob.offset} where one must be at {expected}")
        end = blob.offset + blob.length
        need(start + end <= preamble.file_length, "MGB07", "a blob runs past the end of the file")
    wanted = start + end if model.blobs else PREAMBLE_BYTES + preamble.header_length
    need(preamble.file_length == wanted, "MGB09", f"the file ends at {preamble.file_length}, not {wanted}")


def place_weights(model: model_pb2.Model, types: TypeTable, preamble: Preamble) -> list[PlacedWeight]:
    """The weights, with the blobs in order of first use."""
    check_sorted([weight.name for weight in model.weights], "MGW01", "weights")
    start, used = section_start(preamble.header_length), 0
    placed = []
    for weight in model.weights:
        name = identifier(weight.name, "MGW01", "a weight")
        type_ = types.tensor(weight.type)
        size = types.static(type_, "MGW02", f"weight `{name}`")
        if not weight.HasField("blob"):
            need(size == 0, "MGW05", f"weight `{name}` has {size} bytes but no blob")
            placed.append(PlacedWeight(name, type_, 0, 0, b""))
            continue
        need(weight.blob < len(model.blobs), "MGW03", f"weight `{name}` names blob {weight.blob}")
        need(weight.blob <= used, "MGB02", "blobs are not in order of first use")
        used = max(used, weight.blob + 1)
        blob = model.blobs[weight.blob]
        need(blob.length == size, "MGW05", f"weight `{name}` needs {size} bytes, but its blob has {blob.length}")
        placed.append(PlacedWeight(name, type_, start + blob.offset, blob.length, blob.sha256))
    need(used == len(model.blobs), "MGB10", "a blob belongs to no weight")
    digests = {(blob.length, blob.sha256) for blob in model.blobs}
    need(len(digests) == len(model.blobs), "MGB02", "the same bytes are stored twice")
    return placed
