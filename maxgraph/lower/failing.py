"""What an execution that fails may already have overwritten, and what has to be kept to put it back.

A buffer whose versions share its memory is overwritten while the graph runs. If some node that may fail is not certain
to run before the first of its writers, then an execution that fails may leave the buffer half changed. Three kinds of
nodes are told apart, on the graph that is executed:

- nodes that cannot fail: the type rules prove their shapes, the checks before them prove their indices, and their
  results are views, or lie in memory that is bound before anything runs;
- nodes that fail only where memory runs out: the same, with results that onnxruntime makes room for meanwhile;
- all others: checks that are not certain to come first, and operators that are not listed here.

What a failure may overwrite is kept in each execution and put back, as long as that is in proportion to what is stored
or to what may fail. Memory that a kernel takes for itself while it runs is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from ..graph.ops.emitter import Handle, Window
from ..graph.shape import Shape
from ..graph.type import TensorType, static_dim
from .buffers import BufferTrack
from .executed import ExecutedGraph
from .kernels import METADATA_ONLY, VIEWS
from .lowered import IndexInput, Region, RegionAxis, Risk
from .onnx_model import is_node_name

if TYPE_CHECKING:
    import onnx

    from .emit import GraphEmitter

__all__ = ["KEPT_BYTES", "SMALL_BYTES", "Failures", "name_nodes"]

#: Results up to this size are hardly what memory runs out for.
SMALL_BYTES = 64 * 1024
#: Parts of buffers up to this size are kept whatever may fail, and whole buffers where it is not known which part is
#: overwritten.
KEPT_BYTES = 64 * 1024

#: Operators that no data makes fail, once shapes and indices are right. They are all that lowerings emit, and what
#: onnxruntime's optimiser fuses them to; an operator that is not here is taken to fail at any time.
_SURE = frozenset(
    [
        *("Abs", "Acos", "Asin", "Atan", "Ceil", "Clip", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid"),
        *("HardSwish", "IsInf", "IsNaN", "LeakyRelu", "Log", "LogSoftmax", "Neg", "Not", "Reciprocal", "Relu", "Round"),
        *("Selu", "Sigmoid", "Sign", "Sin", "Softmax", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh"),
        *("ThresholdedRelu", "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max"),
        *("Min", "Mod", "Mul", "Or", "Pow", "Sub", "Where", "Xor", "ArgMax", "ArgMin", "CumSum", "ReduceMax"),
        *("ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "Cast", "Concat", "Expand", "Gather", "Range"),
        *("ScatterElements", "ScatterND", "Slice", "TensorScatter", "Transpose", "Gemm", "MatMul"),
        *("LayerNormalization", "RMSNormalization", "RotaryEmbedding", "BitCast", "Trilu", "Tile", "Pad", "Split"),
        *VIEWS,
        *METADATA_ONLY,
    ]
)
_SURE_FUSED = frozenset(
    [
        *("BiasGelu", "FastGelu", "FusedGemm", "FusedMatMul", "Gelu", "GroupQueryAttention", "QuickGelu"),
        "SkipLayerNormalization",
    ]
)
_CONTROL = frozenset(["If", "Loop", "Scan"])


class Failures:
    """Which nodes of the executed graph may fail.

    Args:
        e: What was emitted.
        model: What is executed.
        executed: Its graph.
        types: The types of values, as far as type rules proved them.
    """

    def __init__(
        self, e: GraphEmitter, model: onnx.ModelProto, executed: ExecutedGraph, types: Mapping[str, TensorType]
    ) -> None:
        self._model = model
        self._executed = executed
        self._sizes = {name: type_.num_bytes for name, type_ in types.items() if type_.is_static}
        self._inferred = False
        self._guards = e.guards
        self._bound = _bound(e, executed)
        _add_bound_inside(executed, self._bound)
        self._risks = [self._risk(node) for node in executed.nodes]
        # A print can fail too, when everything has run.
        self._at_end = Risk.MEMORY if e.prints else Risk.NONE
        self._positions = e.input_positions

    def of(self, track: BufferTrack) -> Risk:
        """What may fail once the buffer's memory has been written to."""
        if self.before(track) is None:
            return Risk.NONE
        risk = self._after(track)
        if risk is Risk.MEMORY and not self._inferred:
            # Looking closer, once, at the values that no type rule is about may cost less than keeping a buffer.
            self._infer()
            risk = self._after(track)
        return risk

    def before(self, track: BufferTrack) -> int | None:
        """The nodes that have run when the buffer's own memory is first written to, if it is: bit i stands for node i.

        Every other writer comes after the first one, which the proof says.
        """
        if not track.shared or len(track.versions) == 1:
            return None
        return self._executed.ancestors[self._first(track)[0]]

    def _first(self, track: BufferTrack) -> tuple[int, str]:
        """The node that writes to the buffer's own memory first, and the value that it makes."""
        return min((self._executed.producer[version.name], version.name) for version in track.versions[1:])

    def before_text(self, track: BufferTrack) -> str:
        """The same as `BufferBinding.before` has it."""
        before = self.before(track)
        return "" if before is None else f"{before:x}"

    def _after(self, track: BufferTrack) -> Risk:
        """The largest risk of what is not certain to run before the buffer is written to."""
        executed, (first, value) = self._executed, self._first(track)
        old = executed.memory_of(track.versions[0].name)
        later = [
            self._once_written(executed, at, value, old) if at == first else risk
            for at, risk in enumerate(self._risks)
            if not executed.ancestors[first] >> at & 1
        ]
        return _largest([self._at_end, *later])

    def _once_written(self, executed: ExecutedGraph, writer: int, value: str, old: Collection[str]) -> Risk:
        """What may fail in a writer when it has begun to write: of an If, what comes after the writer in the branch."""
        node = executed.nodes[writer]
        if node.op_type != "If" or node.domain:
            return self._risk(node)
        found = [Risk.SMALL]
        position = list(node.output).index(value)
        for branch in executed.branches(writer):
            name = branch.graph.output[position].name
            inner = branch.producer[name]
            memory = branch.memory_of(*old)
            if branch.nodes[inner].op_type in VIEWS and branch.nodes[inner].input[0] in memory:
                continue  # the branch writes nothing
            found += [
                self._once_written(branch, at, name, memory) if at == inner else self._risk(part)
                for at, part in enumerate(branch.nodes)
                if not branch.ancestors[inner] >> at & 1
            ]
        return _largest(found)

    def _infer(self) -> None:
        """Adds the sizes that ONNX's own rules find."""
        import onnx

        self._inferred = True
        pending = [onnx.shape_inference.infer_shapes(self._model).graph]
        for graph in pending:
            pending += [body for node in graph.node for body in _bodies(node)]
            for info in (*graph.value_info, *graph.output):
                kind = info.type.tensor_type
                dims = kind.shape.dim
                if kind.HasField("shape") and all(dim.HasField("dim_value") for dim in dims):
                    width = 16  # bytes of the largest element
                    self._sizes.setdefault(info.name, math.prod(dim.dim_value for dim in dims) * width)
        self._risks = [self._risk(node) for node in self._executed.nodes]

    def kept(self, track: BufferTrack, risk: Risk) -> tuple[Region, ...]:
        """What is kept so that a failure changes nothing; nothing where that would be out of proportion.

        That is, first, more than some KiB against the failure of a small value; and second, a whole large buffer of
        which only parts are stored, at places that the graph computes, unless more than memory may fail.
        """
        if risk is Risk.NONE:
            return ()
        small = track.type.is_static and track.type.num_bytes <= KEPT_BYTES
        whole = (Region(()),) if small or risk is not Risk.SMALL else ()
        regions = []
        for version in track.versions[1:]:
            store = version.store
            if store is None or store.whole:
                return whole
            region = None if store.window is None else self._region(track.type.shape, store.window)
            if region is None:
                return whole if small or risk is Risk.DATA else ()
            if not small and risk is Risk.SMALL and not _is_small(region, track.type.dtype.size_in_bytes):
                return ()
            regions.append(region)
        return tuple(dict.fromkeys(regions))

    def _region(self, shape: Shape, window: Window) -> Region | None:
        """The window, if its place and size are known before the graph runs."""
        axes = []
        known = {symbol.name for dim in shape for symbol in dim.parameters}
        for start, extent, step in zip(window.starts, window.extents, window.steps, strict=True):
            if not {symbol.name for symbol in extent.parameters} <= known:
                return None
            if isinstance(start, Handle):
                position = self._positions.get(start.name)
                if position is None:
                    return None
                axes.append(RegionAxis(IndexInput(position), extent, step))
            elif {symbol.name for symbol in start.parameters} <= known:
                axes.append(RegionAxis(start, extent, step))
            else:
                return None
        return Region(tuple(axes))

    def _risk(self, node: onnx.NodeProto) -> Risk:
        if node.name in self._guards:
            return Risk.DATA
        if not node.domain and node.op_type in _CONTROL:
            inner = [self._risk(part) for graph in _bodies(node) for part in graph.node]
            # What a loop carries is made anew in each round.
            return _largest([Risk.SMALL if node.op_type == "If" else Risk.MEMORY, *inner])
        if node.op_type not in (_SURE_FUSED if node.domain == "com.microsoft" else () if node.domain else _SURE):
            return Risk.DATA
        if not node.domain and node.op_type in VIEWS | METADATA_ONLY:
            return Risk.NONE
        made = [name for name in node.output if name and name not in self._bound]
        if not made:
            return Risk.NONE
        small = all(self._sizes.get(name, SMALL_BYTES + 1) <= SMALL_BYTES for name in made)
        return Risk.SMALL if small else Risk.MEMORY


def name_nodes(model: onnx.ModelProto, guards: Collection[str]) -> bytes:
    """Names every node but the checks after its number, so that an error of onnxruntime tells which one failed.

    The name that it was emitted with stays behind the number, where onnxruntime has left it.

    Returns:
        The model's bytes.
    """
    for at, node in enumerate(model.graph.node):
        if node.name not in guards:
            node.name = f"n{at} {node.name}" if is_node_name(node.name) else f"n{at}"
    return bytes(model.SerializeToString())


def _largest(risks: Iterable[Risk]) -> Risk:
    return max(risks, key=lambda risk: risk.value)


def _bound(e: GraphEmitter, executed: ExecutedGraph) -> set[str]:
    """Results whose memory is the engine's, and there before anything runs."""
    found = {version.name for track in e.tracks.values() for version in track.versions[1:]}
    for (_, value), name in zip(e.graph.results, e.output_names, strict=True):
        symbols = {symbol.name for symbol in value.tensor_type.parameters}
        if name in executed.producer and symbols <= e.input_symbols:
            found.add(name)
    return found


def _add_bound_inside(executed: ExecutedGraph, bound: set[str]) -> None:
    """Adds what branches yield straight into such memory."""
    for at, node in enumerate(executed.nodes):
        if node.op_type == "If" and not node.domain:
            positions = [position for position, name in enumerate(node.output) if name in bound]
            for branch in executed.branches(at):
                bound.update(branch.graph.output[position].name for position in positions)
                _add_bound_inside(branch, bound)


def _is_small(region: Region, itemsize: int) -> bool:
    extents = [static_dim(axis.extent) for axis in region.axes]
    return None not in extents and math.prod(extent or 0 for extent in extents) * itemsize <= KEPT_BYTES


def _bodies(node: onnx.NodeProto) -> Iterable[onnx.GraphProto]:
    for attribute in node.attribute:
        yield from ([attribute.g] if attribute.HasField("g") else [])
        yield from attribute.graphs
