"""Order between nodes that share a buffer's memory: which readers run before which writer.

A node that reads an old version of a buffer must run before the node that writes the next one. Where data already
makes it an ancestor of the writer, nothing is needed. Where it is not, and does not itself depend on the writer, an
operand of the writer is *gated*: it passes through a Reshape whose shape depends on the reader through a vector of no
elements, which costs no copy. Where it depends on the writer, the old value outlives the store and must be copied out
first (a snapshot).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from .buffers import BufferTrack, Load, Store
from .emit import GraphEmitter
from .gates import Gates
from .kernels import VIEWS
from .onnx_model import OnnxNode
from .proof import Part

__all__ = ["Ordering", "order_buffers", "resolve_loads"]


@dataclass(slots=True)
class Ordering:
    """What ordering needed.

    Attributes:
        snapshots: Loads that must be copied out; emit again with these.
        through: Stores whose value is still read late under its own name; emit again with these copied in.
        gated: For each buffer, the stores that were gated, with one of the readers that they wait for.
        unguarded: Buffers with a store that cannot wait for every check, and such a check.
    """

    snapshots: set[int] = field(default_factory=set)
    through: set[int] = field(default_factory=set)
    gated: dict[str, list[tuple[Store, OnnxNode]]] = field(default_factory=dict)
    unguarded: dict[str, str] = field(default_factory=dict)

    @property
    def settled(self) -> bool:
        """Whether the graph stands as it was emitted."""
        return not (self.snapshots or self.through)


def resolve_loads(e: GraphEmitter) -> None:
    """Gives every load its value: the version itself, a view of it, or a copy."""
    for track in e.tracks.values():
        for load in track.loads:
            outlived = track.shared and load.version + 1 < len(track.versions)
            if load.through_output is not None and outlived:
                # The result is a copy anyway: whoever else needs the old value reads that.
                copy = next(n for n in e.onnx.nodes if load.through_output in n.outputs)
                copy.inputs = [_under_own_shape(e, track, load)]
                _node(e, "Identity", [load.through_output], load, track.type.rank, alias=True)
            elif load.number in e.choices.snapshots and track.shared:
                _snapshot(e, track, load)
            else:
                _node(e, "Identity", [_under_own_shape(e, track, load)], load, track.type.rank, alias=True)


def _under_own_shape(e: GraphEmitter, track: BufferTrack, load: Load) -> str:
    """The version that a load names, as a view of the buffer's shape."""
    version = track.versions[load.version]
    if version.shape == track.type.shape:
        return version.name
    view = e.onnx.fresh("v")
    shape = e.dims(track.type.shape).name
    e.onnx.nodes.append(OnnxNode("Reshape", "", [version.name, shape], [view], {"allowzero": 1}, load.origin))
    return view


def _snapshot(e: GraphEmitter, track: BufferTrack, load: Load) -> None:
    """A real copy: a Concat of one input, which no optimiser takes for an Identity."""
    source = _under_own_shape(e, track, load)
    if track.type.rank:
        _node(e, "Concat", [source], load, track.type.rank, axis=0)
        return
    vector, copied = e.onnx.fresh("v"), e.onnx.fresh("v")
    e.onnx.nodes.append(OnnxNode("Reshape", "", [source, e.constant([1]).name], [vector], {}, load.origin))
    e.onnx.nodes.append(OnnxNode("Concat", "", [vector], [copied], {"axis": 0}, load.origin))
    _node(e, "Reshape", [copied, e.constant(np.zeros(0, np.int64)).name], load, 0)


def _node(
    e: GraphEmitter, op_type: str, inputs: list[str], load: Load, rank: int, *, alias: bool = False, **attributes: int
) -> None:
    e.onnx.nodes.append(OnnxNode(op_type, "", inputs, [load.name], dict(attributes), load.origin, alias=alias))
    e.ranks[load.name] = rank


def order_buffers(e: GraphEmitter, without: frozenset[Part] = frozenset()) -> Ordering:
    """Adds the gates that the buffers' order needs; says what must be emitted otherwise.

    Args:
        without: Parts of the rule to leave out; only a test of the rule does that.
    """
    found = Ordering()
    e.onnx.sort()
    gates = Gates(e, e.onnx.nodes, e.onnx.outputs)
    for track in e.tracks.values():
        if track.shared and Part.WRITERS not in without:
            _order_writers(track, gates, found)
    # A gate reads the reader's result, which may be a version of another buffer: repeat until nothing is missing.
    changed = True
    while changed and found.settled:
        changed = False
        for track in e.tracks.values():
            if track.shared:
                for at, store in track.stores:
                    changed |= _order_store(e, track, at, store, gates, found, without)
    return found


def _order_writers(track: BufferTrack, gates: Gates, found: Ordering) -> None:
    """Orders the writers of one buffer among themselves: two whole-buffer stores may share no data."""
    for earlier, later in pairwise([store for _, store in track.stores]):
        if later.writer is earlier.writer or gates.precedes(later.writer, earlier.writer):
            # The value of the later store is made first, or by the same node: it must be kept apart until then.
            found.through.add(later.number)
        elif not gates.precedes(earlier.writer, later.writer):
            gates.add(later.writer, later.gate, [earlier.writer])
            found.gated.setdefault(track.name, []).append((later, earlier.writer))


def _order_store(
    e: GraphEmitter,
    track: BufferTrack,
    at: int,
    store: Store,
    gates: Gates,
    found: Ordering,
    without: frozenset[Part],
) -> bool:
    """Orders the readers of one version, and the checks, before the store that replaces it. Says if it gated."""
    waiting: list[OnnxNode] = []
    for node in _readers(track, at - 1, gates) if Part.READERS not in without else ():
        if node is store.writer or gates.precedes(node, store.writer):
            continue
        if gates.precedes(store.writer, node):
            _keep_old(track, at - 1, node, gates, found)
        else:
            waiting.append(node)
    if at == 1 and Part.CHECKS not in without:
        for value in e.guard_values:
            node = gates.producers[value]
            if node is store.writer and node.op_type == "If":
                continue  # the check and the store are in one branch, where the proof looks at both
            if gates.precedes(store.writer, node) or node is store.writer:
                found.unguarded.setdefault(track.name, _check_text(e, node))
            elif not gates.precedes(node, store.writer):
                waiting.append(node)
    if waiting and found.settled:
        gates.add(store.writer, store.gate, waiting)
        found.gated.setdefault(track.name, []).append((store, waiting[0]))
    return bool(waiting)


def _check_text(e: GraphEmitter, node: OnnxNode) -> str:
    """What a check says when it fails; a branch or a loop holds checks of its own."""
    if node.name in e.guards:
        return e.guards[node.name][0]
    return f"one inside `{node.origin.op.name}`" if node.origin is not None else "one inside a branch or a loop"


def _keep_old(track: BufferTrack, version: int, node: OnnxNode, gates: Gates, found: Ordering) -> None:
    """Decides how a value that is read after its buffer was overwritten is kept.

    The loads that the reader uses are copied; where it reads the stored value itself, that is kept apart.
    """
    loads = _loads_read_by(track, version, node, gates)
    maker = track.versions[version].store
    if loads:
        found.snapshots |= loads
    elif maker is not None and maker.whole and not maker.through:
        found.through.add(maker.number)
    else:  # pragma: no cover - the result of a scatter is only read through loads
        raise AssertionError(node)


def _readers(track: BufferTrack, version: int, gates: Gates) -> list[OnnxNode]:
    """The nodes that read a version's memory, also through views of it."""
    views = VIEWS | {"Transpose"} if track.name in gates.e.choices.strict else VIEWS
    writers = {v.name for t in gates.e.tracks.values() for v in t.versions[1:]}
    return gates.readers(track.versions[version].name, views, writers)


def _loads_read_by(track: BufferTrack, version: int, node: OnnxNode, gates: Gates) -> set[int]:
    """The loads of a version that a node reads, also through views."""
    numbers = {load.name: load.number for load in track.loads if load.version == version}
    found: set[int] = set()
    pending = list(node.reads)
    while pending:
        name = pending.pop()
        if name in numbers:
            found.add(numbers[name])
        producer = gates.producers.get(name)
        if producer is not None and producer.op_type in VIEWS | {"Transpose"}:
            pending.append(producer.inputs[0])
    return found
