"""Writing a file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import FormatError, GraphTypeError, InputError, UsageError, suggest
from ..graph import ir
from ..graph.graph import Graph
from ..v1 import model_pb2
from .blobs import place_blobs, write_sparse
from .decode_graph import decode_graph
from .decode_metadata import decode_metadata
from .decode_weights import check_blobs
from .elements import Elements
from .encode import encode
from .features import EXTERNAL_WEIGHTS
from .header import parse_header
from .limits import DEFAULT_LIMITS
from .preamble import MINOR, PREAMBLE_BYTES, Preamble, section_start
from .references import declare_files, find_references
from .replace import replacing

if TYPE_CHECKING:
    import numpy as np

__all__ = ["save"]


def save(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    weights: Mapping[str, np.ndarray[Any, Any]] | None = None,
    metadata: Mapping[str, str] | None = None,
    strip_debug: bool = False,
    external: bool = False,
) -> str:
    """Writes a graph to a ``.maxg`` file.

    The file appears whole or not at all: it is written beside its place and then moved there, so a file that is
    mapped by somebody keeps its bytes, and an interrupted write leaves the old file. The same program gives the same
    bytes. Nothing is written that `load` would refuse.

    Args:
        graph: A finished graph.
        path: Where to.
        weights: Elements of the graph's weights that it does not hold yet, by name.
        metadata: Text for people, by key, such as ``license``.
        strip_debug: Leave out source lines and value names.
        external: Leave weights that are tensors of safetensors files in the folder of `path` where they are, and name
            these files with their sizes and digests. The elements must be mapped: `maxgraph.load` and
            `maxgraph.graph.weights.load_weights` give such, and so does `numpy.memmap`.

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
        TypeError: `graph` is no Graph.
        ValueError: The graph has no output, a weight is missing or does not fit, the graph is more than a file can
            hold, the folder is not there, or, with `external`, a file of weights lies elsewhere.
        OSError: The file cannot be written.
    """
    if not isinstance(graph, Graph):
        raise GraphTypeError(f"save takes a Graph, not {type(graph).__name__}", code="MG017")
    from .. import __version__

    model = encode(graph, version=__version__, metadata=_checked_metadata(metadata or {}), strip_debug=strip_debug)
    target = os.fsdecode(path)
    elements = _elements(graph, [entry.name for entry in model.weights], weights or {})
    outside = _references(model, elements, os.path.dirname(os.path.abspath(target))) if external else {}
    blobs = place_blobs(model, elements, outside)
    header = model.SerializeToString(deterministic=True)
    start = section_start(len(header))
    length = start + blobs[-1][0] + blobs[-1][1].length if blobs else PREAMBLE_BYTES + len(header)
    preamble = Preamble(MINOR, len(header), length, hashlib.sha256(header).digest())
    _check_readable(graph, preamble, header)
    with replacing(target) as file:
        file.write(preamble.pack())
        file.write(header)
        for offset, piece in blobs:
            write_sparse(file, start + offset, piece)
        file.truncate(length)
    return preamble.model_id


def _checked_metadata(metadata: Mapping[str, str]) -> Mapping[str, str]:
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str) or not key or "\0" in key + value:
            raise UsageError("metadata are texts by key, without NUL", code="MGM01", details=[("key", repr(key))])
    return metadata


def _elements(graph: Graph, names: list[str], given: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Elements]:
    """The elements of each weight that is written.

    Raises:
        InputError: One is missing or does not fit, or one is given that the graph does not use.
    """
    for name in given:
        if name not in names:
            raise InputError(f"graph `{graph.name}` uses no weight `{name}`", code="MG039", help=suggest(name, names))
    found: dict[str, Elements] = {}
    for name in names:
        info = graph.weights[name]
        data = ir.ArrayData(given[name]) if name in given else info.data
        if data is None:
            raise InputError(
                f"weight `{name}` has no elements",
                code="MG039",
                details=[("wanted", str(info.type))],
                help=f'give them: save(graph, path, weights={{"{name}": array}})',
            )
        found[name] = Elements(name, info.type, data)
    return found


def _references(model: model_pb2.Model, elements: Mapping[str, Elements], folder: str) -> dict[str, tuple[int, int]]:
    """The weights that stay in files beside the one that is written; the model names these files."""
    found, paths = find_references({name: (e.type, e.data) for name, e in elements.items()}, folder)
    numbers = declare_files(model, paths)
    if numbers:
        model.required_features.append(EXTERNAL_WEIGHTS)
        model.required_features.sort()
    return {name: (numbers[reference.file], reference.offset) for name, reference in found.items()}


def _check_readable(graph: Graph, preamble: Preamble, header: bytes) -> None:
    """Raises where the reader would refuse what is about to be written: it is over a limit, say."""
    try:
        preamble.check(DEFAULT_LIMITS)
        model = parse_header(header, preamble)
        check_blobs(model, preamble, DEFAULT_LIMITS)
        decode_graph(model, preamble, DEFAULT_LIMITS)
        decode_metadata(model, DEFAULT_LIMITS)
    except FormatError as error:
        summary = f"graph `{graph.name}` cannot be written: {error.summary}"
        raise FormatError(summary, code="MG045", details=[("rule", error.code)]) from None
