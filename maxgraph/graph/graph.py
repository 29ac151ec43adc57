"""Graphs under construction."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import GraphTypeError, NoGraphError, TypeRuleError, UnsupportedError, user_location
from . import ir
from .coerce import tensor_of
from .module import Module
from .names import caller, check_name, local_names, unique
from .only_in_max import CHAINS, GRAPH, MOJO, OnlyInMax
from .type import BufferType, DeviceRef, TensorType, Type
from .value import TensorValue, TensorValueLike, Value, check_same_graph
from .weight import Weight

__all__ = ["Graph"]

_open = threading.local()


class _Current:
    """``Graph.current``, on the class."""

    def __get__(self, instance: object, owner: type) -> Graph:
        stack = getattr(_open, "graphs", None)
        if not stack:
            raise NoGraphError(
                "no graph is open here",
                code="MG001",
                where=user_location(columns=True),
                help="call ops inside `with Graph(...) as graph:` or in the function that Graph(name, forward) calls",
            )
        found: Graph = stack[-1]
        return found


class Graph:
    """A graph with its inputs, nodes and outputs.

    Args:
        name: An identifier; it names the entry point in the file.
        forward: If given, it is called with the inputs as values, and what it returns are the outputs: a value,
            several, a dict of named ones, or None.
        input_types: A type for each input. A `BufferType` is memory that the caller passes and the graph changes.
        path: Not supported (MAX reads its own IR from there).
        *args: Passed on to `forward` after the inputs.
        custom_extensions, kernel_library: Not supported (MAX loads kernels written in Mojo from there).
        module: A container that the graph is put into.
        strict_device_placement, is_device_graph: Of no effect: operands on different devices are always refused.
        input_names: A name for each input; `names` says what they are called otherwise.
        **kwargs: Passed on to `forward`.

    Use it as a context manager, and call `output` once, at the end:

    Example:
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType
        >>> x_type = TensorType(DType.float32, [2], DeviceRef.CPU())
        >>> graph = Graph("double", lambda x: x * 2, input_types=[x_type])
        >>> print(graph)
        graph @double(%1 "x": float32[2]) -> ("output0": %3)
          %2 = maxg.constant@1 {value = float32[] 2.0}
          %3 = maxg.mul@1(%1, %2) : float32[2]

    Raises:
        TypeError: An input type is no `TensorType` or `BufferType`.
        ValueError: A name is malformed, or the graph is left without `output`.
    """

    current = _Current()
    device_chains = OnlyInMax(CHAINS)
    always_ready_chain = OnlyInMax(CHAINS)
    kernel_libraries_paths = OnlyInMax(MOJO)
    debug = OnlyInMax(GRAPH["GraphDebugConfig"])

    def __init__(
        self,
        name: str,
        forward: Callable[..., Value | Iterable[Value] | dict[str, Value] | None] | None = None,
        input_types: Iterable[Type] = (),
        path: Path | None = None,
        *args: Any,
        custom_extensions: Iterable[Path] = (),
        kernel_library: object = None,
        module: Module | None = None,
        strict_device_placement: object = None,
        is_device_graph: bool = False,
        input_names: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        del strict_device_placement, is_device_graph  # operands on different devices are always refused
        _refuse_extensions([*custom_extensions, *([] if kernel_library is None else [kernel_library])])
        if path is not None:
            raise UnsupportedError(
                "Graph(path=...) reads MAX's own IR", code="MG017", help="use maxgraph.load(path) for a .maxg file"
            )
        self.name = check_name(name, "a graph")
        self.body = ir.Block()
        self._blocks = [self.body]
        self.weights: dict[str, ir.WeightInfo] = {}
        self.signature: list[ir.InputInfo] = []
        self.results: list[tuple[str, ir.Value]] = []
        self._weight_values: dict[str, TensorValue] = {}
        self._finished = False
        self._calls = 0
        if module is not None:
            module.add(self)
        types: list[TensorType | BufferType] = list(input_types)  # type: ignore[arg-type]  # checked below
        for at, kind in enumerate(types):
            if not isinstance(kind, (TensorType, BufferType)):
                raise GraphTypeError(
                    f"input {at} of graph `{name}` must be a TensorType or a BufferType, not {type(kind).__name__}",
                    code="MG017",
                    where=user_location(columns=True),
                )
        if input_names is not None and len(input_names) != len(types):
            raise TypeRuleError(
                f"graph `{name}` has {len(types)} inputs but {len(input_names)} input_names",
                code="MG006",
                where=user_location(columns=True),
            )
        names = list(input_names) if input_names is not None else _parameter_names(forward, len(types))
        taken: set[str] = set()
        for at, kind in enumerate(types):
            given = names[at] if at < len(names) else None
            if given is not None:
                check_name(given, "an input")
                if given in taken:
                    raise TypeRuleError(f"graph `{name}` has two inputs called `{given}`", code="MG006")
                taken.add(given)
            value = ir.Value(kind, self, name=given)
            self.signature.append(ir.InputInfo(given or "", value))
        where = user_location()
        #: The folder that source locations in a file are relative to; None: they are relative already.
        self.source_root: str | None = os.path.dirname(os.path.abspath(where.file)) if where else os.getcwd()
        if forward is not None:
            with self:
                given_outputs = forward(*self.inputs, *args, **kwargs)
                if given_outputs is None:
                    self.output()
                elif isinstance(given_outputs, dict):
                    self.output(**given_outputs)
                elif isinstance(given_outputs, (list, tuple)):
                    self.output(*given_outputs)
                else:
                    self.output(given_outputs)  # type: ignore[arg-type]  # output() refuses what is no value

    @property
    def inputs(self) -> Sequence[Value]:
        """The inputs that a caller passes, as values; take ``.tensor`` or ``.buffer`` of each."""
        return tuple(Value.from_mlir(info.value) for info in self.signature if info.state is None)

    @property
    def output_types(self) -> list[Type]:
        """The types of the outputs, once `output` was called."""
        return [value.type for _, value in self.results]

    @property
    def buffers(self) -> list[ir.InputInfo]:
        """All buffers, those that the caller passes and those that the model owns, in the order of the signature."""
        return [info for info in self.signature if isinstance(info.value.type, BufferType)]

    def __enter__(self) -> Graph:
        stack = _open.graphs = getattr(_open, "graphs", [])
        stack.append(self)
        return self

    def __exit__(self, exc_type: type[BaseException] | None, *exc: object) -> None:
        _open.graphs.pop()
        if exc_type is None and not self._finished:
            raise TypeRuleError(
                f"graph `{self.name}` has no output",
                code="MG005",
                where=user_location(),
                help="call graph.output(...) at the end; graph.output() if it only changes buffers",
            )

    def output(self, *outputs: Value | TensorValueLike, **named: Value | TensorValueLike) -> None:
        """Ends the graph with these results.

        Args:
            *outputs: Tensors (also Dims, Shapes, Weights); named after the variables that hold them.
            **named: Tensors with explicit names, after the others.

        Raises:
            ValueError: It was called before or inside a branch, or a value belongs to another graph or to a branch.
            TypeError: Something is no tensor; a buffer is a result by itself, so load it.
        """
        if self._finished:
            raise TypeRuleError(
                f"graph `{self.name}` already has its outputs", code="MG005", where=user_location(columns=True)
            )
        if len(self._blocks) > 1:
            raise TypeRuleError(
                f"graph `{self.name}` cannot end inside a branch or a loop",
                code="MG005",
                where=user_location(columns=True),
                help="return the values from the function instead",
            )
        values = [tensor_of(v, what=f"output {at}").to_mlir() for at, v in enumerate(outputs)]
        explicit = [tensor_of(v, what=f"output `{name}`").to_mlir() for name, v in named.items()]
        check_same_graph((*values, *explicit), self, "graph.output")
        locals_of_caller = local_names(caller().f_locals)
        taken: set[str] = {check_name(name, "an output") for name in named}
        for value in values:
            self.results.append((unique(locals_of_caller.get(value), "output", taken), value))
        self.results += zip(named, explicit, strict=True)
        self._name_inputs(locals_of_caller)
        self._finished = True

    def _name_inputs(self, variables: dict[ir.Value, str]) -> None:
        """Gives each input and state that has no name yet the name that `names` promises."""
        taken = {info.name for info in self.signature if info.name}
        for at, info in enumerate(self.signature):
            if not info.name:
                fallback = "input" if info.state is None else "buffer"
                wanted = variables.get(info.value)
                # MAX calls an unnamed input by its position.
                name = unique(wanted or (f"input{at}" if info.state is None else None), fallback, taken)
                state = info.state and ir.StateInfo(name, info.state.type, info.state.initial, info.state.scratch)
                self.signature[at] = ir.InputInfo(name, info.value, state)
                info.value.name = name

    def add_weight(self, weight: Weight) -> TensorValue:
        """The weight as a value of this graph; the same one each time.

        Raises:
            ValueError: Another weight of this name is there, or its dims are not static.
        """
        from . import ops

        known = self.weights.get(weight.name)
        if known is not None and known.type != weight.type:
            raise TypeRuleError(
                f"graph `{self.name}` already has a weight `{weight.name}`",
                code="MG006",
                details=[("there", str(known.type)), ("given", str(weight.type))],
                where=user_location(columns=True),
            )
        if weight.name not in self._weight_values:
            with self.at_the_top():  # so that every block sees it
                self._weight_values[weight.name] = ops.constant_external(
                    weight.name, weight.type, is_placeholder=weight.is_placeholder
                )
        return self._weight_values[weight.name]

    def add_subgraph(
        self,
        name: str,
        forward: Callable[..., Value | Iterable[Value] | dict[str, Value] | None] | None = None,
        input_types: Iterable[Type] = (),
        path: Path | None = None,
        custom_extensions: Iterable[Path] = (),
        devices: Iterable[DeviceRef] = (),
    ) -> Graph:
        """A graph to be called from this one, by `ops.call`.

        Args:
            name: An identifier.
            forward: As for a graph; without it, use the result as a context manager.
            input_types: A type for each input; dims may be symbols of their own.
            path: Not supported, as for a graph.
            custom_extensions: Not supported: MAX's own kernels cannot be loaded.
            devices: Ignored: there are no chains of effects for each device here.
        """
        del devices
        _refuse_extensions(custom_extensions)
        return Graph(name, forward, input_types, path)

    def copy(self) -> Graph:
        """A graph of its own with the same inputs, nodes and outputs.

        Raises:
            ValueError: It has no output yet.
        """
        if not self._finished:
            raise TypeRuleError(
                f"graph `{self.name}` has no output yet", code="MG005", where=user_location(columns=True)
            )
        from .inline import Inliner

        given = [info for info in self.signature if info.state is None]
        other = Graph(self.name, input_types=[i.value.type for i in given], input_names=[i.name for i in given])
        other.source_root = self.source_root
        results = Inliner(self, other).run([info.value for info in other.signature])
        other.finish(zip([name for name, _ in self.results], results, strict=True))
        return other

    @contextmanager
    def profile_scope(self, name: str, color: object = None) -> Iterator[None]:
        """MAX's scope for its profiler; of no effect here, where each node keeps its line of the program."""
        del name, color
        yield

    def count_call(self) -> int:
        """A number for the next call of another graph."""
        self._calls += 1
        return self._calls

    # What ops and the file reader use -----------------------------------------------------------------------------

    def new_weight(
        self,
        name: str | None,
        type: TensorType,  # noqa: A002 - the attribute's name
        data: ir.TensorData | None,
        *,
        placeholder: bool = False,
    ) -> ir.WeightRef:
        """Registers a weight; without a name it is numbered."""
        if name is None:
            name = unique(None, "constant", set(self.weights))
        self.weights[check_name(name, "a weight")] = ir.WeightInfo(name, type, data, placeholder)
        return ir.WeightRef(name)

    def new_state(self, state: ir.StateInfo) -> Value:
        """Adds a buffer that the model owns; an empty name is given later, as for inputs."""
        if state.name and any(info.name == state.name for info in self.signature):
            raise TypeRuleError(
                f"graph `{self.name}` already has a buffer or input `{state.name}`",
                code="MG006",
                where=user_location(columns=True),
            )
        value = ir.Value(state.type, self, name=state.name or None)
        self.signature.append(ir.InputInfo(state.name, value, state))
        return Value.from_mlir(value)

    @property
    def block(self) -> ir.Block:
        """Where new nodes go."""
        return self._blocks[-1]

    @contextmanager
    def inside(self, block: ir.Block) -> Iterator[None]:
        """Lets new nodes go into a block of a node that is being made.

        Raises:
            ValueError: Blocks are nested deeper than a file can hold.
        """
        if len(self._blocks) > ir.BLOCK_DEPTH:
            raise TypeRuleError(
                f"branches and loops are nested over {ir.BLOCK_DEPTH} deep",
                code="MG045",
                where=user_location(columns=True),
                help="write the inner part as a graph of its own, or as a loop",
            )
        self._blocks.append(block)
        try:
            yield
        finally:
            self._blocks.pop()

    @contextmanager
    def at_the_top(self) -> Iterator[None]:
        """Lets new nodes go into the body, whatever block is open: what is defined there is seen in all blocks."""
        open_blocks, self._blocks = self._blocks, [self.body]
        try:
            yield
        finally:
            self._blocks = open_blocks

    def new_value(
        self,
        type: TensorType | BufferType,  # noqa: A002 - the attribute's name
        node: ir.Node | None = None,
    ) -> ir.Value:
        """A value that the open block defines."""
        block = self._blocks[-1]
        return ir.Value(type, self, node, block=None if block is self.body else block)

    def sees(self, value: ir.Value) -> bool:
        """Whether the block that defines a value is open."""
        return value.graph is self and (value.block is None or value.block in self._blocks)

    def finish(self, outputs: Iterable[tuple[str, ir.Value]]) -> None:
        """Ends a graph that was read from a file."""
        self.results = list(outputs)
        self._finished = True

    @property
    def finished(self) -> bool:
        """Whether it has its outputs."""
        return self._finished

    def access(self) -> dict[ir.Value, ir.Access]:
        """What the graph does to each buffer."""
        total = {info.value: ir.Access.NONE for info in self.buffers}
        for node in self.body.nodes:
            for buffer, access in node.effects:
                total[buffer] |= access
        return total

    def nodes(self) -> Iterator[ir.Node]:
        """Every node, nested blocks before the node that holds them."""
        for node in self.body.nodes:
            if node.blocks:
                yield from node.nested()
            yield node

    def __repr__(self) -> str:
        from .text import graph_text

        return graph_text(self)


def _refuse_extensions(custom_extensions: Iterable[object]) -> None:
    if list(custom_extensions):
        raise UnsupportedError(
            "kernels written in Mojo cannot be loaded",
            code="MG017",
            where=user_location(columns=True),
            help="write the operation with ops.*",
        )


def _parameter_names(forward: Callable[..., object] | None, count: int) -> list[str | None]:
    """The first positional parameters of `forward`, which receive the inputs."""
    if forward is None:
        return []
    try:
        parameters = inspect.signature(forward).parameters.values()
    except (TypeError, ValueError):
        return []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return list(names[:count])
