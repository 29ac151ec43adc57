"""Values shown to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import UnsupportedError, user_location
from ..graph import Graph
from ..type import TensorType
from ..value import TensorValueLike
from .coerced import tensor_operand
from .emitter import Emitter, Handle
from .registry import op
from .samples import b1, bf16, f32, i64

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["print_", "printed"]


def print_(value: TensorValueLike, label: str = "debug_tensor") -> None:
    """Shows a tensor on standard output each time the graph has run; several in program order.

    Args:
        value: A tensor.
        label: What is written before it.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g", input_types=[TensorType(DType.float32, [2], DeviceRef.CPU())]) as graph:
        ...     ops.print(graph.inputs[0].tensor, "x")
        ...     graph.output()

    Raises:
        NotImplementedError: It is inside a branch or a loop.
    """
    tensor = tensor_operand(value, "print", "value")
    if tensor.to_mlir().block is not None or Graph.current.block is not Graph.current.body:
        raise UnsupportedError(
            "print: a branch or a loop cannot print",
            code="MG017",
            where=user_location(columns=True),
            help="make the value a result of it, and print that",
        )
    _print(tensor, label)


@op(name="print")
def _print(x: TensorValueLike, label: str) -> None:
    """Shows a tensor."""


@_print.types
def _(x: TensorType, label: str) -> None:
    """Any tensor can be shown."""


@_print.lowers
def _(b: Emitter, x: Handle, label: str) -> None:
    b.print(label, x)


@_print.reference
def _(x: Array, label: str) -> None:
    print(printed(label, x))  # noqa: T201 - this is what the op is for


def printed(label: str, x: Array) -> str:
    """What is shown of a tensor; a label may come from a stranger's file, so nothing in it reaches the terminal raw."""
    label = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in label[:256])
    return f"{label}: {x.dtype.name}{list(x.shape)} {x.tolist() if x.ndim == 0 else x}"


_print.samples(
    {"x": f32[2, 2], "label": "a"},
    {"x": i64[()], "label": "b"},
    {"x": bf16["n:3"], "label": ""},
    {"x": b1[0, 2], "label": "of nothing"},
)
