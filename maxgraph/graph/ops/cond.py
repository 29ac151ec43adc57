"""One of two parts of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import GraphTypeError, user_location
from .. import ir
from ..nesting import build_block
from ..type import TensorType, Type
from ..value import TensorValue, TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .registry import Refusal, op

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["check_predicate", "cond"]


def cond(
    pred: TensorValueLike,
    out_types: Iterable[Type] | None,
    then_fn: Callable[[], Any],
    else_fn: Callable[[], Any],
) -> list[TensorValue]:
    """Runs one of two functions' ops, by a condition that the execution computes.

    Both functions are called once while the graph is built. What they use of the graph around them is there inside:
    tensors, weights, and buffers, which may be loaded and stored; what the branch that was taken has stored is there
    afterwards, and the other branch has done nothing.

    Args:
        pred: A bool of rank 0.
        out_types: The types of the results of both; None or empty if they have none.
        then_fn: What is done where `pred` holds; it returns a tensor, several, or None.
        else_fn: What is done otherwise; its results have the same types.

    Returns:
        The results of the branch that was taken.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
        >>> cpu = DeviceRef.CPU()
        >>> types = [BufferType(DType.float32, [2], cpu), TensorType(DType.bool, [], cpu)]
        >>> with Graph("g", input_types=types) as graph:
        ...     total, negate = graph.inputs[0].buffer, graph.inputs[1].tensor
        ...     def subtract():
        ...         total[...] = total[...] - 1
        ...         return -total[...]
        ...     (shown,) = ops.cond(negate, [TensorType(DType.float32, [2], cpu)], subtract, lambda: total[...])
        ...     graph.output(shown)
        >>> print(shown.type)
        float32[2]

    Raises:
        TypeError: A function is none, does not return tensors, or returns other types than `out_types`.
        ValueError: `pred` is no bool of rank 0 on the CPU, or a value of a branch is used outside it.
    """
    condition = tensor_operand(pred, "cond", "pred")
    wanted = list(out_types or ())
    for at, type_ in enumerate(wanted):
        if not isinstance(type_, TensorType):
            raise GraphTypeError(
                f"cond: `out_types[{at}]` must be a TensorType, not {type_!r}",
                code="MG017",
                where=user_location(columns=True),
                help="a buffer is changed inside a branch, and never its result",
            )
    blocks = []
    for name, function in (("then_fn", then_fn), ("else_fn", else_fn)):
        block = build_block("cond", name, function)
        given = [value.type for value in block.results]
        if given != wanted:
            raise GraphTypeError(
                f"cond: `{name}` does not return what `out_types` says",
                code="MG015",
                details=[("wanted", _types_text(wanted)), ("given", _types_text(given))],
                where=user_location(columns=True),
            )
        blocks.append(block)
    return _cond.with_blocks([condition.to_mlir()], blocks)


def _types_text(types: Sequence[object]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def check_predicate(type_: TensorType, name: str) -> None:
    """Refuses what decides nothing.

    Raises:
        Refusal: It is no bool of rank 0 on the CPU.
    """
    if type_.dtype is not DType.bool or type_.rank or not type_.device.is_cpu():
        raise Refusal(
            f"`{name}` must be a bool of rank 0 on the CPU, not {type_}",
            code="MG016",
            help="compare with something, and take one element, e.g. (x > 0)[0]",
        )


@op(name="cond", blocks=["then_block", "else_block"])
def _cond(pred: TensorValueLike) -> Any:
    """One of two blocks."""


@_cond.types
def _(pred: TensorType, then_block: ir.Block, else_block: ir.Block) -> list[TensorType]:
    check_predicate(pred, "pred")
    if then_block.params or else_block.params:
        raise Refusal("a branch takes no parameters", code="MG017")
    found = [value.tensor_type for value in then_block.results]
    if found != [value.tensor_type for value in else_block.results]:
        raise Refusal("the branches have results of different types", code="MG015", error=GraphTypeError)
    return found


@_cond.lowers
def _(b: Emitter, pred: Handle, then_block: ir.Block, else_block: ir.Block) -> Sequence[Handle]:
    return b.cond(pred, then_block, else_block)


@_cond.reference
def _(pred: Array, then_block: Callable[..., Any], else_block: Callable[..., Any]) -> Sequence[Array]:
    found: Sequence[Array] = then_block() if pred else else_block()
    return found
