"""Runs a graph node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError, InternalError, suggest
from ..graph import ir
from ..graph.graph import Graph
from ..graph.ops.registry import Refusal
from ..graph.shape import Shape
from ..graph.type import BufferType
from .symbols import Symbols

__all__ = ["Interpreter"]

Array = np.ndarray[Any, Any]


class Interpreter:
    """The interpreter of one graph.

    Args:
        graph: A finished graph.
        weights: Elements of the weights that the graph does not hold itself, by name.

    Example:
        >>> import numpy as np
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph
        >>> with Graph("count", input_types=[BufferType(DType.int64, [2], DeviceRef.CPU())]) as graph:
        ...     total = graph.inputs[0].buffer
        ...     total[...] = total[...] + 1
        ...     graph.output(total[...])
        >>> memory = np.zeros(2, np.int64)
        >>> Interpreter(graph).run({}, {"total": memory})["output0"].tolist(), memory.tolist()
        ([1, 1], [1, 1])
    """

    def __init__(self, graph: Graph, weights: Mapping[str, Array] | None = None) -> None:
        self._graph = graph
        self._weights = dict(weights or {})

    def run(self, inputs: Mapping[str, Array], buffers: Mapping[str, Array]) -> dict[str, Array]:
        """One execution.

        Args:
            inputs: An array for each tensor input.
            buffers: An array for each buffer, also those that the model owns; they are changed in place. Scratch
                buffers may be left out, and are zero at the start in any case.

        Returns:
            The outputs by name; arrays of the caller's own.

        Raises:
            InputError: An array is missing, or its dtype or shape does not fit.
            ExecutionError: The graph fails on this data; every buffer is as it was before.
        """
        given = {info.name: buffers[info.name] for info in self._graph.buffers if info.name in buffers}
        before = {name: memory.copy() for name, memory in given.items()}
        try:
            for info in self._graph.buffers:
                if info.state is not None and info.state.scratch:
                    shape, dtype = info.value.type.shape.evaluate({}), info.value.type.dtype.to_numpy()
                    given.setdefault(info.name, np.empty(shape, dtype))[...] = 0
            return self._run(inputs, given)
        except BaseException:
            for name, contents in before.items():
                given[name][...] = contents
            raise

    def _run(self, inputs: Mapping[str, Array], buffers: Mapping[str, Array]) -> dict[str, Array]:
        symbols = Symbols()
        values: dict[ir.Value, Array] = {}
        for info in self._graph.signature:
            is_buffer = isinstance(info.value.type, BufferType)
            source, noun = (buffers, "buffer") if is_buffer else (inputs, "input")
            if info.name not in source:
                raise InputError(
                    f"{noun} `{info.name}` is missing", code="MG030", help=suggest(info.name, list(source))
                )
            array = source[info.name]
            wanted = info.value.type.dtype.to_numpy()
            if array.dtype != wanted:
                raise InputError(f"{noun} `{info.name}` has dtype {array.dtype}, not {wanted}", code="MG032")
            symbols.bind_input(info.name, info.value.type.shape, array.shape)
            values[info.value] = array
        self._block(self._graph.body, values, symbols)
        return {name: np.array(values[value], copy=True) for name, value in self._graph.results}

    def _block(self, block: ir.Block, values: dict[ir.Value, Array], symbols: Symbols) -> None:
        for node in block.nodes:
            self._step(node, values, symbols)

    def _inner(self, block: ir.Block, values: dict[ir.Value, Array], symbols: Symbols) -> Callable[..., list[Array]]:
        """A nested block as a function; sizes that it binds are its own, and may differ each time."""

        def run(*arguments: Array) -> list[Array]:
            inner = symbols.copy()
            values.update(zip(block.params, arguments, strict=True))
            self._block(block, values, inner)
            return [values[value] for value in block.results]

        return run

    def _step(self, node: ir.Node, values: dict[ir.Value, Array], symbols: Symbols) -> None:
        """Evaluates one node."""
        resolved = {name: self._resolve(value, symbols) for name, value in node.attributes.items()}
        try:
            operands = [values[operand] for operand in node.operands]
            blocks = [self._inner(block, values, symbols) for block in node.blocks]
            results = node.op.evaluate(operands, replace(node, attributes=resolved), blocks)
        except Refusal as refusal:
            raise refusal.error(
                f"{node.op.name}: {refusal.message}", code=refusal.code, where=node.location, help=refusal.help
            ) from None
        for value, result in zip(node.results, results, strict=True):
            array = np.asarray(result)
            if array.dtype != value.type.dtype.to_numpy() or array.ndim != value.type.rank:
                raise InternalError(
                    f"{node.op.name} should give {value.type}, but its meaning gives {array.dtype}{list(array.shape)}",
                    code="MG099",
                    where=node.location,
                )
            symbols.bind_result(node.op.name, value.type.shape, array.shape, node.location)
            values[value] = array

    def _resolve(self, value: ir.Attribute, symbols: Symbols) -> Any:
        """An attribute as a meaning takes it: dims as sizes, a weight as its elements."""
        if isinstance(value, Shape):
            return tuple(symbols.evaluate(dim) for dim in value)
        if not isinstance(value, ir.WeightRef):
            return value
        info = self._graph.weights[value.name]
        if value.name not in self._weights and info.data is None:
            raise InputError(
                f"weight `{value.name}` has no elements",
                code="MG039",
                details=[("wanted", str(info.type))],
                help=suggest(value.name, list(self._weights)) or "give them by name",
            )
        array = self._weights[value.name] if value.name in self._weights or info.data is None else info.data.numpy()
        if array.dtype != info.type.dtype.to_numpy() or array.shape != info.type.shape.evaluate({}):
            raise InputError(
                f"weight `{value.name}` does not fit",
                code="MG039",
                details=[("wanted", str(info.type)), ("given", f"{array.dtype}{list(array.shape)}")],
            )
        return array
