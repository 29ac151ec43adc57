"""The graph's data: values, nodes, blocks, attributes, weights and states. No behaviour beyond consistency.

A node has operands, attributes, results and the buffers that it reads and writes; nodes that touch the same buffer,
at least one of them writing, take effect in program order, and all others are ordered by their operands only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntFlag
from typing import TYPE_CHECKING, Any, Protocol

from ..dtype import DType
from ..errors import SourceLocation
from .shape import Shape
from .type import BufferType, TensorType

if TYPE_CHECKING:
    import numpy as np

    from .ops.registry import Op

__all__ = [
    "BLOCK_DEPTH",
    "Access",
    "ArrayData",
    "Attribute",
    "Block",
    "InputInfo",
    "Literal",
    "Node",
    "StateInfo",
    "TensorData",
    "Value",
    "WeightInfo",
    "WeightRef",
]

#: Constants up to this size are written into the node; larger ones are weights.
LITERAL_BYTES = 1024
#: Blocks inside one another, the body left out.
BLOCK_DEPTH = 64


class Access(IntFlag):
    """What a node or a graph does to a buffer. The numbers are the file's."""

    NONE = 0
    READ = 1
    WRITE = 2
    READ_WRITE = 3


class Value:
    """A value of the IR: a graph's input, a block's parameter, or a node's result.

    `TensorValue` and `BufferValue` are the user's views of it; ``TensorValue.from_mlir`` and ``to_mlir`` lead from
    one to the other.

    Attributes:
        type: Its type.
        graph: The graph that it belongs to.
        node: The node that yields it; None for an input or a parameter.
        name: What the user calls it, if that is known.
        block: The nested block that defines it; None for the graph's inputs and what its body yields.
    """

    __slots__ = ("block", "graph", "name", "node", "type")

    def __init__(
        self,
        type: TensorType | BufferType,  # noqa: A002 - the attribute's name
        graph: object,
        node: Node | None = None,
        name: str | None = None,
        block: Block | None = None,
    ) -> None:
        self.type = type
        self.graph = graph
        self.node = node
        self.name = name
        self.block = block

    @property
    def tensor_type(self) -> TensorType:
        """The type, of a tensor value; the tensor type of its contents, of a buffer."""
        return self.type.as_tensor() if isinstance(self.type, BufferType) else self.type

    def __repr__(self) -> str:
        return f"<{self.name or 'value'}: {self.type}>"


@dataclass(frozen=True, slots=True)
class Literal:
    """A small constant inside a node: row-major, little-endian bytes, at most `LITERAL_BYTES`."""

    type: TensorType
    data: bytes

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements, read-only."""
        import numpy as np

        shape = self.type.shape.evaluate({})
        return np.frombuffer(self.data, dtype=self.type.dtype.to_numpy()).reshape(shape)


@dataclass(frozen=True, slots=True)
class WeightRef:
    """The name of a weight, as an attribute."""

    name: str


Attribute = (
    bool
    | int
    | float
    | str
    | DType
    | TensorType
    | WeightRef
    | Literal
    | Shape
    | tuple[int, ...]
    | tuple[float, ...]
    | tuple[str, ...]
)


class TensorData(Protocol):
    """Where a weight's elements come from: memory, or a mapped file."""

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements; read-only where they are mapped."""
        ...


@dataclass(frozen=True, slots=True)
class ArrayData:
    """Elements held in memory."""

    array: np.ndarray[Any, Any]

    def numpy(self) -> np.ndarray[Any, Any]:
        """The array itself."""
        return self.array


@dataclass(slots=True)
class WeightInfo:
    """A named constant of a graph.

    Attributes:
        data: None until the elements are given, when the graph is saved or loaded into a session.
        placeholder: A call of the graph puts its prefix before the name.
    """

    name: str
    type: TensorType
    data: TensorData | None = None
    placeholder: bool = False


@dataclass(frozen=True, slots=True)
class StateInfo:
    """A buffer that the model itself owns.

    Attributes:
        initial: The weight that holds the initial value; None: zeros.
        scratch: Memory of one execution only; nothing is kept, saved or reset.
    """

    name: str
    type: BufferType
    initial: str | None = None
    scratch: bool = False


@dataclass(frozen=True, slots=True)
class InputInfo:
    """An input of a graph.

    Attributes:
        state: Set where the model owns the buffer; then no caller passes it.
    """

    name: str
    value: Value
    state: StateInfo | None = None


@dataclass(slots=True, eq=False)
class Node:
    """One operation.

    Attributes:
        operands: Flat; `segments` says how many each formal operand takes.
        effects: The buffers that it and its blocks touch, in order of first operand.
    """

    op: Op[..., Any]
    operands: tuple[Value, ...]
    segments: tuple[int, ...]
    attributes: dict[str, Attribute]
    results: tuple[Value, ...] = ()
    blocks: tuple[Block, ...] = ()
    effects: tuple[tuple[Value, Access], ...] = ()
    location: SourceLocation | None = None

    def nested(self) -> Iterator[Node]:
        """The nodes of its blocks, and of theirs, in program order."""
        for block in self.blocks:
            for node in block.nodes:
                yield from node.nested()
                yield node

    def grouped(self) -> Iterator[tuple[Value, ...]]:
        """The operands of each formal operand."""
        at = 0
        for count in self.segments:
            yield self.operands[at : at + count]
            at += count


@dataclass(slots=True, eq=False)
class Block:
    """Nodes in program order: a graph's body, or a part of a node such as a branch.

    A block sees its own values and those of the blocks around it, buffers among them.

    Attributes:
        params: Values that it is given each time it runs.
        results: Values that it yields; the body has none.
    """

    params: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
