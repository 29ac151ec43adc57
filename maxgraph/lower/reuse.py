"""Intermediate values that lie in a buffer's own memory, so that a large elementwise chain needs no temporary.

In ``state * 0.9 + x`` stored over ``state``, the product is as good a value of the buffer as the sum: it is made from
the old one by a kernel that may overwrite it, and only the sum reads it. Such a value becomes one more version, an
output of the model that is bound to the buffer's memory; the proof that the versions may share it is the same as for
those that the program stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ..graph.type import TensorType
from .buffers import BufferTrack, VersionTrack
from .executed import ExecutedGraph
from .kernels import VIEWS, may_overwrite
from .onnx_model import write_value_info
from .proof import prove_shared

__all__ = ["WORTHWHILE_BYTES", "bind_intermediates"]

#: Below this, an output more costs as much as the memory that it saves.
WORTHWHILE_BYTES = 256 * 1024
#: The longest chain that is looked at, so that the time stays in proportion to the graph's size.
_MOST_STEPS = 16


def bind_intermediates(
    executed: ExecutedGraph, tracks: Sequence[BufferTrack], types: Mapping[str, TensorType], checks: Sequence[str]
) -> ExecutedGraph | None:
    """Makes versions of the intermediate values that may lie in a buffer's memory.

    Args:
        executed: The graph that is executed; its versions are proved already.
        tracks: The buffers; they are given the new versions.
        types: The types of values, as far as type rules proved them.
        checks: Results of nodes that may fail on purpose.

    Returns:
        The graph, which has these values as outputs now; None if there are none.
    """
    taken = set(executed.outputs)
    for track in tracks:
        if not (track.shared and track.type.is_static and track.type.num_bytes >= WORTHWHILE_BYTES):
            continue
        at = len(track.versions) - 1
        for _ in range(at + _MOST_STEPS):
            value = _intermediate(executed, track, at, types, taken, checks) if at else None
            if value is not None:
                track.versions.insert(at, VersionTrack(value, track.type.shape))
                taken.add(value)
            elif at > 1:
                at -= 1
            else:
                break
    added = [name for name in taken if name not in executed.outputs]
    if not added:
        return None
    for name in sorted(added):
        write_value_info(executed.graph.output.add(), name, types[name])
    return ExecutedGraph(executed.graph)


def _intermediate(
    executed: ExecutedGraph,
    track: BufferTrack,
    at: int,
    types: Mapping[str, TensorType],
    taken: Set[str],
    checks: Sequence[str],
) -> str | None:
    """An operand of the node that makes a version, which may be a version before it."""
    names = [version.name for version in track.versions]
    writer = executed.nodes[executed.producer[names[at]]]
    for operand, name in enumerate(writer.input):
        type_, maker = types.get(name), executed.producer.get(name)
        if (
            type_ is not None
            and maker is not None
            and name not in taken
            and (type_.dtype, type_.shape) == (track.type.dtype, track.type.shape)
            and executed.nodes[maker].op_type not in VIEWS
            and may_overwrite(writer, frozenset({operand}), list(writer.output).index(names[at]))
            and not prove_shared(executed, [*names[:at], name, *names[at:]], checks)
        ):
            return str(name)
    return None
