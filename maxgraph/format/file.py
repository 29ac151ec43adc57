"""Opening a file: everything is checked before anything is believed."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from ..errors import UsageError
from ..graph import ir
from ..graph.graph import Graph
from ..v1 import model_pb2
from . import features
from .decode_graph import GraphDecoder, decode_ops
from .decode_types import TypeTable
from .decode_weights import PlacedWeight, check_blobs, check_sorted, place_weights, text
from .errors import escaped, fail, need
from .limits import DEFAULT_LIMITS, Limits
from .mapped import MappedData, MappedFile
from .preamble import MAJOR, PREAMBLE_BYTES, Preamble

if TYPE_CHECKING:
    import numpy as np

__all__ = ["MaxgFile", "Section", "load", "open_file", "verify"]


@dataclass(frozen=True, slots=True)
class Section:
    """A range of a file's bytes; the sections of a file leave no byte out."""

    name: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class MaxgFile:
    """An open file.

    Attributes:
        graph: Its graph; weights are mapped when they are first used.
        version: The container version that it needs, such as "1.0".
        model_id: Its identity, in hexadecimal; equal models have equal ids.
        program_hash: The same without producer, debug information and metadata.
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
    name = os.fspath(path)
    descriptor = _open(name)
    file = MappedFile(descriptor, name)  # closes the descriptor, whatever happens
    size = os.fstat(descriptor).st_size
    preamble = Preamble.parse(os.pread(descriptor, PREAMBLE_BYTES, 0), size, limits)
    header = _read(descriptor, preamble.header_length, PREAMBLE_BYTES)
    if hashlib.sha256(header).digest() != preamble.header_sha256:
        fail("MGH01", "the header does not match its digest: the file is damaged", "copy or download it again")
    model = _parse(header)
    _check_features(model)
    _check_canonical(model, header)
    check_blobs(model, preamble, limits)
    graph, weights = _decode(model, preamble, limits)
    for weight in weights:
        data: ir.TensorData = MappedData(file, weight.name, weight.type, weight.offset, weight.length, weight.sha256)
        graph.weights[weight.name] = ir.WeightInfo(weight.name, weight.type, data if weight.length else _Empty(weight))
    return MaxgFile(
        path=name,
        graph=graph,
        version=f"{MAJOR}.{preamble.minor}",
        model_id=preamble.model_id,
        program_hash=_program_hash(model),
        producer=escaped(f"{model.producer.name} {model.producer.version}"),
        features=tuple(model.required_features),
        metadata={entry.key: entry.value for entry in model.metadata},
        header_length=preamble.header_length,
        file_length=preamble.file_length,
        sections=_sections(preamble, weights),
    )


@dataclass(frozen=True, slots=True)
class _Empty:
    """The elements of a weight that has none."""

    weight: PlacedWeight

    def numpy(self) -> np.ndarray[Any, Any]:
        """An empty array."""
        import numpy as np

        return np.zeros(self.weight.type.shape.evaluate({}), self.weight.type.dtype.to_numpy())


def _open(path: str) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror or "it fails"
        raise UsageError(f"{escaped(path)} cannot be read: {reason}", code="MG050") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"{escaped(path)} is not a regular file", code="MG050")
    return descriptor


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


def _parse(header: bytes) -> model_pb2.Model:
    model = model_pb2.Model()
    try:
        model.ParseFromString(header)
    except (DecodeError, UnicodeDecodeError):
        fail("MGH02", "the header is no message of this format")
    return model


def _check_features(model: model_pb2.Model) -> None:
    """Before unknown fields: it explains them better."""
    check_sorted(list(model.required_features), "MGH03", "required features")
    for feature in model.required_features:
        if feature not in features.KNOWN:
            fail(
                "MGH04",
                f"the model needs feature `{escaped(feature)}`, which this maxgraph does not know",
                "upgrade with `pip install --upgrade maxg`",
            )


def _check_canonical(model: model_pb2.Model, header: bytes) -> None:
    """Raises unless the bytes are the only ones that this message may have."""
    bare = model_pb2.Model()
    bare.CopyFrom(model)
    bare.DiscardUnknownFields()
    if bare.SerializeToString(deterministic=True) == header:
        return
    pending: list[Message] = [model]
    while pending:  # only to name the reason
        message = pending.pop()
        if len(UnknownFieldSet(message)):
            fail("MGH05", f"an unknown field in {message.DESCRIPTOR.name}")
        for field, value in message.ListFields():
            if field.message_type is not None:
                pending += value if field.is_repeated else [value]
    fail("MGH06", "the header is not in canonical form")


def _decode(model: model_pb2.Model, preamble: Preamble, limits: Limits) -> tuple[Graph, list[PlacedWeight]]:
    """The graph and its weights. The order is that in which the writer filled the tables."""
    need(len(model.graphs) == 1, "MGG01", f"the model has {len(model.graphs)} graphs; this version reads one")
    types = TypeTable(model, limits)
    ops = decode_ops(model)
    names = [weight.name for weight in model.weights]
    check_sorted([state.name for state in model.states], "MGS01", "states")
    decoder = GraphDecoder(model, ops, types, limits, names)
    graph = decoder.decode(model.graphs[0])
    weights = place_weights(model, types, preamble)
    for state in decoder.states.values():
        if state.initial is not None:
            weight = weights[names.index(state.initial)]
            same = weight.type.dtype is state.type.dtype and weight.type.shape == state.type.shape
            need(same, "MGS04", f"state `{state.name}` is {state.type}, but its initial value {weight.type}")
    types.finish()
    used = types.used | ({features.STATES} if model.states else set())
    need(used == set(model.required_features), "MGH07", "the declared features are not those that are used")
    _check_metadata(model, limits)
    return graph, weights


def _check_metadata(model: model_pb2.Model, limits: Limits) -> None:
    need(len(model.metadata) <= limits.metadata, "MGM01", f"{len(model.metadata)} entries of metadata")
    check_sorted([entry.key for entry in model.metadata], "MGM01", "metadata")
    for entry in model.metadata:
        text(entry.key, limits, "MGM01", "a metadata key")
        text(entry.value, limits, "MGM01", "a metadata value")
    need(not model.sources, "MGM01", "the model records sources, which this version does not read")
    for name in (model.producer.name, model.producer.version):
        need(len(name) <= 256 and "\0" not in name, "MGM01", "a malformed producer")
    debug = model.debug_info
    need(len(set(debug.files)) == len(debug.files), "MGD01", "a source file appears twice")
    for file in debug.files:
        text(file, limits, "MGD01", "a source file's name")
        need(not file.startswith("/") and ".." not in file.split("/"), "MGD01", f"source file `{escaped(file)}`")
    places = [(place.file, place.line, place.column) for place in debug.locations]
    need(len(set(places)) == len(places), "MGD01", "a location appears twice")
    used = {node.location for graph in model.graphs for block in graph.blocks for node in block.nodes}
    need(set(range(1, len(places) + 1)) <= used, "MGD01", "a location is not used")
    need(
        {place.file for place in debug.locations} == set(range(len(debug.files))), "MGD01", "a source file is not used"
    )


def _program_hash(model: model_pb2.Model) -> str:
    """The hash of what the graph computes: the header without producer, debug information and metadata."""
    bare = model_pb2.Model()
    bare.CopyFrom(model)
    for field in ("producer", "debug_info", "metadata", "sources"):
        bare.ClearField(field)
    for graph in bare.graphs:
        for block in graph.blocks:
            for node in block.nodes:
                node.ClearField("location")
    return hashlib.sha256(bare.SerializeToString(deterministic=True)).hexdigest()


def _sections(preamble: Preamble, weights: list[PlacedWeight]) -> tuple[Section, ...]:
    """Every byte of the file, in order; tied weights share a section."""
    sections = [Section("preamble", 0, PREAMBLE_BYTES), Section("header", PREAMBLE_BYTES, preamble.header_length)]
    end = PREAMBLE_BYTES + preamble.header_length
    by_offset: dict[int, list[PlacedWeight]] = {}
    for weight in weights:
        if weight.length:
            by_offset.setdefault(weight.offset, []).append(weight)
    for offset, tied in sorted(by_offset.items()):
        if offset > end:
            sections.append(Section("padding", end, offset - end))
        sections.append(Section("weight " + ", ".join(w.name for w in tied), offset, tied[0].length))
        end = offset + tied[0].length
    return tuple(sections)


def verify(path: str | os.PathLike[str]) -> MaxgFile:
    """Checks every byte of a file: the header, all digests, and that padding is zero.

    Raises:
        FormatError: It is not a valid file, or a byte is wrong.
    """
    opened = open_file(path)
    for weight in opened.graph.weights.values():
        if isinstance(weight.data, MappedData):
            weight.data.check()
    with open(opened.path, "rb") as file:
        for section in opened.sections:
            if section.name == "padding":
                file.seek(section.offset)
                need(not any(file.read(section.length)), "MGB11", f"padding at {section.offset} is not zero")
    return opened
