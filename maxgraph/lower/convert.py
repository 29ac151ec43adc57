"""`lower`: a graph as an ONNX model with bindings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import InputError, LoweringError, suggest
from ..graph import ir
from ..graph.graph import Graph
from ..graph.type import TensorType
from .executed import ExecutedGraph
from .failing import Failures, name_nodes
from .lowered import (
    BufferBinding,
    Entry,
    ExternalWeight,
    Lowered,
    PrintBinding,
    TensorBinding,
    Version,
)
from .plan import Plan
from .planner import Planned, plan_buffers
from .proof import prove_shared
from .trust import distrust
from .views import bind_views

if TYPE_CHECKING:
    import numpy as np

__all__ = ["give_weights", "lower"]

CPU_PROVIDER = "CPUExecutionProvider"


def lower(
    graph: Graph,
    *,
    provider: str = CPU_PROVIDER,
    optimization: str = "all",
    buffers: str = "auto",
    weights: Mapping[str, np.ndarray[Any, Any]] | None = None,
) -> Lowered:
    """Lowers a graph to ONNX, optimises it, and proves how each buffer is bound.

    Args:
        graph: A finished graph.
        provider: The onnxruntime provider that will run it. Buffers share memory only where the provider's kernels
            are on the allow-list, which holds the CPU's, of an onnxruntime that is trusted (see `trust`).
        optimization: "all" or "none" of onnxruntime's graph optimisations.
        buffers: "auto"; "in_place" to refuse a plan in which a buffer needs a second memory; "copied" to share none.
        weights: Elements of weights that the graph does not hold itself, by name.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph
        >>> with Graph("count", input_types=[BufferType(DType.int64, [2], DeviceRef.CPU())]) as graph:
        ...     total = graph.inputs[0].buffer
        ...     total[...] = total[...] + 1
        ...     graph.output(total[...])
        >>> print(lower(graph).plan["total"].mode)
        in place

    Raises:
        ValueError: An argument has no such value, a weight is missing or does not fit, a buffer cannot be had as
            demanded, or an op cannot be lowered.
    """
    _check_choice("optimization", optimization, ("all", "none"))
    _check_choice("buffers", buffers, ("auto", "in_place", "copied"))
    if not graph.finished:
        raise LoweringError(f"graph `{graph.name}` has no output", code="MG005", help="call graph.output(...) first")
    known = give_weights(graph, weights or {})
    if provider != CPU_PROVIDER and optimization == "all":
        optimization = "basic"  # the optimiser runs on the CPU, and beyond this it makes nodes that only the CPU has
    planned = plan_buffers(graph, known, optimization=optimization, buffers=buffers, distrust=distrust(provider))
    return assemble(graph, planned, provider)


def _check_choice(name: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise LoweringError(f"`{name}` has no value {given!r}", code="MG017", help=suggest(str(given), known))


def give_weights(graph: Graph, given: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, ir.WeightInfo]:
    """The graph's weights with their elements: those given, else its own. The graph itself stays as it is."""
    import numpy as np

    used = {a.name for n in graph.nodes() for a in n.attributes.values() if isinstance(a, ir.WeightRef)}
    known = dict(graph.weights)
    for name, info in graph.weights.items():
        if name in given:
            array = np.asarray(given[name])
            dtype, shape = info.type.dtype.to_numpy(), info.type.shape.evaluate({})
            if array.dtype != dtype or array.shape != shape:
                raise InputError(
                    f"weight `{name}` does not fit",
                    code="MG039",
                    details=[("wanted", str(info.type)), ("given", f"{array.dtype}{list(array.shape)}")],
                )
            known[name] = ir.WeightInfo(name, info.type, ir.ArrayData(np.asarray(array, order="C")))
        elif info.data is None and name in used:
            raise InputError(
                f"weight `{name}` has no elements",
                code="MG039",
                details=[("wanted", str(info.type))],
                help=suggest(name, list(given)) if given else "give them by name: weights_registry={name: array}",
            )
    return known


def assemble(graph: Graph, planned: Planned, provider: str) -> Lowered:
    """What the engine needs, from what was planned."""
    e = planned.emitter
    model_inputs = {value.name for value in planned.executed.graph.input}
    produced = planned.executed.producer
    failures = Failures(
        e, planned.model, planned.executed, {h.name: value.tensor_type for value, h in e.handles.items()}
    )
    inputs, buffers = [], []
    rows = Plan(planned.plan.buffers)
    position = 0
    for info in graph.signature:
        handle = e.handles[info.value]
        onnx_name = handle.name if handle.name in model_inputs else None
        track = e.tracks.get(handle.name)
        if track is None:
            inputs.append(TensorBinding(info.name, onnx_name, handle.type, position))
        else:
            kept = track.versions[1:] if track.shared else track.versions[1:][-1:]
            risk = failures.of(track)
            buffers.append(
                BufferBinding(
                    info.name,
                    track.type,
                    info.state,
                    position if info.state is None else None,
                    onnx_name,
                    track.type.shape,
                    tuple(Version(v.name, v.shape) for v in kept),
                    rows[info.name],
                    failures.before_text(track),
                    risk,
                    failures.kept(track, risk),
                )
            )
        position += info.state is None
    outputs = tuple(
        TensorBinding(name, onnx_name, value.tensor_type, at)
        for at, ((name, value), onnx_name) in enumerate(zip(graph.results, e.output_names, strict=True))
    )
    external = [t.name for t in planned.executed.graph.initializer if t.data_location == t.EXTERNAL]
    model = name_nodes(planned.model, e.guards) if planned.optimised.model else b""
    return Lowered(
        graph_name=graph.name,
        model=model,
        opset=e.onnx.opset,
        provider=provider,
        inputs=tuple(inputs),
        outputs=outputs,
        buffers=tuple(buffers),
        constants=frozenset(name for name in (*e.output_names, *(p[0] for p in e.prints)) if name not in produced),
        external=tuple(_external(planned, name) for name in external),
        index_checks=tuple(e.index_checks),
        dim_checks=tuple(e.dim_checks),
        guards=dict(e.guards),
        prints=tuple(PrintBinding(name, label, type_) for name, label, type_ in e.prints),
        plan=planned.plan,
        entry=_entry(planned) if model else None,
    )


def _entry(planned: Planned) -> Entry | None:
    """The form with fewer nodes, if there is one; it is proved like the first, for it is what is executed."""
    import onnx

    entry = bind_views(planned.model, planned.executed)
    if entry is None:
        return None
    executed = ExecutedGraph(onnx.ModelProto.FromString(entry.model).graph)
    aliases: dict[str, list[str]] = {}
    for view in entry.views:
        aliases.setdefault(view.source, []).append(view.name)
    e = planned.emitter
    for track in e.tracks.values():
        names = [version.name for version in track.versions]
        if track.shared and len(names) > 1 and prove_shared(executed, names, e.all_checks, aliases=aliases):
            raise AssertionError(track.name)  # pragma: no cover - a view shares its input's memory in both forms
    return entry


def _external(planned: Planned, name: str) -> ExternalWeight:
    """A weight that the optimised model names: one of the graph's, or one that the optimiser folded."""
    from ..dtype import DType
    from ..graph.type import DeviceRef

    weight = planned.emitter.onnx.weights.get(name)
    if weight is not None:
        return ExternalWeight(name, weight)
    array = planned.optimised.folded[name]
    type_ = TensorType(DType.from_numpy(array.dtype), array.shape, DeviceRef.CPU())
    return ExternalWeight(name, ir.WeightInfo(name, type_, ir.ArrayData(array)), folded=True)
