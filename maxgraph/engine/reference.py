"""A model that the numpy interpreter runs: the same checks, states and results, without onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence

from ..driver import Device
from ..graph.graph import Graph
from ..graph.type import BufferType
from ..lower.lowered import BufferBinding, Lowered, TensorBinding
from ..lower.plan import BufferPlan, Mode, Plan
from ..reference import Interpreter
from .arguments import Array
from .binding import Memory
from .model import Model, Runnable

__all__ = ["ReferenceModel"]


class ReferenceModel(Model):
    """See `Model`."""

    def __init__(self, graph: Graph, devices: Sequence[Device]) -> None:
        super().__init__(graph, _signature_of(graph), None, devices)
        self.plan = None
        self._interpreter = Interpreter(graph)

    def _make_binding(self, tensors: Sequence[Array], memories: Sequence[Memory], sizes: dict[str, int]) -> Runnable:
        del tensors, sizes
        return _Interpreted(self._interpreter, [t.name for t in self._lowered.inputs], memories)


class _Interpreted:
    def __init__(self, interpreter: Interpreter, names: Sequence[str], memories: Sequence[Memory]) -> None:
        self._interpreter = interpreter
        self._names = names
        self._memories = {memory.binding.name: memory.old for memory in memories}

    def run(self, tensors: Sequence[Array]) -> list[Array]:
        """One execution."""
        return list(self._interpreter.run(dict(zip(self._names, tensors, strict=True)), self._memories).values())


def _signature_of(graph: Graph) -> Lowered:
    """The signature in the form that `Model` reads it; there is no ONNX model."""
    inputs, buffers, rows = [], [], []
    position = 0
    for info in graph.signature:
        kind = info.value.type
        if isinstance(kind, BufferType):
            row = BufferPlan(info.name, Mode.UNTOUCHED, None, None, 0, "the interpreter changes it where it lies")
            place = position if info.state is None else None
            buffers.append(BufferBinding(info.name, kind, info.state, place, None, kind.shape, (), row))
            rows.append(row)
        else:
            inputs.append(TensorBinding(info.name, None, info.value.tensor_type, position))
        position += info.state is None
    outputs = [TensorBinding(name, None, v.tensor_type, at) for at, (name, v) in enumerate(graph.results)]
    return Lowered(
        graph_name=graph.name,
        model=b"",
        opset=0,
        provider="reference",
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        buffers=tuple(buffers),
        constants=frozenset(),
        external=(),
        index_checks=(),
        dim_checks=(),
        guards={},
        prints=(),
        plan=Plan(tuple(rows)),
    )
