"""Buffers while a graph is emitted: each store makes a version, each load names one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..graph import ir
from ..graph.graph import Graph
from ..graph.ops.emitter import Window
from ..graph.shape import Shape
from ..graph.type import BufferType
from .onnx_model import OnnxNode

__all__ = ["BufferTrack", "Choices", "Load", "Store", "VersionTrack", "dead_stores"]


@dataclass(frozen=True, slots=True)
class Choices:
    """What the planner has decided so far; emitting again with other choices gives another form.

    Stores and loads are numbered in program order over the whole graph.

    Attributes:
        separate: Buffers whose new value is computed in a memory of its own.
        through: Whole-buffer stores that are computed apart and copied in.
        snapshots: Loads that are copied out.
        strict: Buffers where consumers of a transposed load count as readers of the buffer.
    """

    separate: frozenset[str] = frozenset()
    through: frozenset[int] = frozenset()
    snapshots: frozenset[int] = frozenset()
    strict: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class Load:
    """A load, under a name of its own that is resolved when everything is emitted.

    Attributes:
        version: Which version it names.
        through_output: The graph's output that holds a copy of it anyway; other readers then read that copy.
    """

    number: int
    name: str
    version: int
    origin: ir.Node
    through_output: str | None = None


@dataclass(slots=True, eq=False)
class Store:
    """A store.

    Attributes:
        writer: The node that yields the version.
        gate: The writer's operand that can be made to depend on other nodes without a copy.
        whole: Whether it writes every element.
        through: Whether it copies a value that was computed apart.
        window: The part that it writes; None if that is all.
    """

    number: int
    writer: OnnxNode
    gate: int
    whole: bool
    through: bool
    origin: ir.Node
    window: Window | None = None


@dataclass(slots=True, eq=False)
class VersionTrack:
    """A version of a buffer; the first one is the input.

    Attributes:
        shape: The shape of its ONNX value; the elements and their order are the buffer's.
    """

    name: str
    shape: Shape
    store: Store | None = None


@dataclass(slots=True, eq=False)
class BufferTrack:
    """All that is known of a buffer while the graph is emitted."""

    info: ir.InputInfo
    shared: bool
    versions: list[VersionTrack] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The user's name."""
        return self.info.name

    @property
    def type(self) -> BufferType:
        """Its type."""
        type_ = self.info.value.type
        if not isinstance(type_, BufferType):  # pragma: no cover - graph.buffers holds nothing else
            raise AssertionError(type_)
        return type_

    @property
    def current(self) -> VersionTrack:
        """The version that a load reads now."""
        return self.versions[-1]

    @property
    def stores(self) -> Iterable[tuple[int, Store]]:
        """Each store with the index of the version that it makes."""
        return [(at, v.store) for at, v in enumerate(self.versions) if v.store is not None]


def dead_stores(graph: Graph) -> set[ir.Node]:
    """Whole-buffer stores whose value nothing reads before the next whole-buffer store."""
    dead: set[ir.Node] = set()
    for info in graph.buffers:
        last: ir.Node | None = None
        for node in graph.body.nodes:
            access = dict(node.effects).get(info.value)
            if access is None:
                continue
            if node.op.name == "buffer_store" and node.operands[0] is info.value:
                if last is not None:
                    dead.add(last)
                last = node
            else:  # a load, or a store to a part, which keeps the rest
                last = None
    return dead
