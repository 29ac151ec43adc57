"""The emitter: writes a graph's ops into an ONNX graph, buffers as chains of versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..dtype import DType
from ..errors import LoweringError, SourceLocation
from ..graph import ir
from ..graph.dim import Dim
from ..graph.graph import Graph
from ..graph.ops.emitter import Handle, OnnxAttribute, Window
from ..graph.shape import Shape
from ..graph.type import BufferType, DeviceRef, TensorType, static_dim
from .blocks import Scope, emit_cond, emit_while_loop
from .buffers import BufferTrack, Choices, Load, Store, VersionTrack, dead_stores
from .kernels import METADATA_ONLY
from .known import KnownValues
from .lowered import DimCheck, IndexCheck
from .onnx_model import OnnxGraph, OnnxNode
from .sizes import Sizes
from .windows import load_window, store_window

__all__ = ["GraphEmitter", "emit"]

#: The ops that onnxruntime has for its smallest floats.
_STORAGE_OPS = frozenset({"buffer_load", "buffer_store", "cast", "constant", "weight", "reshape", "transfer_to"})
_WITHOUT_KERNELS = frozenset({DType.float8_e8m0fnu, DType.float4_e2m1fn})
_NO_INPUT = TensorType(DType.int64, [], DeviceRef.CPU())


class GraphEmitter:
    """Implements `maxgraph.graph.ops.emitter.Emitter` for one graph.

    Attributes:
        onnx: The ONNX graph so far.
        tracks: Each buffer, by its IR value.
        ranks: The ranks of names whose type was proved by a type rule; others cannot be relied on.
        input_positions: Names that are a tensor input of the graph (or a view of one): its position.
        guards: Message and place of each check, by the name of its node; `guard_values` are their results, and those
            of branches and loops that hold checks.
        scope: The branch or loop that is being emitted.
        all_checks: Results that only exist if checks hold, those inside branches and loops among them.
        fixed: Names of values that do not depend on the elements of any input, but perhaps on sizes.
        copies_inside: For each buffer, whole copies that a branch makes of it.
        kept_inside: Buffers of which a branch copies an old value that it needs after a store.
    """

    def __init__(self, graph: Graph, weights: Mapping[str, ir.WeightInfo], choices: Choices, *, share: bool) -> None:
        self.graph = graph
        self.choices = choices
        self.onnx = OnnxGraph()
        self.handles: dict[ir.Value, Handle] = {}
        self.tracks: dict[str, BufferTrack] = {}
        self.ranks: dict[str, int] = {}
        self.input_positions: dict[str, int] = {}
        self.index_checks: list[IndexCheck] = []
        self.dim_checks: list[DimCheck] = []
        self.guards: dict[str, tuple[str, SourceLocation | None]] = {}
        self.guard_values: list[str] = []
        self.scope: Scope | None = None
        self.all_checks: list[str] = []
        self.fixed: set[str] = set()
        self.copies_inside: dict[str, int] = {}
        self.kept_inside: set[str] = set()
        self.prints: list[tuple[str, str, TensorType]] = []
        self.sizes = Sizes(self)
        self.known = KnownValues(weights)
        self.input_symbols = {s.name for info in graph.signature for s in info.value.type.parameters}
        self.output_names: list[str] = []
        self._node: ir.Node | None = None
        self._loads = 0
        self._stores = 0
        self._constants: dict[tuple[Any, ...], str] = {}
        self._turned: dict[str, Handle] = {}
        self._viewed: dict[str, Handle] = {}
        self._in_range: dict[tuple[str, Dim], Handle] = {}
        self._weights: dict[str, str] = {}
        self._weight_infos = weights
        position = 0
        for info in graph.signature:
            name = self.onnx.fresh("b" if isinstance(info.value.type, BufferType) else "x")
            self.onnx.inputs[name] = info.value.type
            handle = Handle(name, info.value.tensor_type)
            self.handles[info.value] = handle
            self.ranks[name] = handle.rank
            if isinstance(info.value.type, BufferType):
                track = BufferTrack(info, share and info.name not in choices.separate)
                track.versions.append(VersionTrack(name, info.value.type.shape))
                self.tracks[name] = track
            else:
                self.input_positions[name] = position
            self.sizes.bind(handle)
            position += info.state is None

    def run(self) -> None:
        """Emits every node in program order."""
        dead = dead_stores(self.graph)
        self.emit_nodes([node for node in self.graph.body.nodes if node not in dead])

    def emit_nodes(self, nodes: Iterable[ir.Node]) -> None:
        """Emits nodes, into the block that is open."""
        outer = self._node
        for node in nodes:
            self._node = node
            self._check_dtypes(node)
            operands = [self.handles[value] for value in node.operands]
            for value, handle in zip(node.results, node.op.lower(self, operands, node), strict=True):
                # The type rule's type is the truth; what a lowering said of its last node is not needed any more.
                self.handles[value] = Handle(handle.name, value.tensor_type)
                self.ranks[handle.name] = value.tensor_type.rank
                self.sizes.bind(self.handles[value])
            self.known.note(node)
        self._node = outer

    def _check_dtypes(self, node: ir.Node) -> None:
        """Refuses an op on an element type that onnxruntime only stores and converts."""
        for value in (*node.operands, *node.results):
            dtype = value.type.dtype
            if not (dtype.is_float8() or dtype is DType.float4_e2m1fn):
                continue
            self.onnx.opset = max(self.onnx.opset, 21)  # the first that stores and reshapes them
            if dtype in _WITHOUT_KERNELS:
                raise self.refuse(f"onnxruntime has no kernel for {dtype.name}", help="use another element type")
            if node.op.name not in _STORAGE_OPS:
                raise self.refuse(
                    f"onnxruntime has no kernel for {dtype.name}", help="cast it first, e.g. x.cast(DType.float32)"
                )

    # What lowerings use (see Emitter) -----------------------------------------------------------------------------

    @property
    def results(self) -> tuple[TensorType, ...]:
        """The result types of the op that is emitted now."""
        return tuple(value.tensor_type for value in self.node_here.results)

    @property
    def node_here(self) -> ir.Node:
        """The op that is emitted now."""
        if self._node is None:  # pragma: no cover - lowerings only run inside run()
            raise AssertionError
        return self._node

    def node(
        self,
        op_type: str,
        *inputs: Handle | None,
        domain: str = "",
        since: int = 1,
        dtype: DType | None = None,
        shape: Shape | None = None,
        **attributes: OnnxAttribute | None,
    ) -> Handle:
        """One ONNX node with one output."""
        like = next((h.type for h in inputs if h is not None), _NO_INPUT)
        type_ = TensorType(dtype or like.dtype, like.shape if shape is None else shape, like.device)
        return self.nodes(op_type, *inputs, types=[type_], domain=domain, since=since, **attributes)[0]

    def nodes(
        self,
        op_type: str,
        *inputs: Handle | None,
        types: Sequence[TensorType],
        domain: str = "",
        since: int = 1,
        **attributes: OnnxAttribute | None,
    ) -> tuple[Handle, ...]:
        """One ONNX node with several outputs."""
        self.onnx.opset = max(self.onnx.opset, since if not domain else 0)
        handles = tuple(Handle(self.onnx.fresh("v"), type_) for type_ in types)
        self.onnx.nodes.append(
            OnnxNode(
                op_type,
                domain,
                ["" if h is None else h.name for h in inputs],
                [h.name for h in handles],
                {k: v for k, v in attributes.items() if v is not None},
                self._node,
            )
        )
        if op_type in METADATA_ONLY or all(h is None or self.is_fixed(h) for h in inputs):
            self.fixed.update(h.name for h in handles)
        return handles

    def is_fixed(self, x: Handle) -> bool:
        """Whether a value is the same in every execution with these sizes, so that onnxruntime might compute it."""
        return x.name in self.fixed or x.name in self.onnx.constants or x.name in self.onnx.weights

    def constant(self, value: object, dtype: DType = DType.int64) -> Handle:
        """A constant; equal ones are shared."""
        import numpy as np

        array = np.asarray(value, dtype=dtype.to_numpy())
        key = (dtype, array.shape, array.tobytes())
        name = self._constants.get(key)
        if name is None:
            name = self._constants[key] = self.onnx.fresh("c")
            self.onnx.constants[name] = array
            self.ranks[name] = array.ndim
        return Handle(name, TensorType(dtype, array.shape, DeviceRef.CPU()))

    def weight(self, name: str) -> Handle:
        """A weight."""
        info = self._weight_infos[name]
        onnx_name = self._weights.get(name)
        if onnx_name is None:
            onnx_name = self._weights[name] = self.onnx.fresh("w")
            self.onnx.weights[onnx_name] = info
            self.ranks[onnx_name] = info.type.rank
        return Handle(onnx_name, info.type)

    def cast(self, x: Handle, dtype: DType) -> Handle:
        """`x` in another dtype."""
        return x if x.dtype is dtype else self.node("Cast", x, to=dtype, dtype=dtype)

    def dims(self, shape: Shape) -> Handle:
        """Sizes as an int64 vector."""
        return self.sizes.vector(shape)

    def reshape(self, x: Handle, shape: Shape) -> Handle:
        """`x` under another shape."""
        if x.shape == shape:
            return x
        x = self._viewed.get(x.name, x)  # a view of a view is a view of what that one shows
        result = self.node("Reshape", x, self.dims(shape), shape=shape, allowzero=1)
        self._viewed[result.name] = x
        if x.name in self.input_positions:
            self.input_positions[result.name] = self.input_positions[x.name]
        return result

    def note_transposed(self, turned: Handle, x: Handle) -> None:
        """Notes that a value is the transpose of a matrix."""
        if x.name in self.onnx.weights:
            self._turned[turned.name] = x

    def transposed_weight(self, x: Handle) -> Handle | None:
        """The weight whose transpose `x` is; None if it is not one's."""
        return self._turned.get(x.name)

    def check(self, ok: Handle, message: str) -> Handle:
        """A node that fails unless `ok` holds: it looks up entry 0 or, out of range, 1 of a table with one entry."""
        failed = self.node("Cast", self.node("Not", ok), to=DType.int64, dtype=DType.int64)
        result = self.node("Gather", self.constant([0]), failed, axis=0, shape=Shape([]))
        node = self.onnx.nodes[-1]
        node.name = f"guard{len(self.guards)}"
        self.guards[node.name] = (f"{self.node_here.op.name}: {message}", self.node_here.location)
        self.add_guard(result.name)
        return result

    def add_guard(self, name: str) -> None:
        """Notes a result that only exists if checks hold."""
        self.all_checks.append(name)
        if self.scope is None:
            self.guard_values.append(name)
        else:
            self.scope.guards.append(name)

    @property
    def in_block(self) -> bool:
        """Whether what is emitted now may not be reached in an execution, or more than once."""
        return self.scope is not None

    def check_size(self, count: Handle, size: Dim, message: str) -> Handle:
        """A check of a size that depends on data, where that size is known from elsewhere."""
        if not self.sizes.knows(size):
            return count
        wanted = self.reshape(self.sizes.value(size), Shape([]))
        zero = self.check(self.node("Equal", count, wanted, dtype=DType.bool), message)
        return self.node("Add", count, zero)

    def load(self, buffer: Handle) -> Handle:
        """The contents of a buffer now, under a name that is resolved later."""
        if self.scope is not None:
            return self.scope.buffers[buffer.name]
        track = self.tracks[buffer.name]
        load = Load(self._loads, self.onnx.fresh("l"), len(track.versions) - 1, self.node_here)
        self._loads += 1
        track.loads.append(load)
        return Handle(load.name, track.type.as_tensor())

    def store(self, buffer: Handle, value: Handle) -> None:
        """A whole-buffer store: the node that makes the value writes the buffer, or a copy of the value does."""
        if self.scope is not None:
            self._store_inside(buffer.name, value)
            return
        track = self.tracks[buffer.name]
        number = self._stores
        self._stores += 1
        if any(load.name == value.name and load.version == len(track.versions) - 1 for load in track.loads):
            return  # what is stored is what is there
        producer = next((n for n in reversed(self.onnx.nodes) if value.name in n.outputs), None)
        is_carried = producer is not None and producer.op_type == "Loop"
        if track.shared and (number in self.choices.through or is_carried):
            self._store_through(track, value, number)
            return
        taken = {v.name for t in self.tracks.values() for v in t.versions}
        if producer is None or not producer.inputs or value.name in taken or value.name in self.guard_values:
            value = self.node("Identity", value)
            producer = self.onnx.nodes[-1]
        given = [at for at, name in enumerate(producer.inputs) if name]
        gate = next((at for at in given if self.is_variable(producer.inputs[at])), given[0])
        self._add_version(
            track, value.name, track.type.shape, Store(number, producer, gate, True, False, self.node_here)
        )

    def _store_inside(self, buffer: str, value: Handle) -> None:
        """In a branch or a loop, a store only makes another value; the last one is stored outside."""
        if self.scope is None:  # pragma: no cover - callers look first
            raise AssertionError(buffer)
        self.scope.buffers[buffer] = Handle(value.name, self.tracks[buffer].type.as_tensor())
        self.scope.stores[buffer] = self.scope.stores.get(buffer, 0) + 1

    def is_variable(self, name: str) -> bool:
        """Whether a name is that of a value, and not of a constant or a weight."""
        return bool(name) and name not in self.onnx.constants and name not in self.onnx.weights

    def _store_through(self, track: BufferTrack, value: Handle, number: int) -> None:
        """One memcpy of the value into the buffer: a TensorScatter over all of it, which no fusion touches."""
        flat = Shape([1, track.type.shape.num_elements])
        self.node(
            "TensorScatter",
            self.version_as(track, flat),
            self.reshape(value, flat),
            self.constant([0]),
            since=24,
            axis=1,
            shape=flat,
        )
        writer = self.onnx.nodes[-1]
        self._add_version(track, writer.outputs[0], flat, Store(number, writer, 2, True, True, self.node_here))

    def load_window(self, x: Handle, window: Window) -> Handle:
        """A part of a tensor."""
        return load_window(self, x, window)

    def store_window(self, buffer: Handle, value: Handle, window: Window) -> None:
        """A store to a part of a buffer."""
        store_window(self, self.tracks[buffer.name], value, window)

    def add_scatter(self, track: BufferTrack, version: Handle, window: Window, gate: int) -> None:
        """Makes the result of the scatter that was emitted last the buffer's new version."""
        if self.scope is not None:
            self._store_inside(track.versions[0].name, version)
            return
        number = self._stores
        self._stores += 1
        store = Store(number, self.onnx.nodes[-1], gate, False, False, self.node_here, window)
        self._add_version(track, version.name, version.shape, store)

    def can_update(self, *buffers: Handle) -> bool:
        """Whether each of these buffers has one memory for all its versions, and is changed outside of blocks."""
        return self.scope is None and all(self.tracks[buffer.name].shared for buffer in buffers)

    def update(
        self,
        op_type: str,
        *inputs: Handle | None,
        outputs: Sequence[TensorType | Handle],
        gate: int = 0,
        window: Window | None = None,
        domain: str = "",
        since: int = 1,
        **attributes: OnnxAttribute | None,
    ) -> tuple[Handle, ...]:
        """One ONNX node that yields new contents of buffers, which are among its inputs."""
        given = [
            h if h is None or h.name not in self.tracks else self.version_as(self.tracks[h.name], h.shape)
            for h in inputs
        ]
        types = [o.type if isinstance(o, Handle) else o for o in outputs]
        made = self.nodes(op_type, *given, types=types, domain=domain, since=since, **attributes)
        writer = self.onnx.nodes[-1]
        for output, handle in zip(outputs, made, strict=True):
            if not isinstance(output, Handle):
                continue
            if self.scope is not None:
                self._store_inside(output.name, handle)
                continue
            store = Store(self._stores, writer, gate, False, False, self.node_here, window)
            self._stores += 1
            self._add_version(self.tracks[output.name], handle.name, output.shape, store)
        return tuple(handle for output, handle in zip(outputs, made, strict=True) if not isinstance(output, Handle))

    def in_range(self, index: Handle, high: Dim, message: str) -> Handle:
        """An int64 tensor whose elements are sure to be from 0 to `high`."""
        position = self.input_positions.get(index.name)
        is_known = {symbol.name for symbol in high.parameters} <= self.input_symbols
        if position is not None and is_known and not self.in_block and not index.rank:
            # Of no size: what is negative does not count from the end.
            self.index_check(position, Dim(0), Dim(0), high, message)
            return index
        key = (index.name, high)
        if self.scope is not None or key not in self._in_range:
            least = index if not index.rank else self.node("ReduceMin", index, keepdims=0, since=18, shape=Shape([]))
            most = index if not index.rank else self.node("ReduceMax", index, keepdims=0, since=18, shape=Shape([]))
            limit = self.reshape(self.sizes.value(high), Shape([]))
            from_zero = self.node("GreaterOrEqual", least, self.constant(0), since=16, dtype=DType.bool)
            to_limit = self.node("LessOrEqual", most, limit, since=16, dtype=DType.bool)
            zero = self.check(self.node("And", from_zero, to_limit), message)
            checked = self.node("Add", index, zero)
            if self.scope is not None:
                return checked
            self._in_range[key] = checked
        return self._in_range[key]

    def at_least(self, size: Dim, low: int, message: str) -> None:
        """Lets the execution fail with `message` where a size is less than `low`."""
        if static_dim(size) is None:
            self.dim_check(size, Dim(low), message)

    def skip_store(self) -> None:
        """Counts a store that writes nothing."""
        self._stores += not self.in_block

    def _add_version(self, track: BufferTrack, name: str, shape: Shape, store: Store) -> None:
        track.versions.append(VersionTrack(name, shape, store))

    def version_as(self, track: BufferTrack, shape: Shape) -> Handle:
        """The current version under the shape that a writer wants; a view, without a copy."""
        if self.scope is not None:
            return self.reshape(self.scope.buffers[track.versions[0].name], shape)
        current = track.current
        handle = Handle(current.name, TensorType(track.type.dtype, current.shape, track.type.device))
        return self.reshape(handle, shape)

    def cond(self, pred: Handle, then_block: ir.Block, else_block: ir.Block) -> Sequence[Handle]:
        """One of two blocks."""
        return emit_cond(self, pred, [then_block, else_block])

    def while_loop(self, initial_values: Sequence[Handle], predicate: ir.Block, body: ir.Block) -> Sequence[Handle]:
        """A block that is repeated."""
        return emit_while_loop(self, initial_values, predicate, body)

    def print(self, label: str, x: Handle) -> None:
        """A value that is shown after the run, as an extra output."""
        self.prints.append((self._output(x, "p"), label, x.type))

    def finish(self) -> None:
        """Names the outputs: each is the result of a node of its own, never an input, a constant or a version."""
        self._node = None
        for _, value in self.graph.results:
            handle = self.handles[value]
            load = next((ld for t in self.tracks.values() for ld in t.loads if ld.name == handle.name), None)
            name = self._output(handle, "y")
            if load is not None and load.through_output is None:
                load.through_output = name
            self.output_names.append(name)
        for value_name in self.guard_values:
            self.onnx.outputs[value_name] = TensorType(DType.int64, [], DeviceRef.CPU())

    def _output(self, x: Handle, stem: str) -> str:
        """Makes a value an output of the model; gives the output's name."""
        versions = {v.name for t in self.tracks.values() for v in t.versions}
        made_here = any(x.name in node.outputs for node in self.onnx.nodes)
        name = x.name
        if not made_here or name in versions or name in self.onnx.outputs or name in self.guard_values:
            name = self.onnx.fresh(stem)
            self.onnx.nodes.append(OnnxNode("Identity", "", [x.name], [name], {}, self._node))
        self.onnx.outputs[name] = x.type
        return name

    def dim_check(self, value: Dim, low: Dim, message: str) -> None:
        """A condition on symbolic sizes: checked on the feeds, or in the graph where a size depends on data."""
        is_known = all(symbol.name in self.input_symbols for dim in (value, low) for symbol in dim.parameters)
        if not is_known or self.in_block:
            holds = self.node("GreaterOrEqual", self.sizes.value(value), self.sizes.value(low), dtype=DType.bool)
            self.check(self.node("Squeeze", holds, self.constant([0]), shape=Shape([])), message)
            return
        self.dim_checks.append(DimCheck(value, low, f"{self.node_here.op.name}: {message}", self.node_here.location))

    def index_check(self, position: int, size: Dim, low: Dim, high: Dim, message: str) -> None:
        """A condition on a tensor input that is an index, checked on the feed."""
        self.index_checks.append(
            IndexCheck(position, size, low, high, f"{self.node_here.op.name}: {message}", self.node_here.location)
        )

    def refuse(self, message: str, help: str | None = None) -> LoweringError:  # noqa: A002 - the word users read
        """An error about the op that is emitted now."""
        node = self._node
        return LoweringError(
            f"{node.op.name}: {message}" if node else message,
            code="MG042",
            where=node.location if node else None,
            help=help,
        )


def emit(graph: Graph, weights: Mapping[str, ir.WeightInfo], choices: Choices, *, share: bool = True) -> GraphEmitter:
    """A graph as ONNX nodes and chains of versions, not yet ordered against each other."""
    emitter = GraphEmitter(graph, weights, choices, share=share)
    emitter.run()
    emitter.finish()
    return emitter
