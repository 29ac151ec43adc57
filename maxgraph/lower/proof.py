"""The proof that versions of a buffer may lie in one memory, on the graph that onnxruntime will execute.

For a buffer whose versions ``0..n`` share memory, and the node W that writes version k, it must hold that

1. every node that reads an earlier version, or a view of one, is W itself or an ancestor of W, and the writer of
   version k-1 is an ancestor of W: then any topological order runs them first;
2. if W itself reads the buffer, it reads version k-1 only, through an operand that its kernel may overwrite;
3. no other operand of W shares memory with the buffer;
4. W is a node of a known operator, and yields the version itself;
5. every check that may fail is an ancestor of the first W, so that a failing execution has written nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from .kernels import METADATA_ONLY, VIEWS, may_overwrite

if TYPE_CHECKING:
    import onnx

__all__ = ["ExecutedGraph", "Fault", "Part", "prove_shared"]


class Part(Enum):
    """The part of the rule that does not hold."""

    READERS = "a reader of an old value may run after the writer"
    WRITERS = "two writers are not ordered"
    KERNEL = "the writer reads the memory that it overwrites, and its kernel is not known to bear it"
    OPERANDS = "another operand of the writer lies in the buffer"
    PRODUCER = "the new value is no node's result"
    CHECKS = "a check that may fail runs after the first write"


@dataclass(frozen=True, slots=True)
class Fault:
    """One part of the rule that does not hold.

    Attributes:
        version: Which version's writer it is about, from 1.
        value: An output of the other node involved, or of the writer.
        op_type: The operator of the writer in the executed graph.
    """

    part: Part
    version: int
    value: str
    op_type: str


class ExecutedGraph:
    """The optimised model, indexed: who makes and reads each value, and each node's ancestors."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.graph = model.graph
        self.nodes = list(model.graph.node)
        self.producer: dict[str, int] = {}
        self.readers: dict[str, list[int]] = {}
        self.operands: list[list[str]] = []
        self.outputs = {output.name for output in model.graph.output}
        for at, node in enumerate(self.nodes):
            operands = [*node.input, *_captured(node)]
            self.operands.append(operands)
            for name in dict.fromkeys(operands):
                if name:
                    self.readers.setdefault(name, []).append(at)
            for name in node.output:
                if name:
                    self.producer[name] = at
        # Bit i of ancestors[n]: node i runs before node n in any order. The model lists nodes in such an order.
        self.ancestors: list[int] = []
        for at, operands in enumerate(self.operands):
            before = 0
            for name in operands:
                maker = self.producer.get(name)
                if maker is not None:
                    if maker >= at:  # pragma: no cover - onnx requires topological order
                        raise AssertionError("the optimised model is not sorted")
                    before |= self.ancestors[maker] | 1 << maker
            self.ancestors.append(before)

    def precedes(self, first: int, second: int) -> bool:
        """Whether a node is an ancestor of another."""
        return bool(self.ancestors[second] >> first & 1)

    def memory_of(self, name: str) -> set[str]:
        """The names whose elements lie in the memory of a value: itself, and views of it."""
        names = {name}
        pending = [name]
        while pending:
            for at in self.readers.get(pending.pop(), ()):
                node = self.nodes[at]
                if node.op_type in VIEWS and not node.domain and node.input[0] in names:
                    view = node.output[0]
                    if view not in self.outputs and view not in names:
                        names.add(view)
                        pending.append(view)
        return names

    def readers_of(self, names: Iterable[str]) -> set[int]:
        """The nodes that read the elements of any of these names; views only pass them on."""
        found = set()
        for name in names:
            for at in self.readers.get(name, ()):
                node = self.nodes[at]
                passes_on = node.op_type in VIEWS and not node.domain and node.output[0] not in self.outputs
                if not passes_on and node.op_type not in METADATA_ONLY:
                    found.add(at)
        return found


def _captured(node: onnx.NodeProto) -> list[str]:
    """Names of the outer graph that the node's subgraphs may read; more than they do is safe."""
    names: list[str] = []
    for attribute in node.attribute:
        for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            for inner in graph.node:
                names += [*inner.input, *_captured(inner)]
            names += [output.name for output in graph.output]
    return names


def prove_shared(
    executed: ExecutedGraph,
    versions: Sequence[str],
    checks: Iterable[str],
    *,
    without: frozenset[Part] = frozenset(),
) -> list[Fault]:
    """What forbids one memory for all these values of a buffer; empty: it is proved.

    Args:
        executed: The graph that is executed.
        versions: The buffer's input, then each version.
        checks: Results of nodes that may fail on purpose.
        without: Parts of the rule to leave out; only a test of the rule does that.
    """
    faults: list[Fault] = []
    memory = [executed.memory_of(name) for name in versions]
    readers = [executed.readers_of(names) for names in memory]
    shared = set().union(*memory)

    def fault(part: Part, version: int, value: str, op_type: str) -> None:
        if part not in without:
            faults.append(Fault(part, version, value, op_type))

    previous: int | None = None
    for k in range(1, len(versions)):
        writer = executed.producer.get(versions[k])
        if writer is None:
            fault(Part.PRODUCER, k, versions[k], "")
            continue
        node = executed.nodes[writer]
        for j in range(k):
            for reader in readers[j]:
                if reader != writer and not executed.precedes(reader, writer):
                    fault(Part.READERS, k, _result(executed, reader), node.op_type)
        if previous is not None and not executed.precedes(previous, writer):
            fault(Part.WRITERS, k, versions[k], node.op_type)
        inside = frozenset(at for at, name in enumerate(executed.operands[writer]) if name in shared)
        older = {at for at in inside if executed.operands[writer][at] not in memory[k - 1]}
        if older:
            fault(Part.OPERANDS, k, versions[k], node.op_type)
        elif inside and not may_overwrite(node.domain, node.op_type, inside):
            allowed = may_overwrite(node.domain, node.op_type, frozenset())
            fault(Part.OPERANDS if allowed and len(inside) > 1 else Part.KERNEL, k, versions[k], node.op_type)
        if k == 1:
            for check in checks:
                guard = executed.producer.get(check)
                if guard is not None and not executed.precedes(guard, writer):
                    fault(Part.CHECKS, k, check, node.op_type)
        previous = writer
    return faults


def _result(executed: ExecutedGraph, node: int) -> str:
    return next(str(name) for name in executed.nodes[node].output if name)
