"""From the header's weights, blobs and external files to where their elements lie."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ..graph.type import TensorType
from ..v1 import model_pb2, weights_pb2
from .checks import check_sorted, identifier
from .decode_types import TypeTable
from .errors import escaped, need
from .limits import Limits
from .names import is_base_name
from .preamble import PREAMBLE_BYTES, Preamble, align, blob_alignment, section_start

__all__ = ["ExternalFile", "PlacedWeight", "check_blobs", "external_files", "place_weights"]

_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True)
class ExternalFile:
    """A file beside this one that holds weights: only these bytes are accepted for it."""

    name: str
    size: int
    sha256: bytes


@dataclass(frozen=True, slots=True)
class PlacedWeight:
    """A weight: its type, and where its bytes are; no bytes, no place.

    Attributes:
        file: The external file that they lie in; None: the file itself.
    """

    name: str
    type: TensorType
    offset: int
    length: int
    sha256: bytes
    file: ExternalFile | None = None


def external_files(model: model_pb2.Model, limits: Limits) -> list[ExternalFile]:
    """The files beside this one.

    Raises:
        FormatError: One is described in no way that could be right.
    """
    files = model.external_files
    need(len(files) <= limits.external_files, "MGX01", f"{len(files)} external files, over {limits.external_files}")
    for file in files:
        need(is_base_name(file.name), "MGX02", f"`{escaped(file.name)}` cannot name a file beside this one")
        need(len(file.sha256) == _DIGEST_BYTES, "MGX03", f"the digest of {file.name} is not 32 bytes long")
        safetensors = file.format == weights_pb2.ExternalFile.FORMAT_SAFETENSORS
        need(safetensors, "MGX04", f"{file.name} is of a kind that this version does not read")
        need(0 < file.size <= limits.file_bytes, "MGX05", f"{file.name} has {file.size} bytes")
    check_sorted([file.name for file in files], "MGX06", "external files")
    folded = {file.name.casefold() for file in files}
    need(len(folded) == len(files), "MGX06", "two external files differ only in upper and lower case")
    return [ExternalFile(file.name, file.size, file.sha256) for file in files]


def check_blobs(model: model_pb2.Model, preamble: Preamble, limits: Limits) -> None:
    """Raises unless the blobs tile the weight section exactly, so that nothing overlaps and nothing hides.

    Blobs of external files lie anywhere in them, but not over one another.
    """
    files = external_files(model, limits)
    need(len(model.blobs) <= limits.blobs, "MGB01", f"{len(model.blobs)} blobs are over the limit of {limits.blobs}")
    start, end = section_start(preamble.header_length), 0
    outside: list[tuple[int, int, int]] = []
    for blob in model.blobs:
        need(len(blob.sha256) == _DIGEST_BYTES, "MGB03", "a digest that is not 32 bytes long")
        need(blob.length > 0, "MGB04", "an empty blob")
        need(blob.file <= len(files), "MGB05", f"a blob of file {blob.file}, which is not declared")
        if blob.file:
            size = files[blob.file - 1].size
            fits = blob.offset <= size and blob.length <= size - blob.offset
            need(fits, "MGB07", f"a blob runs past the end of {files[blob.file - 1].name}")
            outside.append((blob.file, blob.offset, blob.offset + blob.length))
            continue
        expected = align(end, blob_alignment(blob.length))
        need(blob.offset == expected, "MGB06", f"a blob at {blob.offset} where one must be at {expected}")
        end = blob.offset + blob.length
        need(start + end <= preamble.file_length, "MGB07", "a blob runs past the end of the file")
    for one, other in pairwise(sorted(outside)):
        need(one[0] != other[0] or one[2] <= other[1], "MGB08", "two blobs of an external file overlap")
    need({file for file, _, _ in outside} == set(range(1, len(files) + 1)), "MGX07", "an external file is not used")
    wanted = start + end if end else PREAMBLE_BYTES + preamble.header_length
    need(preamble.file_length == wanted, "MGB09", f"the file ends at {preamble.file_length}, not {wanted}")


def place_weights(
    model: model_pb2.Model, types: TypeTable, preamble: Preamble, files: list[ExternalFile]
) -> list[PlacedWeight]:
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
        file = files[blob.file - 1] if blob.file else None
        offset = blob.offset if file else start + blob.offset
        placed.append(PlacedWeight(name, type_, offset, blob.length, blob.sha256, file))
    need(used == len(model.blobs), "MGB10", "a blob belongs to no weight")
    inside = [(blob.length, blob.sha256) for blob in model.blobs if not blob.file]
    need(len(set(inside)) == len(inside), "MGB02", "the same bytes are stored twice")
    return placed
