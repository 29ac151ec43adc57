"""A part of a program that is repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GraphTypeError, TypeRuleError, UnsupportedError, user_location
from .. import ir
from ..coerce import tensor_of
from ..nesting import build_block
from ..type import TensorType
from ..value import BufferValue, TensorValue, TensorValueLike
from .cond import check_predicate
from .emitter import Emitter, Handle
from .registry import Refusal, op

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["while_loop"]


def while_loop(
    initial_values: Iterable[TensorValueLike] | TensorValueLike,
    predicate: Callable[..., TensorValue],
    body: Callable[..., Any],
) -> list[TensorValue]:
    """Runs a function's ops as long as a condition holds.

    Both functions are called once while the graph is built, with a tensor for each carried value. What they use of the
    graph around them is there inside: tensors, weights, and buffers, which both may load and the body may store.

    Args:
        initial_values: The carried values before the first round; a tensor, or several.
        predicate: From the carried values to a bool of rank 0: whether there is another round. It is asked before the
            first one, too.
        body: From the carried values to the next ones, of the same types.

    Returns:
        The carried values after the last round.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> types = [TensorType(DType.int64, [], DeviceRef.CPU()), TensorType(DType.float32, [2], DeviceRef.CPU())]
        >>> with Graph("power", input_types=types) as graph:
        ...     n, x = (value.tensor for value in graph.inputs)
        ...     _, result = ops.while_loop([n, x], lambda i, y: i > 1, lambda i, y: [i - 1, y * x])
        ...     graph.output(result)
        >>> print(result.type)
        float32[2]

    Raises:
        TypeError: A function is none or does not return tensors, or the body changes a type.
        ValueError: There is no initial value, the predicate gives no bool of rank 0, or it stores into a buffer.
        NotImplementedError: A buffer is among the initial values.
    """
    is_one = isinstance(initial_values, (TensorValue, BufferValue)) or not isinstance(initial_values, Iterable)
    several: list[Any] = [initial_values] if is_one else list(initial_values)  # type: ignore[arg-type]  # it is iterable
    where = user_location(columns=True)
    if not several:
        raise TypeRuleError("while_loop: there is no initial value", code="MG017", where=where)
    for at, value in enumerate(several):
        if isinstance(value, BufferValue):
            raise UnsupportedError(
                f"while_loop: `initial_values[{at}]` is a buffer",
                code="MG003",
                where=where,
                help="use the buffer inside the functions; it need not be carried",
            )
    carried = [tensor_of(v, what=f"while_loop: `initial_values[{at}]`") for at, v in enumerate(several)]
    types = [value.type for value in carried]
    blocks = [
        build_block("while_loop", "predicate", predicate, types),
        build_block("while_loop", "body", body, types),
    ]
    return _while_loop.with_blocks([value.to_mlir() for value in carried], blocks)


@op(name="while_loop", many=True, blocks=["predicate", "body"])
def _while_loop(initial_values: Iterable[TensorValueLike]) -> list[TensorValue]:  # type: ignore[empty-body]
    """A block that is repeated as long as another one says so."""


@_while_loop.types
def _(initial_values: list[TensorType], predicate: ir.Block, body: ir.Block) -> list[TensorType]:
    if not initial_values:
        raise Refusal("there is no initial value", code="MG017")
    for name, block in (("predicate", predicate), ("body", body)):
        if [param.type for param in block.params] != initial_values:
            raise Refusal(f"`{name}` takes other types than the initial values have", code="MG015")
    if len(predicate.results) != 1:
        message = f"`predicate` must return one bool, not {len(predicate.results)} values"
        raise Refusal(message, code="MG017", error=GraphTypeError)
    check_predicate(predicate.results[0].tensor_type, "predicate")
    if any(access & ir.Access.WRITE for node in predicate.nodes for _, access in node.effects):
        raise Refusal("`predicate` stores into a buffer", code="MG017", help="store in the body")
    found = [value.tensor_type for value in body.results]
    if len(found) != len(initial_values):
        message = f"`body` returns {len(found)} values, but {len(initial_values)} are carried"
        raise Refusal(message, code="MG015", error=GraphTypeError)
    for at, (given, wanted) in enumerate(zip(found, initial_values, strict=True)):
        if given != wanted:
            message = f"`body` returns {given} for the carried value {at}, which is {wanted}"
            raise Refusal(message, code="MG015", error=GraphTypeError, help="a carried value keeps its type")
    return initial_values


@_while_loop.lowers
def _(b: Emitter, initial_values: list[Handle], predicate: ir.Block, body: ir.Block) -> Sequence[Handle]:
    return b.while_loop(initial_values, predicate, body)


@_while_loop.reference
def _(initial_values: list[Array], predicate: Callable[..., Any], body: Callable[..., Any]) -> Sequence[Array]:
    values: Sequence[Array] = initial_values
    while predicate(*values)[0]:
        values = body(*values)
    return values
