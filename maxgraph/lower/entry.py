"""A lowered graph as bytes, to be kept and read again by a process that knows the same graph.

The bytes are a tree of plain values (see `codec`), then sections: the model, and the elements of what was folded. The
graph's own weights are named only. Reading makes nothing but the data classes of `lowered`, and gives `Malformed` for
whatever does not fit the graph: shapes are compared with the graph's, so no memory is ever bound under a wrong size.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..dtype import DType
from ..graph import ir
from ..graph.graph import Graph
from ..graph.shape import Shape
from ..graph.type import BufferType, DeviceRef, TensorType
from .codec import Codec, Malformed, Special
from .lowered import ExternalWeight, Lowered

if TYPE_CHECKING:
    import numpy as np

__all__ = ["pack", "unpack"]

#: Sections start at multiples of this, so that elements are aligned.
_ALIGNMENT = 16
_LENGTH = 4


def pack(lowered: Lowered) -> list[bytes | memoryview]:
    """The bytes of a lowered graph, in parts.

    Raises:
        TypeError: It holds something that cannot be kept.
    """
    sections: list[bytes | memoryview] = []

    def section(data: bytes | memoryview) -> int:
        sections.append(data)
        return len(sections) - 1

    def external(entry: ExternalWeight) -> list[Any]:
        if not entry.folded:
            return [entry.onnx_name, entry.weight.name]
        if entry.weight.data is None:  # pragma: no cover - the optimiser gave it
            raise AssertionError(entry.onnx_name)
        array = entry.weight.data.numpy()
        return [entry.onnx_name, entry.weight.type.dtype.name, list(array.shape), section(_raw(array))]

    codec = Codec({bytes: Special(section, _unused), ExternalWeight: Special(external, _unused)})
    tree = codec.encode(Lowered, lowered)
    text = json.dumps({"lowered": tree, "sections": [len(data) for data in sections]}).encode()
    parts: list[bytes | memoryview] = [len(text).to_bytes(_LENGTH, "little"), text]
    parts.append(bytes(-(_LENGTH + len(text)) % _ALIGNMENT))
    for data in sections:
        parts += [data, bytes(-len(data) % _ALIGNMENT)]
    return parts


def unpack(body: bytes, graph: Graph, weights: Mapping[str, ir.WeightInfo]) -> Lowered:
    """The lowered graph.

    Args:
        body: What `pack` gave.
        graph: The graph that was lowered.
        weights: Its weights, with their elements.

    Raises:
        Malformed: These are no such bytes, or they are another graph's.
    """
    length = int.from_bytes(body[:_LENGTH], "little")
    try:
        top = json.loads(body[_LENGTH : _LENGTH + length])
        tree, sizes = top["lowered"], [int(size) for size in top["sections"]]
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"no entry: {error}") from None
    sections = _sections(body, _LENGTH + length, sizes)

    def external(value: Any) -> ExternalWeight:
        if len(value) == 2:
            onnx_name, name = value
            return ExternalWeight(str(onnx_name), weights[name])
        onnx_name, dtype, shape, at = value
        type_ = TensorType(DType[dtype], shape, DeviceRef.CPU())
        data = ir.ArrayData(_array(sections[at], type_))
        return ExternalWeight(str(onnx_name), ir.WeightInfo(str(onnx_name), type_, data), folded=True)

    codec = Codec(
        {
            bytes: Special(_unused, lambda at: bytes(sections[at])),
            ExternalWeight: Special(_unused, external),
        }
    )
    lowered: Lowered = codec.decode(Lowered, tree)
    _check_fits(lowered, graph)
    return lowered


def _unused(value: Any) -> Any:
    raise TypeError(value)  # pragma: no cover - a codec that writes does not read


def _sections(body: bytes, start: int, sizes: list[int]) -> list[memoryview]:
    found = []
    whole = memoryview(body)
    for size in sizes:
        start += -start % _ALIGNMENT
        if size < 0 or start + size > len(body):
            raise Malformed("a section runs past the end")
        found.append(whole[start : start + size])
        start += size
    return found


def _raw(array: np.ndarray[Any, Any]) -> memoryview:
    import numpy as np

    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _array(data: memoryview, type_: TensorType) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.frombuffer(data, type_.dtype.to_numpy()).reshape(type_.shape.evaluate({}))


def _check_fits(lowered: Lowered, graph: Graph) -> None:
    """Raises unless names, types and sizes are those of the graph."""
    callers = [info for info in graph.signature if info.state is None]
    place = {info.name: at for at, info in enumerate(callers)}
    tensors = [
        (info.name, info.value.type, place[info.name])
        for info in graph.signature
        if not isinstance(info.value.type, BufferType)
    ]
    _same([(t.name, t.type, t.position) for t in lowered.inputs], tensors)
    outputs = [(name, value.tensor_type, at) for at, (name, value) in enumerate(graph.results)]
    _same([(t.name, t.type, t.position) for t in lowered.outputs], outputs)
    buffers = [(info.name, info.value.type, info.state, place.get(info.name)) for info in graph.buffers]
    _same([(b.name, b.type, b.state, b.position) for b in lowered.buffers], buffers)
    _same([row.buffer for row in lowered.plan.buffers], [info.name for info in graph.buffers])
    _same(lowered.graph_name, graph.name)
    for buffer in lowered.buffers:
        for shape in (buffer.onnx_shape, *(version.shape for version in buffer.versions)):
            _same(Shape(shape).num_elements, buffer.type.shape.num_elements)
    if any(not 0 <= check.position < len(callers) for check in lowered.index_checks):
        raise Malformed("a check of an input that is not there")


def _same(found: object, wanted: object) -> None:
    if found != wanted:
        raise Malformed(f"{found} where the graph has {wanted}")
