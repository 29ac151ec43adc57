"""Values that are known before the graph runs, so that a branch that is certain is written without an If.

Onnxruntime's optimiser does the same, but where such branches lie inside one another it may crash; so it never meets
an If whose predicate it could compute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..graph import ir
from ..graph.ops.registry import Refusal
from ..graph.shape import Shape
from ..graph.type import static_dim

__all__ = ["KnownValues"]


class KnownValues:
    """What follows from constants and weights alone. Nodes are noted as they are emitted, and evaluated when asked.

    Args:
        weights: The graph's weights, with their elements.
    """

    def __init__(self, weights: Mapping[str, ir.WeightInfo]) -> None:
        self._weights = weights
        #: Values that follow from constants, each with the one that it is, where it is another's result.
        self._constant: dict[ir.Value, ir.Value] = {}
        self._found: dict[ir.Value, Any] = {}

    def note(self, node: ir.Node) -> None:
        """Takes notice of a node, after those that it uses."""
        if not (node.blocks or node.effects) and all(operand in self._constant for operand in node.operands):
            self._constant.update((result, result) for result in node.results)

    def note_same(self, results: Sequence[ir.Value], values: Sequence[ir.Value]) -> None:
        """Takes notice of the results of a branch that is certain, which are values in it."""
        for result, value in zip(results, values, strict=True):
            if value in self._constant:
                self._constant[result] = self._constant[value]

    def of(self, value: ir.Value) -> Any:
        """The value's elements; None where they are not known."""
        if value not in self._constant:
            return None
        wanted = self._constant[value]
        pending = [wanted]
        while pending:
            node = pending[-1].node
            operands = () if node is None else [self._constant[operand] for operand in node.operands]
            missing = [operand for operand in operands if operand not in self._found]
            pending += missing
            if not missing:
                pending.pop()
                if node is not None:
                    self._found.update(zip(node.results, self._evaluate(node, operands), strict=True))
        return self._found[wanted]

    def _evaluate(self, node: ir.Node, operands: Sequence[ir.Value]) -> Sequence[Any]:
        arrays = [self._found[operand] for operand in operands]
        attributes = {name: self._attribute(value) for name, value in node.attributes.items()}
        if not any(part is None for part in (*arrays, *attributes.values())):
            try:
                return node.op.evaluate(arrays, replace(node, attributes=attributes))
            except Refusal:  # that is for the execution to say
                pass
        return [None] * len(node.results)

    def _attribute(self, value: ir.Attribute) -> Any:
        """An attribute as a meaning takes it; None where that depends on the sizes of an execution."""
        if isinstance(value, Shape):
            sizes = tuple(static_dim(dim) for dim in value)
            return None if None in sizes else sizes
        if isinstance(value, ir.WeightRef):
            data = self._weights[value.name].data
            return None if data is None else data.numpy()
        return value
