"""Opening a file: everything in the header is checked before anything is believed."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..errors import UsageError
from ..graph import ir
from ..graph.graph import Graph
from .decode_graph import decode_graph
from .decode_metadata import decode_metadata
from .decode_weights import ExternalFile, check_blobs
from .errors import escaped, fail
from .external import ExternalMap, external_maps
from .header import parse_header, program_hash
from .limits import DEFAULT_LIMITS, Limits
from .mapped import MappedData, MappedFile
from .opening import open_regular
from .preamble import MAJOR, PREAMBLE_BYTES, Preamble
from .sections import Section, sections_of

__all__ = ["MaxgFile", "load", "open_file", "open_mapped"]


@dataclass(frozen=True, slots=True)
class MaxgFile:
    """An open file.

    Attributes:
        graph: Its graph; weights are mapped when they are first used.
        version: The container version that it needs, such as "1.0".
        model_id: Its identity, in hexadecimal; equal models have equal ids.
        program_hash: The hash of what the graph computes: no producer, debug information or metadata, and not the
            elements of weights.
        producer: What wrote it, safe to print.
        metadata: Text for people, by key; as the file has it, so not safe to print.
        sections: Every byte of the file, in order.
        external: The files beside it that hold weights.
    """

    path: str
    graph: Graph
    version: str
    model_id: str
    program_hash: str
    producer: str
    features: tuple[str, ...]
    metadata: dict[str, str]
    header_length: int
    file_length: int
    sections: tuple[Section, ...]
    external: tuple[ExternalFile, ...]


def load(path: str | os.PathLike[str]) -> Graph:
    """Reads a ``.maxg`` file.

    Only the header is read; weights are mapped, and checked against their digests, when they are first used.

    Args:
        path: The file.

    Returns:
        The graph, finished: it can be run, lowered and saved again.

    Example:
        >>> import os, tempfile
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.format import save
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType
        >>> x_type = TensorType(DType.float32, [2], DeviceRef.CPU())
        >>> graph = Graph("double", lambda x: x * 2, input_types=[x_type])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "double.maxg")
        ...     model_id = save(graph, path)
        ...     load(path).name
        'double'

    Raises:
        FormatError: It is not a valid file of this version.
        UsageError: It cannot be opened.
    """
    return open_file(path).graph


def open_file(path: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS) -> MaxgFile:
    """Reads a file's header and gives all that is known of it. See `load`."""
    return open_mapped(path, limits)[0]


def open_mapped(path: str | os.PathLike[str], limits: Limits) -> tuple[MaxgFile, MappedFile, list[ExternalMap]]:
    """The same, the open file itself, and the files beside it."""
    name = os.fsdecode(path)
    file = MappedFile(_open(name), name)  # it closes the descriptor, whatever happens
    try:
        preamble = Preamble.parse(os.pread(file.descriptor, PREAMBLE_BYTES, 0), file.length, limits)
        header = _read(file.descriptor, preamble.header_length, PREAMBLE_BYTES)
    except OSError as error:
        raise _unreadable(name, error) from None
    model = parse_header(header, preamble)
    check_blobs(model, preamble, limits)
    graph, weights = decode_graph(model, preamble, limits)
    beside = external_maps(name, weights)
    for weight in weights:
        source = file if weight.file is None else beside[weight.file]
        graph.weights[weight.name] = ir.WeightInfo(weight.name, weight.type, MappedData(source, weight))
    opened = MaxgFile(
        path=name,
        graph=graph,
        version=f"{MAJOR}.{preamble.minor}",
        model_id=preamble.model_id,
        program_hash=program_hash(model),
        producer=escaped(f"{model.producer.name} {model.producer.version}"),
        features=tuple(model.required_features),
        metadata=decode_metadata(model, limits),
        header_length=preamble.header_length,
        file_length=preamble.file_length,
        sections=sections_of(preamble, weights),
        external=tuple(beside),
    )
    return opened, file, [*beside.values()]


def _open(path: str) -> int:
    try:
        return open_regular(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: OSError | ValueError) -> UsageError:
    reason = "there is no such file" if isinstance(error, FileNotFoundError) else getattr(error, "strerror", None)
    return UsageError(f"{escaped(path)} cannot be read: {reason or error}", code="MG050")


def _read(descriptor: int, length: int, offset: int) -> bytes:
    parts = []
    while length:
        part = os.pread(descriptor, length, offset)
        if not part:
            fail("MGP06", "the file became shorter while it was read")
        parts.append(part)
        offset += len(part)
        length -= len(part)
    return b"".join(parts)
