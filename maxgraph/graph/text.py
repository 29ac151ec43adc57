"""Graphs as text, for people; never parsed back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import ir
from .shape import Shape
from .type import BufferType

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["access_text", "attribute_text", "graph_text", "node_text", "number_values"]


def number_values(graph: Graph) -> dict[ir.Value, int]:
    """The number of every value, as in the file: inputs first, then for each node its blocks and its results."""
    numbers: dict[ir.Value, int] = {}

    def define(value: ir.Value) -> None:
        numbers[value] = len(numbers) + 1

    def walk(block: ir.Block) -> None:
        for node in block.nodes:
            for inner in node.blocks:
                for parameter in inner.params:
                    define(parameter)
                walk(inner)
            for result in node.results:
                define(result)

    for info in graph.signature:
        define(info.value)
    walk(graph.body)
    return numbers


def attribute_text(value: ir.Attribute) -> str:
    """An attribute, shortened where it is long."""
    if isinstance(value, ir.Literal):
        elements = value.numpy().tolist() if len(value.data) <= 64 else "..."
        return f"{value.type} {elements}"
    if isinstance(value, ir.WeightRef):
        return f'weight "{value.name}"'
    if isinstance(value, Shape):
        return value.text
    if isinstance(value, tuple):
        return "[" + ", ".join(str(v) for v in value) + "]"
    return repr(value) if isinstance(value, (str, float)) else str(value)


def access_text(access: ir.Access) -> str:
    """What is done, as "read", "write" or "read_write"; empty for a buffer that is not touched."""
    return "_".join(verb for part, verb in ((ir.Access.READ, "read"), (ir.Access.WRITE, "write")) if access & part)


def node_text(node: ir.Node, numbers: dict[ir.Value, int]) -> str:
    """One node on one line."""
    results = ", ".join(f"%{numbers[r]}" for r in node.results)
    operands = ", ".join(f"%{numbers[o]}" for o in node.operands)
    text = f"{node.op.domain}.{node.op.name}@{node.op.version}({operands})"
    if node.op.name == "constant":
        text = text.removesuffix("()")
    if node.attributes:
        text += " {" + ", ".join(f"{k} = {attribute_text(v)}" for k, v in node.attributes.items()) + "}"
    if node.results and node.op.name != "constant":
        text += " : " + ", ".join(str(r.type) for r in node.results)
    for access, verb in ((ir.Access.READ, "reads"), (ir.Access.WRITE, "writes")):
        touched = [f"%{numbers[b]}" for b, a in node.effects if a & access]
        if touched:
            text += f"   {verb} " + ", ".join(touched)
    return f"{results} = {text}" if results else text


def graph_text(graph: Graph) -> str:
    """The signature and every node, in program order."""
    numbers = number_values(graph)
    access = graph.access()
    inputs = []
    for info in graph.signature:
        kind = info.value.type
        text = f'%{numbers[info.value]} "{info.name}": {kind}'
        if isinstance(kind, BufferType) and access[info.value]:
            text += f" {access_text(access[info.value])}"
        if info.state is not None:
            text += " scratch" if info.state.scratch else " state"
        inputs.append(text)
    outputs = ", ".join(f'"{name}": %{numbers[value]}' for name, value in graph.results)
    lines = [f"graph @{graph.name}({', '.join(inputs)}) -> ({outputs})"]
    lines += _block_lines(graph.body, numbers, "  ")
    return "\n".join(lines)


def _block_lines(block: ir.Block, numbers: dict[ir.Value, int], indent: str) -> Iterator[str]:
    """The nodes of a block, each followed by its own blocks."""
    for node in block.nodes:
        yield indent + node_text(node, numbers)
        for name, inner in zip(node.op.blocks, node.blocks, strict=True):
            params = ", ".join(f"%{numbers[param]}: {param.type}" for param in inner.params)
            results = ", ".join(f"%{numbers[result]}" for result in inner.results)
            yield f"{indent}  {name}({params}) -> ({results})"
            yield from _block_lines(inner, numbers, indent + "    ")
