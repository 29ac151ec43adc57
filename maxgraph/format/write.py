"""Writing a file: beside the old one, and then in its place."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, BinaryIO

from ..dtype import DType
from ..errors import InputError, UsageError, suggest
from ..graph import ir
from ..graph.graph import Graph
from ..v1 import model_pb2
from .encode import encode
from .mapped import MappedData
from .preamble import MINOR, PREAMBLE_BYTES, Preamble, align, blob_alignment, section_start

if TYPE_CHECKING:
    import numpy as np

__all__ = ["save"]

_CHUNK = 1 << 20


def save(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    weights: Mapping[str, np.ndarray[Any, Any]] | None = None,
    metadata: Mapping[str, str] | None = None,
    strip_debug: bool = False,
) -> str:
    """Writes a graph to a ``.maxg`` file.

    The file appears whole or not at all: it is written beside its place and then moved there, so a file that is
    mapped by somebody keeps its bytes, and an interrupted write leaves the old file. The same program gives the same
    bytes.

    Args:
        graph: A finished graph.
        path: Where to.
        weights: Elements of the graph's weights that it does not hold yet, by name.
        metadata: Text for people, by key, such as ``license``.
        strip_debug: Leave out source lines and value names.

    Returns:
        The model's id.

    Example:
        >>> import os, tempfile
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType
        >>> x_type = TensorType(DType.float32, [2], DeviceRef.CPU())
        >>> graph = Graph("double", lambda x: x * 2, input_types=[x_type])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "double.maxg")
        ...     model_id = save(graph, path)
        ...     os.path.getsize(path) < 400
        True

    Raises:
        ValueError: The graph has no output, or a weight is missing or does not fit.
        OSError: The file cannot be written.
    """
    from .. import __version__

    model = encode(graph, version=__version__, metadata=_checked_metadata(metadata or {}), strip_debug=strip_debug)
    data = _weight_data(graph, [entry.name for entry in model.weights], weights or {})
    blobs = _place_blobs(model, data)
    header = model.SerializeToString(deterministic=True)
    start = section_start(len(header))
    length = start + model.blobs[-1].offset + model.blobs[-1].length if blobs else PREAMBLE_BYTES + len(header)
    preamble = Preamble(MINOR, len(header), length, hashlib.sha256(header).digest())
    with _replacing(path) as file:
        file.write(preamble.pack())
        file.write(header)
        for entry, view in zip(model.blobs, blobs, strict=True):
            _write_sparse(file, start + entry.offset, view)
        file.truncate(length)
    return preamble.model_id


def _checked_metadata(metadata: Mapping[str, str]) -> Mapping[str, str]:
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str) or not key or "\0" in key + value:
            raise UsageError("metadata are texts by key, without NUL", code="MGM01", details=[("key", repr(key))])
    return metadata


def _weight_data(graph: Graph, names: list[str], given: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, ir.TensorData]:
    """The elements of each weight that is written.

    Raises:
        InputError: One is missing or does not fit, or one is given that the graph does not use.
    """
    for name in given:
        if name not in names:
            raise InputError(f"graph `{graph.name}` uses no weight `{name}`", code="MG039", help=suggest(name, names))
    found: dict[str, ir.TensorData] = {}
    for name in names:
        info = graph.weights[name]
        data: ir.TensorData | None = ir.ArrayData(given[name]) if name in given else info.data
        if data is None:
            raise InputError(
                f"weight `{name}` has no elements",
                code="MG039",
                details=[("wanted", str(info.type))],
                help=f'give them: save(graph, path, weights={{"{name}": array}})',
            )
        if isinstance(data, ir.ArrayData):
            _check_array(name, info, data.array)
        found[name] = data
    return found


def _check_array(name: str, info: ir.WeightInfo, array: np.ndarray[Any, Any]) -> None:
    wanted = info.type.dtype.to_numpy()
    shape = info.type.shape.evaluate({})
    if array.dtype.newbyteorder("=") != wanted or array.shape != shape:
        raise InputError(
            f"weight `{name}` does not fit",
            code="MG039",
            details=[("wanted", str(info.type)), ("given", f"{array.dtype}{list(array.shape)}")],
        )
    if info.type.dtype is DType.bool and array.size and array.view("u1").max() > 1:
        raise InputError(f"weight `{name}` has bool elements that are neither 0 nor 1", code="MG039")


def _bytes_of(data: ir.TensorData) -> memoryview:
    """The elements as little-endian bytes, without a copy where they lie so already."""
    import numpy as np

    array = data.numpy()
    array = np.asarray(array.astype(array.dtype.newbyteorder("<"), copy=False), order="C")
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def _place_blobs(model: model_pb2.Model, data: Mapping[str, ir.TensorData]) -> list[memoryview]:
    """Lays out the blobs: one for each different content, in the order of the weights' names."""
    views = {name: _bytes_of(tensor) for name, tensor in data.items()}

    def digest(name: str) -> bytes:
        tensor = data[name]
        return tensor.sha256 if isinstance(tensor, MappedData) else hashlib.sha256(views[name]).digest()

    with ThreadPoolExecutor() as pool:  # hashing releases the interpreter's lock
        digests = dict(zip(views, pool.map(digest, views), strict=True))
    placed: dict[tuple[int, bytes], int] = {}
    blobs: list[memoryview] = []
    end = 0
    for weight in model.weights:
        view, key = views[weight.name], (len(views[weight.name]), digests[weight.name])
        if not len(view):
            continue
        if key not in placed:
            placed[key] = len(blobs)
            blobs.append(view)
            offset = align(end, blob_alignment(len(view)))
            model.blobs.add(file=0, offset=offset, length=len(view), sha256=key[1])
            end = offset + len(view)
        weight.blob = placed[key]
    return blobs


def _write_sparse(file: BinaryIO, offset: int, view: memoryview) -> None:
    """Writes bytes at an offset; a chunk of zeros becomes a hole, which takes no disk."""
    zeros = bytes(_CHUNK)
    for at in range(0, len(view), _CHUNK):
        chunk = view[at : at + _CHUNK]
        if chunk != zeros[: len(chunk)]:
            file.seek(offset + at)
            file.write(chunk)


@contextlib.contextmanager
def _replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file beside `path` that takes its place when everything was written."""
    target = os.fspath(path)
    folder = os.path.dirname(os.path.abspath(target))
    temporary = os.path.join(folder, f".{os.path.basename(target)}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
