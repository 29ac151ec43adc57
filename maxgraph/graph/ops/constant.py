"""Constants: numbers and arrays written into the graph, and weights by name."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import GraphTypeError, TypeRuleError, user_location
from .. import ir
from ..dtype_promotion import weak_fits
from ..graph import Graph
from ..ir import Literal, WeightRef
from ..type import DeviceRef, TensorType
from ..value import TensorValue
from .emitter import Emitter, Handle
from .registry import Refusal, op

if TYPE_CHECKING:
    import numpy as np

__all__ = ["as_array", "constant", "constant_external"]

_PACK = {
    DType.bool: "<?",
    DType.int8: "<b",
    DType.int16: "<h",
    DType.int32: "<i",
    DType.int64: "<q",
    DType.uint8: "<B",
    DType.uint16: "<H",
    DType.uint32: "<I",
    DType.uint64: "<Q",
    DType.float16: "<e",
    DType.float32: "<f",
    DType.float64: "<d",
}


def constant(
    value: object,
    dtype: DType | None = None,
    device: DeviceRef | Any | None = None,
) -> TensorValue:
    """A tensor whose elements are written into the graph.

    Args:
        value: A number, nested lists of numbers, or an array (numpy, or anything with DLPack).
        dtype: The element type; an array may leave it out and keeps its own.
        device: Where it lies; an array may leave it out and lies on the CPU.

    Returns:
        A tensor of the value's shape; a number gives rank 0.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, ops
        >>> with Graph("g") as graph:
        ...     half = ops.constant(0.5, DType.float32, DeviceRef.CPU())
        ...     graph.output(half)
        >>> print(half.type)
        float32[]

    Raises:
        TypeError: A number or list comes without dtype or device, or is ragged or not numeric.
        ValueError: An element does not fit the dtype.
    """
    graph = Graph.current
    is_number = isinstance(value, (bool, int, float))
    if (is_number or isinstance(value, (list, tuple))) and (dtype is None or device is None):
        raise GraphTypeError(
            "constant: a number or a list needs a dtype and a device",
            code="MG017",
            where=user_location(columns=True),
            help="e.g. ops.constant(1.0, DType.float32, DeviceRef.CPU())",
        )
    place = DeviceRef.CPU() if device is None else DeviceRef.from_device(device)
    if is_number and dtype in _PACK:
        return _constant(Literal(TensorType(dtype, [], place), _pack(value, dtype)))  # type: ignore[arg-type]  # checked above
    array = as_array(value, dtype)
    type_ = TensorType(DType.from_numpy(array.dtype), array.shape, place)
    if array.nbytes <= ir.LITERAL_BYTES:
        return _constant(Literal(type_, array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()))
    return _weight(graph.new_weight(None, type_, ir.ArrayData(array)), type_)


def _pack(value: float, dtype: DType) -> bytes:
    """The bytes of one number.

    Raises:
        ValueError: It does not fit.
    """
    reason = weak_fits(value, dtype) if not (isinstance(value, int) and dtype.is_float()) else None
    if reason is None:
        try:
            return struct.pack(_PACK[dtype], value)
        except OverflowError:
            if isinstance(value, float):  # rounds to infinity, as in numpy
                return struct.pack(_PACK[dtype], float("inf") if value > 0 else float("-inf"))
            reason = f"{value} does not fit {dtype.name}"
    raise TypeRuleError(f"constant: {reason}", code="MG016", where=user_location(columns=True))


def as_array(value: object, dtype: DType | None) -> np.ndarray[Any, Any]:
    """The value as a contiguous array of its own, in the dtype.

    Raises:
        TypeError, ValueError: See `constant`.
    """
    import numpy as np

    where = user_location(columns=True)
    try:
        is_foreign = hasattr(value, "__dlpack__") and not hasattr(value, "dtype")
        foreign: Any = value  # it has __dlpack__, where it is used as such
        source = np.from_dlpack(foreign) if is_foreign else np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        message = "constant: the value is not a regular array of numbers"
        raise GraphTypeError(message, code="MG017", where=where) from None
    if source.dtype.kind in "OUSMmc":
        raise GraphTypeError(f"constant: an array of {source.dtype} has no dtype here", code="MG016", where=where)
    if dtype is not None:
        if isinstance(value, (list, tuple)) and source.dtype.kind in "iu" and dtype.is_float():
            source = source.astype(np.float64)
        reason = weak_fits(source, dtype) if source.dtype.kind in "biuf" else None
        if reason is not None:
            raise TypeRuleError(f"constant: {reason}", code="MG016", where=where)
        source = source.astype(dtype.to_numpy())
    source = source.astype(source.dtype.newbyteorder("="), copy=False)
    try:
        DType.from_numpy(source.dtype)
    except ValueError as error:
        raise TypeRuleError(f"constant: {error}", code="MG016", where=where) from None
    # A copy: what the user does to the array later must not reach the graph.
    return np.array(source, order="C", copy=True)


def constant_external(
    name: str,
    type: TensorType,
    align: int | None = None,
    is_placeholder: bool = False,
) -> TensorValue:
    """A weight: a constant whose elements are given by name when the graph is saved or loaded.

    Args:
        name: Unique in the graph.
        type: Its type; static dims.
        align: Of no effect: elements are aligned for every element type.
        is_placeholder: `ops.call` of this graph puts its prefix before the name.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType, ops
        >>> with Graph("g") as graph:
        ...     w = ops.constant_external("w", TensorType(DType.float32, [2, 2], DeviceRef.CPU()))
        ...     graph.output(w)
        >>> print(w.type)
        float32[2, 2]

    Raises:
        ValueError: The name is malformed or used for another type, or a dim is not static.
    """
    del align
    graph = Graph.current
    known = graph.weights.get(name)
    if known is not None and known.type != type:
        raise TypeRuleError(
            f"constant_external: there is a weight `{name}` of another type",
            code="MG006",
            details=[("there", str(known.type)), ("given", str(type))],
            where=user_location(columns=True),
        )
    if not type.is_static:
        raise TypeRuleError(
            f"constant_external: weight `{name}` needs static dims, not {type.shape.text}",
            code="MG015",
            where=user_location(columns=True),
        )
    reference = (
        ir.WeightRef(name) if known is not None else graph.new_weight(name, type, None, placeholder=is_placeholder)
    )
    value = _weight(reference, type)
    value.to_mlir().name = name
    return value


@op(name="constant")
def _constant(value: Literal) -> TensorValue:  # type: ignore[empty-body]
    """A constant that is written into the node."""


@_constant.types
def _(value: Literal) -> TensorType:
    return value.type


@_constant.lowers
def _(b: Emitter, value: Literal) -> Handle:
    return b.constant(value.numpy(), value.type.dtype)


@_constant.reference
def _(value: Literal) -> np.ndarray[Any, Any]:
    return value.numpy()


@op(name="weight")
def _weight(weight: WeightRef, type: TensorType) -> TensorValue:  # type: ignore[empty-body]
    """A constant that is stored beside the graph."""


@_weight.types
def _(weight: WeightRef, type: TensorType) -> TensorType:
    if not type.is_static:
        raise Refusal(f"a weight needs static dims, not {type.shape.text}", code="MG015")
    return type


@_weight.lowers
def _(b: Emitter, weight: WeightRef, type: TensorType) -> Handle:
    return b.weight(weight.name)


@_weight.reference
def _(weight: np.ndarray[Any, Any], type: TensorType) -> np.ndarray[Any, Any]:
    # The interpreter resolves a WeightRef to its elements before it calls a meaning.
    return weight
