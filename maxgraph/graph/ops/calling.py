"""Calling a graph from another one."""

from __future__ import annotations

from typing import Any

from ...errors import GraphTypeError, TypeRuleError, user_location
from ..coerce import buffer_of, tensor_of
from ..graph import Graph
from ..inline import Inliner
from ..type import BufferType
from ..value import Value, check_same_graph

__all__ = ["call"]


def call(graph: Graph, *args: Value | Any, prefix: str = "") -> list[Value]:
    """Runs another graph at this point of the current one.

    Its nodes become part of the current graph, in program order: what it stores into a buffer is there afterwards, and
    what was stored before, it sees. Its symbolic dims take the sizes of the values given.

    Args:
        graph: A finished graph, such as `Graph.add_subgraph` gives.
        *args: A value for each of its inputs; a buffer for a buffer.
        prefix: Put before the names of the graph's weights that are placeholders, such as ``"layers.3."``, so that each
            call has its own.

    Returns:
        The values of its outputs.

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops
        >>> total_type = BufferType(DType.float32, [4], DeviceRef.CPU())
        >>> x_type = TensorType(DType.float32, [4], DeviceRef.CPU())
        >>> with Graph("twice", input_types=[total_type, x_type]) as graph:
        ...     total, x = graph.inputs[0].buffer, graph.inputs[1].tensor
        ...     with graph.add_subgraph("add", input_types=[total_type, x_type]) as add:
        ...         add.inputs[0].buffer[...] = add.inputs[0].buffer[...] + add.inputs[1].tensor
        ...         add.output()
        ...     _ = ops.call(add, total, x), ops.call(add, total, x)
        ...     graph.output(total[...])

    Raises:
        ValueError: The number of values differs from that of the inputs, or one does not fit its input.
        TypeError: `graph` is no graph, or a value is no tensor or buffer.
    """
    target = Graph.current
    where = user_location(columns=True)
    if not isinstance(graph, Graph):
        raise GraphTypeError(f"call: a Graph is wanted, not {type(graph).__name__}", code="MG017", where=where)
    if not graph.finished:
        raise TypeRuleError(
            f"call: graph `{graph.name}` has no output yet",
            code="MG005",
            where=where,
            help="a graph cannot call itself; finish it with output() before it is called",
        )
    inputs = [info for info in graph.signature if info.state is None]
    if len(args) != len(inputs):
        wanted = ", ".join(f"{info.name}: {info.value.type}" for info in inputs) or "none"
        raise TypeRuleError(
            f"call: graph `{graph.name}` has {len(inputs)} inputs, but {len(args)} values were given",
            code="MG017",
            details=[("inputs", wanted)],
            where=where,
        )
    values = [
        (buffer_of if isinstance(info.value.type, BufferType) else tensor_of)(
            value, what=f"call: input `{info.name}` of graph `{graph.name}`"
        ).to_mlir()
        for info, value in zip(inputs, args, strict=True)
    ]
    check_same_graph(values, target, "call")
    inliner = Inliner(graph, target, prefix=prefix, suffix=f"_call{target.count_call()}")
    return [Value.from_mlir(value) for value in inliner.run(values)]
