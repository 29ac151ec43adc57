"""A graph's nodes written into another graph, with other operands: how a subgraph is called, and a graph copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from ..errors import MaxGraphError, TypeRuleError, user_location
from . import ir
from .dim import Dim
from .shape import Shape
from .type import BufferType, TensorType

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["Inliner"]

T = TypeVar("T", bound=TensorType | BufferType)


class Inliner:
    """Writes the nodes of one graph into the block that is open in another.

    A call is nothing but its nodes in their order: what the callee stores, the caller sees, and what the caller stored
    before, the callee.

    Args:
        source: A finished graph.
        target: The graph that it is written into.
        prefix: Put before the names of weights that were declared as placeholders.
        suffix: Put behind symbols that the source makes itself, such as a length that depends on data: in another call
            they are other sizes.
    """

    def __init__(self, source: Graph, target: Graph, *, prefix: str = "", suffix: str = "") -> None:
        self._source = source
        self._target = target
        self._prefix = prefix
        self._suffix = suffix
        self._values: dict[ir.Value, ir.Value] = {}
        self._symbols: dict[str, Dim] = {}
        self._weights: dict[str, str] = {}

    def run(self, operands: Sequence[ir.Value]) -> list[ir.Value]:
        """Writes the nodes; gives the values of the source's outputs.

        Args:
            operands: A value for each input that a caller of the source passes.

        Raises:
            ValueError: A value does not fit its input, a symbol would have two sizes, or an op does not take the
                sizes that follow.
        """
        given = iter(operands)
        inputs = [info for info in self._source.signature if info.state is None]
        for info, operand in zip(inputs, operands, strict=True):
            self._bind(info, operand)
        for info, operand in zip(inputs, operands, strict=True):
            self._check_type(info, operand)
        for info in self._source.signature:
            self._values[info.value] = self._state(info.state) if info.state is not None else next(given)
        self._block(self._source.body)
        return [self._values[value] for _, value in self._source.results]

    def _bind(self, info: ir.InputInfo, operand: ir.Value) -> None:
        """Gives the symbols of an input the dims that the operand has there."""
        wanted = info.value.type
        if type(operand.type) is not type(wanted) or operand.type.rank != wanted.rank:
            raise self._misfit(info, operand, wanted)
        for dim, actual in zip(wanted.shape, operand.type.shape, strict=True):
            if dim.polynomial.name is not None:
                self._symbols.setdefault(dim.polynomial.name, actual)

    def _check_type(self, info: ir.InputInfo, operand: ir.Value) -> None:
        wanted = info.value.type
        if self._type(wanted) != operand.type:
            raise self._misfit(info, operand, self._type(wanted))

    def _misfit(self, info: ir.InputInfo, operand: ir.Value, wanted: TensorType | BufferType) -> TypeRuleError:
        return TypeRuleError(
            f"call: input `{info.name}` of graph `{self._source.name}` cannot be a {operand.type}",
            code="MG015",
            details=[("declared", str(info.value.type)), ("wanted here", str(wanted)), ("given", str(operand.type))],
            where=user_location(columns=True),
        )

    def _state(self, state: ir.StateInfo) -> ir.Value:
        """A buffer of the caller's own for one that the source made: each call has its own."""
        initial = self._weight(state.initial) if state.initial is not None else None
        taken = {info.name for info in self._target.signature}
        name, number = state.name, 0
        while name in taken:
            number += 1
            name = f"{state.name}{number}"
        return self._target.new_state(ir.StateInfo(name, state.type, initial, state.scratch)).to_mlir()

    def _weight(self, name: str) -> str:
        """The name in the target of a weight of the source."""
        known = self._weights.get(name)
        if known is not None:
            return known
        info = self._source.weights[name]
        wanted = f"{self._prefix}{name}" if info.placeholder else name
        there = self._target.weights.get(wanted)
        if there is not None and there.type == info.type and there.data is info.data:
            found = wanted  # from an earlier call, or the same external weight
        elif there is not None and info.data is None:
            raise TypeRuleError(
                f"call: graph `{self._target.name}` already has another weight `{wanted}`",
                code="MG006",
                details=[("there", str(there.type)), ("in the subgraph", str(info.type))],
                where=user_location(columns=True),
            )
        else:
            placeholder = info.placeholder and not self._prefix
            fresh = None if there is not None else wanted
            found = self._target.new_weight(fresh, info.type, info.data, placeholder=placeholder).name
        self._weights[name] = found
        return found

    def _block(self, source: ir.Block) -> None:
        for node in source.nodes:
            self._node(node)

    def _node(self, node: ir.Node) -> None:
        operands = tuple(self._values[value] for value in node.operands)
        attributes = {name: self._attribute(value) for name, value in node.attributes.items()}
        blocks = tuple(self._inner(block) for block in node.blocks)
        made = ir.Node(node.op, operands, node.segments, attributes, blocks=blocks, location=node.location)
        results = node.op.add(self._target, made, self._result_types(node, made))
        self._values.update(zip(node.results, results, strict=True))

    def _result_types(self, node: ir.Node, made: ir.Node) -> Sequence[TensorType]:
        from .ops.parameters import Refusal

        try:
            return node.op.infer([value.type for value in made.operands], made.segments, made.attributes, made.blocks)
        except Refusal as refusal:
            raise self._refused(node, refusal) from None

    def _refused(self, node: ir.Node, refusal: Exception) -> MaxGraphError:
        """An op that took the declared sizes does not take those of this call."""
        sizes = [(name, str(dim)) for name, dim in self._symbols.items()]
        return TypeRuleError(
            f"call of graph `{self._source.name}`: {node.op.name} at {node.location}: {refusal}",
            code="MG015",
            details=sizes,
            where=user_location(columns=True),
        )

    def _inner(self, block: ir.Block) -> ir.Block:
        made = ir.Block()
        with self._target.inside(made):
            for param in block.params:
                value = self._values[param] = self._target.new_value(self._type(param.type))
                made.params.append(value)
            self._block(block)
        made.results = [self._values[value] for value in block.results]
        return made

    def _attribute(self, value: ir.Attribute) -> ir.Attribute:
        if isinstance(value, Shape):
            return Shape(self._dim(dim) for dim in value)
        if isinstance(value, (TensorType, BufferType)):
            return self._type(value)
        if isinstance(value, ir.WeightRef):
            return ir.WeightRef(self._weight(value.name))
        return value

    def _type(self, type_: T) -> T:
        return type(type_)(type_.dtype, [self._dim(dim) for dim in type_.shape], type_.device)

    def _dim(self, dim: Dim) -> Dim:
        for symbol in dim.parameters:
            self._symbols.setdefault(symbol.name, Dim(symbol.name + self._suffix))
        mapping: Mapping[str, Dim] = self._symbols
        return dim.substitute(mapping)
