"""The planner: emits a graph, lets onnxruntime optimise it, and proves each buffer on the result.

It starts from the cheapest form of every buffer. Where the proof fails, the graph is emitted again with that buffer in
the next dearer form, until everything holds; in the last form the new value has a memory of its own, which needs no
proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import LoweringError, SourceLocation
from ..graph import ir
from ..graph.graph import Graph
from ..graph.text import access_text
from .buffers import BufferTrack, Choices
from .emit import GraphEmitter, emit
from .executed import ExecutedGraph
from .folded import lift_folded
from .optimise import Optimised, optimise
from .order import Ordering, order_buffers, resolve_loads
from .plan import BufferPlan, Mode, Plan
from .proof import Fault, Part, prove_shared
from .reuse import bind_intermediates

if TYPE_CHECKING:
    import onnx

__all__ = ["Planned", "plan_buffers"]


@dataclass(slots=True)
class Planned:
    """A graph whose bindings are proved.

    Attributes:
        emitter: What was emitted.
        executed: The optimised graph.
        model: The model that it is the graph of.
        optimised: Its bytes.
        plan: Each buffer's row.
    """

    emitter: GraphEmitter
    executed: ExecutedGraph
    model: onnx.ModelProto
    optimised: Optimised
    plan: Plan


@dataclass(slots=True)
class _Reason:
    """Why a buffer left a cheaper form."""

    text: str
    where: SourceLocation | None


def plan_buffers(
    graph: Graph,
    weights: Mapping[str, ir.WeightInfo],
    *,
    optimization: str,
    buffers: str,
    without: frozenset[Part] = frozenset(),
    distrust: str | None = None,
) -> Planned:
    """Plans a graph.

    Args:
        weights: The graph's weights, with their elements.
        optimization: onnxruntime's level, "none" or "all".
        buffers: "auto"; "in_place" to demand that no buffer needs a second memory; "copied" to share none.
        without: Parts of the rule to leave out; only a test of the rule does that.
        distrust: Why no kernel may change memory in place; None: those on the allow-list may.

    Raises:
        LoweringError: `buffers` is "in_place" and a buffer cannot be.
    """
    share = distrust is None and buffers != "copied"
    choices = Choices()
    reasons: dict[str, _Reason] = {}
    if buffers == "copied":
        reasons = {info.name: _Reason("sharing is switched off", None) for info in graph.buffers}
    elif distrust is not None:
        reasons = {info.name: _Reason(distrust, None) for info in graph.buffers}
    while True:
        emitter, ordering = _emit_ordered(graph, weights, choices, share=share, reasons=reasons, without=without)
        if ordering.unguarded:
            choices = replace(choices, separate=choices.separate | set(ordering.unguarded))
            for name, check in ordering.unguarded.items():
                reasons[name] = _Reason(f"a check that may fail needs a value stored before it: {check}", None)
            continue
        optimised = (
            optimise(emitter.onnx.to_model(graph.nodes()), emitter.onnx.weights, level=optimization)
            if emitter.onnx.outputs
            else Optimised(b"")  # a graph that computes nothing
        )
        model = _parse(optimised.model)
        if lift_folded(model.graph, optimised.folded):
            optimised = replace(optimised, model=model.SerializeToString())
        executed = ExecutedGraph(model.graph)
        faults = _prove(emitter, executed, without)
        if not faults:
            break
        choices = _escalate(emitter, choices, faults, reasons)
    if not without:
        types = {handle.name: value.tensor_type for value, handle in emitter.handles.items()}
        extended = bind_intermediates(executed, [*emitter.tracks.values()], types, emitter.all_checks)
        if extended is not None:
            executed, optimised = extended, replace(optimised, model=model.SerializeToString())
            if _prove(emitter, executed, without):  # pragma: no cover - each of them was proved
                raise AssertionError("an intermediate value does not lie in its buffer's memory")
    plan = Plan(tuple(_row(emitter, track, ordering, reasons) for track in emitter.tracks.values()))
    if buffers == "in_place":
        _demand(plan)
    return Planned(emitter, executed, model, optimised, plan)


def _prove(e: GraphEmitter, executed: ExecutedGraph, without: frozenset[Part]) -> dict[str, list[Fault]]:
    """What forbids one memory for all versions, by buffer."""
    faults = {
        track.name: prove_shared(executed, [v.name for v in track.versions], e.all_checks, without=without)
        for track in e.tracks.values()
        if track.shared and len(track.versions) > 1
    }
    return {name: found for name, found in faults.items() if found}


def _emit_ordered(
    graph: Graph,
    weights: Mapping[str, ir.WeightInfo],
    choices: Choices,
    *,
    share: bool,
    reasons: dict[str, _Reason],
    without: frozenset[Part],
) -> tuple[GraphEmitter, Ordering]:
    """Emits a graph with its buffers ordered, taking snapshots where order alone does not do."""
    while True:
        emitter = emit(graph, weights, choices, share=share)
        resolve_loads(emitter)
        _name_outputs(emitter)
        emitter.onnx.drop_unused()
        ordering = order_buffers(emitter, without)
        if ordering.settled:
            return emitter, ordering
        choices = _keep_old_values(emitter, choices, ordering, reasons)


def _keep_old_values(e: GraphEmitter, choices: Choices, ordering: Ordering, reasons: dict[str, _Reason]) -> Choices:
    """Takes the snapshots that ordering asked for; a buffer for which they do not help gets a second memory."""
    separate: set[str] = set()
    for track in e.tracks.values():
        wanted = [
            *(
                (load.number, choices.snapshots, load.origin)
                for load in track.loads
                if load.number in ordering.snapshots
            ),
            *((s.number, choices.through, s.origin) for _, s in track.stores if s.number in ordering.through),
        ]
        for number, taken, origin in wanted:
            reasons.setdefault(track.name, _Reason("an old value is still needed after a store", origin.location))
            if number in taken:  # it was kept apart already: the orders that the buffers need close a cycle
                separate.add(track.name)
    return replace(
        choices,
        separate=choices.separate | separate,
        snapshots=choices.snapshots | ordering.snapshots,
        through=choices.through | ordering.through,
    )


def _name_outputs(e: GraphEmitter) -> None:
    """Makes the versions outputs: all of them where they share memory, else the last one."""
    for track in e.tracks.values():
        versions = track.versions[1:] if track.shared else track.versions[1:][-1:]
        for version in versions:
            e.onnx.outputs[version.name] = type(track.type)(track.type.dtype, version.shape, track.type.device)


def _parse(model: bytes) -> onnx.ModelProto:
    import onnx

    return onnx.ModelProto.FromString(model)


def _escalate(
    e: GraphEmitter, choices: Choices, faults: Mapping[str, list[Fault]], reasons: dict[str, _Reason]
) -> Choices:
    """The next dearer form of each buffer whose proof failed."""
    for track in e.tracks.values():
        found = faults.get(track.name)
        if not found:
            continue
        stores = dict(track.stores)
        reasons[track.name] = _explain(e, track, found[0])
        direct = {
            stores[f.version].number
            for f in found
            if f.part in (Part.KERNEL, Part.OPERANDS, Part.PRODUCER)
            and stores[f.version].whole
            and not stores[f.version].through
        }
        whole = {store.number for store in stores.values() if store.whole}
        loads = {load.number for load in track.loads if load.version + 1 < len(track.versions)}
        if direct:
            choices = replace(choices, through=choices.through | direct)
        elif any(f.part is Part.CHECKS for f in found):
            choices = replace(choices, separate=choices.separate | {track.name})
        elif track.name not in choices.strict:
            choices = replace(choices, strict=choices.strict | {track.name})
        elif not (whole <= choices.through and loads <= choices.snapshots):
            choices = replace(choices, through=choices.through | whole, snapshots=choices.snapshots | loads)
        else:
            choices = replace(choices, separate=choices.separate | {track.name})
    return choices


def _explain(e: GraphEmitter, track: BufferTrack, fault: Fault) -> _Reason:
    store = dict(track.stores)[fault.version]
    origin = _origin(e, fault.value) or store.origin
    kernel = f" ({fault.op_type} in onnxruntime's optimised graph)" if fault.op_type else ""
    match fault.part:
        case Part.KERNEL | Part.OPERANDS:
            text = f"`{origin.op.name}` reads the buffer while it writes it{kernel}"
        case Part.READERS:
            text = f"`{origin.op.name}` reads an old value and may run after the store{kernel}"
        case Part.CHECKS:
            text = "a check that may fail runs after the first store"
        case Part.PRODUCER:
            text = "the stored value is a constant or an input"
        case Part.WRITERS:
            text = f"two stores are not ordered by data{kernel}"
    return _Reason(text, origin.location)


def _origin(e: GraphEmitter, value: str) -> ir.Node | None:
    return next((n.origin for n in e.onnx.nodes if value in n.outputs), None)


def _row(e: GraphEmitter, track: BufferTrack, ordering: Ordering, reasons: Mapping[str, _Reason]) -> BufferPlan:
    """A buffer's row of the plan."""
    size = track.type.num_bytes if track.type.is_static else None
    reason = reasons.get(track.name)
    if len(track.versions) == 1:
        access = access_text(e.graph.access()[track.info.value])
        text = "it is only read" if access == "read" else "nothing in the graph changes it"
        return BufferPlan(track.name, Mode.UNTOUCHED, size, 0, 0, text)
    if not track.shared:
        owned = track.info.state is not None
        text = reason.text if reason else "it has a memory for the new value"
        mode = Mode.SWAPPED if owned else Mode.COPIED_BACK
        return BufferPlan(track.name, mode, size, size, int(not owned), text, reason.where if reason else None)
    through = [s for _, s in track.stores if s.through]
    snapshots = [load for load in track.loads if load.number in e.choices.snapshots]
    inside = e.copies_inside.get(track.versions[0].name, 0)
    copies = len(through) + len(snapshots) + inside
    extra = None if size is None else size * copies
    if through:
        looped = any(s.origin.op.name == "while_loop" for s in through)
        text = "onnxruntime copies what a loop carries, in each round" if looped else "the new value is computed apart"
        text = reason.text if reason else text
        return BufferPlan(track.name, Mode.WRITTEN_THROUGH, size, extra, copies, text, through[0].origin.location)
    if snapshots:
        text = reason.text if reason else "an old value is still needed after a store"
        return BufferPlan(track.name, Mode.SNAPSHOT, size, extra, copies, text, snapshots[0].origin.location)
    gated = ordering.gated.get(track.name)
    if gated:
        store, reader = gated[0]
        name = reader.origin.op.name if reader.origin is not None else "a check" if reader.name else "a copy"
        return BufferPlan(
            track.name,
            Mode.ORDERED,
            size,
            0,
            0,
            f"`{name}` is made to run before the store",
            store.origin.location,
        )
    text = "every reader of an old value runs before its writer"
    if inside:
        kept = track.versions[0].name in e.kept_inside
        text = "a branch needs its old value after a store" if kept else "a branch stores into it more than once"
    return BufferPlan(track.name, Mode.IN_PLACE, size, extra, copies, text)


def _demand(plan: Plan) -> None:
    for row in plan.buffers:
        if row.mode in (Mode.SWAPPED, Mode.COPIED_BACK):
            raise LoweringError(
                f"buffer `{row.buffer}` cannot be changed in place: {row.reason}",
                code="MG041",
                where=row.where,
                help='load the graph with buffers="auto" to let it have a second memory',
            )
