"""Weights that stay where they are: in safetensors files beside the file that is written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..graph import ir
from ..graph.type import TensorType
from ..shards import ShardTensor, read_shard_header
from ..v1 import model_pb2, weights_pb2
from .elements import PIECE_BYTES
from .errors import escaped
from .mapped import MappedData
from .names import is_base_name
from .opening import open_regular

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Reference", "declare_files", "find_references"]


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a weight lies: the name of a file beside the one that is written, and the place in it."""

    file: str
    offset: int


def find_references(
    weights: Mapping[str, tuple[TensorType, ir.TensorData]], folder: str
) -> tuple[dict[str, Reference], dict[str, str]]:
    """The weights that are tensors of safetensors files in a folder.

    A weight counts as one if its elements are a whole tensor of a mapped file: as `maxgraph.load` gives it, or an array
    over a `numpy.memmap`. All others are left to be written into the file itself.

    Args:
        weights: Types and elements by name.
        folder: Where the file will be.

    Returns:
        The references by weight, and the paths of the files by their names in that folder.

    Raises:
        UsageError: A file of weights lies in another folder, or has a name that a file cannot hold.
        FormatError: One is no safetensors file that can be trusted.
    """
    found: dict[str, Reference] = {}
    paths: dict[str, str] = {}
    headers: dict[str, set[ShardTensor]] = {}
    names = _names(folder)
    for name, (type_, data) in weights.items():
        origin = _origin(data)
        if origin is None or not type_.num_bytes:
            continue
        path, offset = origin
        if path not in headers:
            headers[path] = _tensors(path)
        if ShardTensor(type_.dtype, type_.shape.evaluate({}), offset, type_.num_bytes) not in headers[path]:
            continue
        base = names.get(os.path.realpath(path))
        if base is None:
            raise UsageError(
                f"weight `{name}` lies in {escaped(path, 300)}, which is not beside the file that is written",
                code="MG050",
                help="write the file into that folder, or write the weights into it: external=False",
            )
        if not is_base_name(base):
            raise UsageError(
                f"{escaped(base)} cannot be named in a file", code="MG050", help="use letters, digits and ._- only"
            )
        paths[base] = path
        found[name] = Reference(base, offset)
    return found, paths


def _names(folder: str) -> dict[str, str]:
    """What the files in a folder are called there, by where they really are: a checkpoint cache is made of links."""
    if not os.path.isdir(folder):
        return {}
    # Backwards, so that of several names the first one stays.
    return {os.path.realpath(os.path.join(folder, name)): name for name in sorted(os.listdir(folder), reverse=True)}


def declare_files(model: model_pb2.Model, paths: Mapping[str, str]) -> dict[str, int]:
    """Adds the files to a model, with their sizes and digests; gives their numbers by name."""
    from concurrent.futures import ThreadPoolExecutor

    names = sorted(paths)
    with ThreadPoolExecutor() as pool:  # hashing releases the interpreter's lock
        digests = list(pool.map(_digest, (paths[name] for name in names)))
    for name, (size, digest) in zip(names, digests, strict=True):
        model.external_files.add(
            name=name, size=size, sha256=digest, format=weights_pb2.ExternalFile.FORMAT_SAFETENSORS
        )
    return {name: at + 1 for at, name in enumerate(names)}


def _origin(data: ir.TensorData) -> tuple[str, int] | None:
    """The mapped file in which elements lie, and where; None if they lie elsewhere, or in the .maxg file itself."""
    if isinstance(data, MappedData):
        return (os.path.abspath(data.path), data.place.offset) if data.place.file is not None else None
    return _memmap_origin(data.numpy())


def _memmap_origin(array: np.ndarray[Any, Any]) -> tuple[str, int] | None:
    import numpy as np

    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if not isinstance(root, np.memmap) or root.filename is None or not array.flags.c_contiguous:
        return None
    return os.path.abspath(os.fsdecode(root.filename)), root.offset + array.ctypes.data - root.ctypes.data


def _tensors(path: str) -> set[ShardTensor]:
    descriptor = _opened(path)
    try:
        return set(read_shard_header(descriptor, os.fstat(descriptor).st_size, escaped(path, 300)).values())
    finally:
        os.close(descriptor)


def _digest(path: str) -> tuple[int, bytes]:
    descriptor = _opened(path)
    try:
        hasher, size = hashlib.sha256(), 0
        while piece := os.pread(descriptor, PIECE_BYTES, size):
            hasher.update(piece)
            size += len(piece)
        return size, hasher.digest()
    finally:
        os.close(descriptor)


def _opened(path: str) -> int:
    try:
        return open_regular(path)
    except OSError as error:
        raise UsageError(f"{escaped(path, 300)} cannot be read: {error.strerror}", code="MG050") from None
