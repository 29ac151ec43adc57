"""Building a nested block: a function of the user's is called, and what it does goes into the block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import GraphTypeError, user_location
from . import ir
from .coerce import tensor_of
from .graph import Graph
from .type import TensorType
from .value import TensorValue, Value, check_same_graph

__all__ = ["build_block"]


def build_block(op: str, name: str, function: Callable[..., Any], params: Sequence[TensorType] = ()) -> ir.Block:
    """The block that a function describes.

    Args:
        op: The op that the block is for, for messages.
        name: What the op calls the function.
        function: It is called once, with a tensor for each parameter. What it returns are the block's results: a
            tensor, several, or None.
        params: The types of the parameters.

    Raises:
        TypeError: It is no function, or does not return tensors.
    """
    if not callable(function):
        raise GraphTypeError(
            f"{op}: `{name}` must be a function, not {type(function).__name__}",
            code="MG017",
            where=user_location(columns=True),
        )
    graph = Graph.current
    block = ir.Block()
    with graph.inside(block):
        block.params = [graph.new_value(type_) for type_ in params]
        given = function(*(TensorValue(param) for param in block.params))
        several = [] if given is None else list(given) if _is_many(given) else [given]
        results = [tensor_of(v, what=f"{op}: result {at} of `{name}`").to_mlir() for at, v in enumerate(several)]
        check_same_graph(results, graph, op)
    block.results = results
    return block


def _is_many(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, (Value, str))
