"""What lowering hands to the engine: an ONNX model and how to bind its inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..errors import SourceLocation
from ..graph.dim import Dim
from ..graph.ir import StateInfo, WeightInfo
from ..graph.shape import Shape
from ..graph.type import BufferType, TensorType
from .plan import BufferPlan, Plan

__all__ = [
    "BufferBinding",
    "DimCheck",
    "Entry",
    "ExternalWeight",
    "IndexCheck",
    "IndexInput",
    "InputView",
    "Lowered",
    "PrintBinding",
    "Region",
    "RegionAxis",
    "Risk",
    "TensorBinding",
    "Version",
]


@dataclass(frozen=True, slots=True)
class TensorBinding:
    """A tensor that goes in or out.

    Attributes:
        name: The user's name.
        onnx_name: The model's name for it; None for an input that the optimised model does not read.
        type: Its type; dims may be symbolic.
        position: Its place among the inputs that callers pass (buffers counted), or among the outputs.
    """

    name: str
    onnx_name: str | None
    type: TensorType
    position: int


@dataclass(frozen=True, slots=True)
class Version:
    """One value of a buffer, as an output of the model, under the shape that its writer wants.

    The shape has the buffer's number of elements, in the same order.
    """

    onnx_name: str
    shape: Shape


class Risk(Enum):
    """What may fail in an execution that has begun to overwrite a buffer; a larger value includes the smaller ones.

    - NONE: nothing; that is proved.
    - SMALL: onnxruntime may find no memory for small values in between, of some KiB each.
    - MEMORY: onnxruntime may find no memory for a value in between.
    - DATA: a check, or an operator of which nothing is known.
    """

    NONE = 0
    SMALL = 1
    MEMORY = 2
    DATA = 3


@dataclass(frozen=True, slots=True)
class IndexInput:
    """A start that is the value of a tensor input, counted from the end where it is negative.

    Attributes:
        position: The input's place among the inputs that callers pass.
    """

    position: int


@dataclass(frozen=True, slots=True)
class RegionAxis:
    """``extent`` elements from ``start`` on, every ``step``-th; the sizes may be symbolic."""

    start: Dim | IndexInput
    extent: Dim
    step: int


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a buffer whose place is known before the graph runs; without axes, all of it."""

    axes: tuple[RegionAxis, ...]


@dataclass(frozen=True, slots=True)
class BufferBinding:
    """A buffer.

    Attributes:
        name: Its name.
        type: Its type; dims are symbolic only where the caller passes it.
        state: Set where the model owns it.
        position: Its place among the inputs that callers pass; None where the model owns it.
        onnx_name: The model's input for it; None if nothing reads its old contents.
        onnx_shape: The shape that this input has.
        versions: Its values after each store. Where ``plan.mode.shares_memory``, all of them are bound to the
            buffer's own memory; else there is at most one, bound to a second memory.
        plan: Its row of the plan.
        before: The nodes that have run when its own memory is first written to, as a hexadecimal number: bit i stands
            for the node that is called ``n<i>``. Empty where its own memory is not written to while the graph runs.
        risk: What may fail once its own memory has been written to.
        kept: What the engine keeps while the graph runs, and puts back if it fails; nothing where that is not
            needed, or too dear.
    """

    name: str
    type: BufferType
    state: StateInfo | None
    position: int | None
    onnx_name: str | None
    onnx_shape: Shape
    versions: tuple[Version, ...]
    plan: BufferPlan
    before: str = ""
    risk: Risk = Risk.NONE
    kept: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """A tensor input that is an index: it is checked before anything runs.

    Its value ``v`` (from the end where negative) must satisfy ``low <= v`` and ``v <= high`` after ``v += size`` where
    it is negative; all three may be symbolic.

    Attributes:
        position: The input's place among the inputs that callers pass.
        message: The error's text, in which ``{value}`` and ``{size}`` are filled in.
    """

    position: int
    size: Dim
    low: Dim
    high: Dim
    message: str
    where: SourceLocation | None


@dataclass(frozen=True, slots=True)
class DimCheck:
    """``low <= value`` must hold for the sizes of one execution."""

    value: Dim
    low: Dim
    message: str
    where: SourceLocation | None


@dataclass(frozen=True, slots=True)
class PrintBinding:
    """An output that is shown after each execution, in this order."""

    onnx_name: str
    label: str
    type: TensorType


@dataclass(frozen=True, slots=True)
class ExternalWeight:
    """A weight that the model still names as external data, to be given by `add_external_initializers`.

    Attributes:
        folded: The optimiser made it; else it is one of the graph's.
    """

    onnx_name: str
    weight: WeightInfo
    folded: bool = False


@dataclass(frozen=True, slots=True)
class InputView:
    """An input over the memory of another one, under another shape."""

    source: str
    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A form of the model that is quicker to call.

    Attributes:
        model: The model with some inputs under several shapes, and fewer nodes.
        views: The inputs that it has in addition.
        unread: The inputs that it does not have any more.
    """

    model: bytes
    views: tuple[InputView, ...]
    unread: frozenset[str]


@dataclass(frozen=True, slots=True)
class Lowered:
    """A graph, lowered, optimised and proved for one provider.

    Attributes:
        model: The optimised ONNX model; it is run exactly as it is (``ORT_DISABLE_ALL``). Empty where the graph
            computes nothing.
        inputs, outputs: The tensors; outputs that the optimiser turned into constants are in `constants`.
        buffers: The buffers, in the order of the signature.
        constants: ONNX outputs that are no node's result, so that onnxruntime gives its own memory for them: their
            results are copied out.
        entry: The same model in a form that is quicker to call; None if there is none.
        guards: The message and line of each check inside the graph, by the name of the node that fails.
    """

    graph_name: str
    model: bytes
    opset: int
    provider: str
    inputs: tuple[TensorBinding, ...]
    outputs: tuple[TensorBinding, ...]
    buffers: tuple[BufferBinding, ...]
    constants: frozenset[str]
    external: tuple[ExternalWeight, ...]
    index_checks: tuple[IndexCheck, ...]
    dim_checks: tuple[DimCheck, ...]
    guards: dict[str, tuple[str, SourceLocation | None]]
    prints: tuple[PrintBinding, ...]
    plan: Plan
    entry: Entry | None = None
