"""Buffers: making, loading and storing. Slices of buffers are in `slicing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import GraphTypeError, TypeRuleError, user_location
from .. import ir
from ..graph import Graph
from ..names import check_name
from ..type import BufferType, TensorType
from ..value import BufferValue, BufferValueLike, TensorValue, TensorValueLike
from .emitter import Emitter, Handle
from .registry import Refusal, op
from .samples import b1, f32, i64

if TYPE_CHECKING:
    import numpy as np

__all__ = ["buffer_create", "buffer_load", "buffer_store", "check_store"]


def buffer_create(
    type: BufferType,
    init_value: float | np.ndarray[Any, Any] | None = None,
    *,
    name: str | None = None,
) -> BufferValue:
    """A buffer that the model owns.

    Args:
        type: Its type; static dims.
        init_value: What it holds before the first execution: a number for every element, or (beyond MAX) an array of
            its shape; the buffer then keeps its contents between executions. None makes scratch memory, zero at the
            start of each execution.
        name: What it is called in the file and in saved states; the variable that holds it if not given.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph, ops
        >>> with Graph("g") as graph:
        ...     total = ops.buffer_create(BufferType(DType.float32, [2], DeviceRef.CPU()), init_value=0.0)
        ...     total[...] = total[...] + 1
        ...     graph.output(total[...])

    Raises:
        TypeError: `type` is no `BufferType`, or `init_value` is no number or array.
        ValueError: A dim is not static, the initial value does not fit, or the name is taken.
    """
    graph = Graph.current
    where = user_location(columns=True)
    if not isinstance(type, BufferType):
        raise GraphTypeError(f"buffer_create: `type` must be a BufferType, not {type!r}", code="MG017", where=where)
    if not type.is_static:
        raise TypeRuleError(
            f"buffer_create: a buffer that the model owns needs static dims, not {type.shape.text}",
            code="MG015",
            where=where,
            help="pass a buffer of symbolic size as an input of the graph",
        )
    if name is not None:
        check_name(name, "a buffer")
    initial = None
    if init_value is not None and not (isinstance(init_value, (bool, int, float)) and _is_positive_zero(init_value)):
        initial = _initial_weight(graph, type, init_value, name)
    state = ir.StateInfo(name or "", type, initial, scratch=init_value is None)
    return graph.new_state(state).buffer


def _is_positive_zero(value: float) -> bool:
    return str(value) in ("0", "0.0", "False")


def _initial_weight(graph: Graph, type_: BufferType, value: object, name: str | None) -> str:
    """Registers the initial value as a weight; gives its name."""
    import numpy as np

    from .constant import as_array

    shape = type_.shape.evaluate({})
    array = as_array(value, type_.dtype)
    if isinstance(value, (bool, int, float)):
        array = np.full(shape, array)
    if array.shape != shape:
        raise TypeRuleError(
            "buffer_create: the initial value has another shape than the buffer",
            code="MG015",
            details=[("buffer", str(type_)), ("initial value", f"{array.dtype}{list(array.shape)}")],
            where=user_location(columns=True),
        )
    wanted = f"{name}.initial" if name is not None and f"{name}.initial" not in graph.weights else None
    return graph.new_weight(wanted, type_.as_tensor(), ir.ArrayData(array)).name


@op(reads=["x"])
def buffer_load(x: BufferValueLike) -> TensorValue:  # type: ignore[empty-body]
    """The contents of a buffer at this point of the program; later stores do not change them.

    Args:
        x: A buffer.

    Returns:
        A tensor of the buffer's dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph, ops
        >>> with Graph("g", input_types=[BufferType(DType.float32, [4], DeviceRef.CPU())]) as graph:
        ...     y = ops.buffer_load(graph.inputs[0].buffer)
        ...     graph.output(y)
        >>> print(y.type)
        float32[4]
    """


@buffer_load.types
def _(x: BufferType) -> TensorType:
    return x.as_tensor()


@buffer_load.lowers
def _(b: Emitter, x: Handle) -> Handle:
    return b.load(x)


@buffer_load.reference
def _(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.copy()


buffer_load.samples({"x": f32[4, 3].buffer}, {"x": i64[5].buffer})


def check_store(destination: BufferType, source: TensorType, wanted: TensorType) -> None:
    """Refuses a store that does not fit.

    Args:
        wanted: The type that the source must have.
    """
    if source.dtype is not wanted.dtype:
        raise Refusal(
            f"`source` is {source.dtype.name}, but `destination` holds {destination.dtype.name}",
            code="MG020",
            help=f"cast it: source.cast(DType.{destination.dtype.name})",
        )
    if source.shape != wanted.shape:
        place = "`destination` is" if list(wanted.shape) == list(destination.shape) else "the slice of `destination` is"
        axes = [str(a) for a, (s, d) in enumerate(zip(source.shape, wanted.shape, strict=False)) if s != d]
        where = f" (axis {', '.join(axes)})" if len(source.shape) == len(wanted.shape) else ""
        raise Refusal(
            f"`source` is {source.shape.text}, but {place} {wanted.shape.text}{where}",
            code="MG020",
            help="a store never broadcasts; use ops.broadcast_to or reshape first",
        )


@op(writes=["destination"])
def buffer_store(destination: BufferValueLike, source: TensorValueLike) -> None:
    """Overwrites a buffer.

    Args:
        destination: A buffer.
        source: A tensor of exactly its dtype and shape.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph, ops
        >>> with Graph("g", input_types=[BufferType(DType.float32, [4], DeviceRef.CPU())]) as graph:
        ...     state = graph.inputs[0].buffer
        ...     ops.buffer_store(state, ops.buffer_load(state) + 1)
        ...     graph.output()

    Raises:
        TypeError: `destination` is no buffer, or `source` no tensor.
        ValueError: The dtype or the shape differs (MAX checks only the dtype here).
    """


@buffer_store.types
def _(destination: BufferType, source: TensorType) -> None:
    check_store(destination, source, destination.as_tensor())


@buffer_store.lowers
def _(b: Emitter, destination: Handle, source: Handle) -> None:
    b.store(destination, source)


@buffer_store.reference
def _(destination: np.ndarray[Any, Any], source: np.ndarray[Any, Any]) -> None:
    destination[...] = source


buffer_store.samples(
    {"destination": f32[4, 3].buffer, "source": f32[4, 3]},
    {"destination": b1[5].buffer, "source": b1[5]},
    {"destination": f32[()].buffer, "source": f32[()]},
)
