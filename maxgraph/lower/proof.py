"""The proof that versions of a buffer may lie in one memory, on the graph that onnxruntime will execute.

For a buffer whose versions ``0..n`` share memory, and the node W that writes version k, it must hold that

1. every node that reads an earlier version, or a view of one, is W itself or an ancestor of W, and the writer of
   version k-1 is an ancestor of W: then any topological order runs them first;
2. if W itself reads the buffer, it reads version k-1 only, through an operand that its kernel may overwrite;
3. no other operand of W shares memory with the buffer;
4. W is a node of a known operator, and yields the version itself;
5. every check that may fail is an ancestor of the first W, so that a failing execution has written nothing.

An If may be W if in each of its branches the same holds of the node that yields the new value there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from .executed import ExecutedGraph
from .kernels import VIEWS, may_overwrite

__all__ = ["Fault", "Part", "prove_shared"]


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


def prove_shared(
    executed: ExecutedGraph,
    versions: Sequence[str],
    checks: Collection[str],
    *,
    aliases: Mapping[str, Collection[str]] = MappingProxyType({}),
    without: frozenset[Part] = frozenset(),
) -> list[Fault]:
    """What forbids one memory for all these values of a buffer; empty: it is proved.

    Args:
        executed: The graph that is executed.
        versions: The buffer's input, then each version.
        checks: Results of nodes that may fail on purpose, those inside branches and loops among them.
        aliases: For an input, others that are bound to the same memory.
        without: Parts of the rule to leave out; only a test of the rule does that.
    """
    faults: list[Fault] = []
    memory = [executed.memory_of(name, *aliases.get(name, ())) for name in versions]
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
        elif _is_if(executed, writer):
            for part in _branch_faults(executed, writer, versions[k], memory[k - 1], checks):
                fault(part, k, versions[k], node.op_type)
        elif inside and not may_overwrite(node, inside, list(node.output).index(versions[k])):
            allowed = may_overwrite(node, frozenset(), list(node.output).index(versions[k]))
            fault(Part.OPERANDS if allowed and len(inside) > 1 else Part.KERNEL, k, versions[k], node.op_type)
        if k == 1:
            for check in checks:
                guard = executed.producer.get(check)
                # A check in a branch of the writer itself was looked at there.
                in_writer = guard == writer and _is_if(executed, writer)
                if guard is not None and not in_writer and not executed.precedes(guard, writer):
                    fault(Part.CHECKS, k, check, node.op_type)
        previous = writer
    return faults


def _result(executed: ExecutedGraph, node: int) -> str:
    return next(str(name) for name in executed.nodes[node].output if name)


def _is_if(executed: ExecutedGraph, node: int) -> bool:
    return executed.nodes[node].op_type == "If" and not executed.nodes[node].domain


def _branch_faults(
    executed: ExecutedGraph, node: int, version: str, old: Set[str], checks: Collection[str]
) -> Iterator[Part]:
    """What forbids an If to yield a version in the memory of the one before.

    Args:
        executed: The graph that holds the If.
        node: The If.
        version: Its output.
        old: The names of the memory that it would write.
        checks: Results of nodes that may fail on purpose.
    """
    position = list(executed.nodes[node].output).index(version)
    for branch in executed.branches(node):
        new = branch.graph.output[position].name
        memory = branch.memory_of(*old)
        writer = branch.producer.get(new)
        if writer is None:
            yield Part.PRODUCER
            continue
        maker = branch.nodes[writer]
        if maker.op_type in VIEWS and not maker.domain and maker.input[0] in memory:
            continue  # the branch leaves the buffer as it is
        if any(reader != writer and not branch.precedes(reader, writer) for reader in branch.readers_of(memory)):
            yield Part.READERS
        inside = frozenset(at for at, name in enumerate(branch.operands[writer]) if name in memory)
        if _is_if(branch, writer):
            yield from _branch_faults(branch, writer, new, memory, checks)
        elif inside and not may_overwrite(maker, inside, list(maker.output).index(new)):
            yield Part.KERNEL
        for check in checks:
            guard = branch.producer.get(check)
            in_writer = guard == writer and _is_if(branch, writer)
            if guard is not None and not in_writer and not branch.precedes(guard, writer):
                yield Part.CHECKS
