"""One op, one declaration.

A function decorated with `op` is what users call, and its signature is the op's: annotations say which parameters are
operands and which are attributes. On it hang, in the same file, its type rule, its lowering, its meaning in numpy, and
sample operands. From here come type checking when a graph is built and when a file is read, the lowering, the
interpreter, the tests that run every op on every sample, and the op's name and version in the file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar, cast

from ...dtype import DType
from ...errors import GraphTypeError, user_location
from .. import ir
from ..coerce import buffer_of, is_weak, strengthen, tensor_of
from ..dtype_promotion import promote
from ..graph import Graph
from ..names import caller, local_names
from ..type import BufferType, TensorType
from ..value import TensorValue, check_same_graph, describe
from .parameters import (
    ATTRIBUTES,
    OPERANDS,
    AttributeKind,
    AttributeSpec,
    Operand,
    OperandKind,
    Refusal,
    attribute_of,
    axis_of,
)
from .samples import Sample

__all__ = [
    "REGISTRY",
    "AttributeKind",
    "AttributeSpec",
    "Op",
    "Operand",
    "OperandKind",
    "Refusal",
    "axis_of",
    "lookup",
    "op",
]

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class Op(Generic[P, R]):
    """An operator: what `op` makes of a function.

    Attributes:
        domain, name, version: Its identity in the file; the meaning of one version never changes.
        operands, attributes: Its formal parameters, in order.
        promoted: The operands that share one dtype; see `dtype_promotion`.
        reads, writes: The buffer operands that it reads and writes.
        blocks: What its nested blocks are called; a rule and a lowering get them by these names, and a meaning gets
            functions from arrays to arrays.
        cases: Sample arguments.
    """

    def __init__(
        self,
        fn: Callable[P, R],
        *,
        name: str | None,
        version: int,
        promoted: Sequence[str],
        reads: Sequence[str],
        writes: Sequence[str],
        casts: bool,
        blocks: Sequence[str],
    ) -> None:
        self.domain = "maxg"
        self.name = name or fn.__name__.rstrip("_")
        self.version = version
        self.__name__ = fn.__name__.rstrip("_")
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__doc__ = fn.__doc__
        self.__wrapped__ = fn
        self.__signature__ = inspect.signature(fn)
        operands, attributes = [], []
        for parameter in self.__signature__.parameters.values():
            annotation = str(parameter.annotation)
            base, _, rest = annotation.partition(" | None")
            if annotation in OPERANDS:
                operands.append(Operand(parameter.name, OPERANDS[annotation]))
            elif base in ATTRIBUTES and not rest:
                attributes.append(AttributeSpec(parameter.name, ATTRIBUTES[base], base != annotation))
            else:
                raise TypeError(f"op {self.name}: {parameter.name}: {annotation!r} is neither operand nor attribute")
        self.operands = tuple(operands)
        self.attributes = tuple(attributes)
        self.promoted = tuple(promoted)
        self._casts = casts
        self.reads = tuple(reads)
        self.writes = tuple(writes)
        self.blocks = tuple(blocks)
        self.cases: list[Sample] = []
        self._rule: Callable[..., Any] | None = None
        self._lowering: Callable[..., Any] | None = None
        self._meaning: Callable[..., Any] | None = None

    # The declaration ----------------------------------------------------------------------------------------------

    def types(self, rule: F) -> F:
        """Declares the type rule: from operand types and attributes, by name, to a result type, several, or None."""
        self._rule = rule
        return rule

    def lowers(self, lowering: F) -> F:
        """Declares the lowering: from an `Emitter`, then handles and attributes by name, to result handles."""
        self._lowering = lowering
        return lowering

    def reference(self, meaning: F) -> F:
        """Declares the meaning: from numpy arrays and attributes, by name, to result arrays.

        A buffer is an array that is changed in place.
        """
        self._meaning = meaning
        return meaning

    def samples(self, *cases: Sample) -> None:
        """Declares sample arguments, by name."""
        self.cases += cases

    # Its use ------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<op {self.domain}.{self.name}@{self.version}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Adds a node to the current graph."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            self.refuse(Refusal(str(error), code="MG017", error=GraphTypeError), ())
        bound.apply_defaults()
        graph = Graph.current
        operands, segments = self._values(bound.arguments)
        check_same_graph(operands, graph, self.name)
        try:
            attributes = {
                spec.name: value
                for spec in self.attributes
                if (value := attribute_of(spec, bound.arguments[spec.name])) is not None
            }
            results = self.infer([v.type for v in operands], segments, attributes)
        except Refusal as refusal:
            self.refuse(refusal, operands, segments)
        node = ir.Node(self, operands, segments, attributes, location=user_location())
        values = [TensorValue(result) for result in self.add(graph, node, results)]
        # A rule that gives one type makes one tensor; otherwise the public function unpacks.
        return cast(R, None if not values else values[0] if len(values) == 1 and not self._many else values)

    _many = False

    def with_blocks(self, operands: Sequence[ir.Value], blocks: Sequence[ir.Block]) -> list[TensorValue]:
        """Adds a node with nested blocks, which are finished, to the current graph; its operands are one group.

        Raises:
            TypeError, ValueError: The rule refuses them.
        """
        graph = Graph.current
        segments = tuple(len(operands) if o.kind is OperandKind.VARIADIC else 1 for o in self.operands)
        check_same_graph(operands, graph, self.name)
        try:
            results = self.infer([v.type for v in operands], segments, {}, blocks)
        except Refusal as refusal:
            self.refuse(refusal, operands, segments)
        node = ir.Node(self, tuple(operands), segments, {}, blocks=tuple(blocks), location=user_location())
        return [TensorValue(result) for result in self.add(graph, node, results)]

    def add(self, graph: Graph, node: ir.Node, results: Sequence[TensorType]) -> tuple[ir.Value, ...]:
        """Puts a node with these results into a graph's open block."""
        node.results = tuple(graph.new_value(type_, node) for type_ in results)
        node.effects = self.effects_on(node.operands, node.segments, node.blocks)
        graph.block.nodes.append(node)
        return node.results

    def _values(self, arguments: Mapping[str, Any]) -> tuple[tuple[ir.Value, ...], tuple[int, ...]]:
        """The operands, coerced and promoted, flat, and how many each formal operand takes."""
        given: dict[str, Any] = {}
        for operand in self.operands:
            value = arguments[operand.name]
            if operand.kind is OperandKind.BUFFER:
                given[operand.name] = buffer_of(value, what=f"{self.name}: `{operand.name}`")
            elif operand.kind is OperandKind.VARIADIC:
                if not isinstance(value, (TensorValue, Iterable)):
                    wanted = f"`{operand.name}` must be several tensors, not {type(value).__name__}"
                    self.refuse(Refusal(wanted, code="MG017", error=GraphTypeError), ())
                given[operand.name] = [
                    tensor_of(v, what=f"{self.name}: `{operand.name}[{at}]`") for at, v in enumerate(value)
                ]
            elif operand.kind is OperandKind.OPTIONAL and value is None:
                given[operand.name] = None
            elif operand.name in self.promoted and is_weak(value):
                given[operand.name] = value
            else:
                given[operand.name] = tensor_of(value, what=f"{self.name}: `{operand.name}`")
        if self.promoted:
            self._promote(given)
        flat: list[ir.Value] = []
        segments = []
        for operand in self.operands:
            value = given[operand.name]
            values = value if isinstance(value, list) else [] if value is None else [value]
            flat += [v.to_mlir() for v in values]
            segments.append(len(values))
        return tuple(flat), tuple(segments)

    def _promote(self, given: dict[str, Any]) -> None:
        """Brings the promoted operands to one dtype; weak ones take that of the others."""
        strong = [given[name] for name in self.promoted if isinstance(given[name], TensorValue)]
        if not strong:
            self.refuse(
                Refusal(
                    "at least one operand must be a tensor",
                    code="MG003",
                    help="write ops.constant(value, dtype, device)",
                    error=GraphTypeError,
                ),
                (),
            )
        target: DType = strong[0].dtype
        for value in strong[1:] if self._casts else ():
            common = promote(target, value.dtype)
            if common is None:
                self.refuse(
                    Refusal(
                        f"{target.name} and {value.dtype.name} do not combine: neither holds every value of the other",
                        code="MG010",
                        help="cast one of them, e.g. x.cast(DType.float32)",
                    ),
                    [v.to_mlir() for v in strong],
                )
            target = common
        from .cast import cast as cast_op

        like = strong[0].type.cast(target)
        for name in self.promoted:
            value = given[name]
            if not isinstance(value, TensorValue):
                given[name] = strengthen(value, like, op=self.name)
            elif self._casts and value.dtype is not target:
                given[name] = cast_op(value, target)

    def infer(
        self,
        types: Sequence[TensorType | BufferType],
        segments: Sequence[int],
        attributes: Mapping[str, Any],
        blocks: Sequence[ir.Block] = (),
    ) -> tuple[TensorType, ...]:
        """The result types, from the operands' types; the same when a graph is built and when a file is read.

        Raises:
            Refusal: The op does not take these.
        """
        if self._rule is None:
            raise TypeError(f"{self!r} has no type rule")
        by_name = self._arguments(types, segments, attributes, blocks)
        devices = {t.device for t in types}
        if len(devices) > 1:
            raise Refusal(
                "operands lie on different devices",
                code="MG022",
                help="bring them together with ops.transfer_to",
            )
        for operand in self.operands:
            given = by_name[operand.name]
            wanted = BufferType if operand.kind is OperandKind.BUFFER else TensorType
            for t in given if isinstance(given, list) else () if given is None else (given,):
                if not isinstance(t, wanted):
                    raise Refusal(f"`{operand.name}` cannot be a {t}", code="MG003", error=GraphTypeError)
        promoted = {t.dtype for n in self.promoted if isinstance(t := by_name[n], TensorType)}
        if len(promoted) > 1:
            raise Refusal("operands have different dtypes", code="MG010")
        result = self._rule(**by_name)
        if result is None:
            return ()
        return (result,) if isinstance(result, TensorType) else tuple(result)

    def effects_on(
        self, operands: Sequence[ir.Value], segments: Sequence[int], blocks: Sequence[ir.Block] = ()
    ) -> tuple[tuple[ir.Value, ir.Access], ...]:
        """What a node with these operands and nested blocks does to which buffers."""
        effects: dict[ir.Value, ir.Access] = {}
        at = 0
        for operand, count in zip(self.operands, segments, strict=True):
            if operand.kind is OperandKind.BUFFER:
                access = ir.Access.NONE
                access |= ir.Access.READ if operand.name in self.reads else ir.Access.NONE
                access |= ir.Access.WRITE if operand.name in self.writes else ir.Access.NONE
                effects[operands[at]] = effects.get(operands[at], ir.Access.NONE) | access
            at += count
        for block in blocks:
            for node in block.nodes:
                for buffer, access in node.effects:
                    effects[buffer] = effects.get(buffer, ir.Access.NONE) | access
        return tuple(effects.items())

    @property
    def lowering(self) -> Callable[..., Any]:
        """The lowering itself, for another op's lowering that builds on it.

        Raises:
            TypeError: None is declared.
        """
        if self._lowering is None:
            raise TypeError(f"{self!r} has no lowering")
        return self._lowering

    def lower(self, emitter: object, operands: Sequence[Any], node: ir.Node) -> tuple[Any, ...]:
        """The result handles of a node, from its operand handles."""
        result = self.lowering(emitter, **self._arguments(operands, node.segments, node.attributes, node.blocks))
        return () if result is None else tuple(result) if isinstance(result, (tuple, list)) else (result,)

    def evaluate(
        self, operands: Sequence[Any], node: ir.Node, blocks: Sequence[Callable[..., Sequence[Any]]] = ()
    ) -> tuple[Any, ...]:
        """The result arrays of a node, from its operand arrays; buffers are changed in place.

        Args:
            operands: The arrays.
            node: The node, with attributes as a meaning takes them.
            blocks: For each nested block, a function from the arrays of its parameters to those of its results.
        """
        if self._meaning is None:
            raise TypeError(f"{self!r} has no meaning")
        import numpy as np

        # Infinities and NaN are what IEEE 754 says, and ints wrap around: nothing to warn of.
        with np.errstate(all="ignore"):
            result = self._meaning(**self._arguments(operands, node.segments, node.attributes, blocks))
        return () if result is None else tuple(result) if isinstance(result, (tuple, list)) else (result,)

    def _arguments(
        self, operands: Sequence[Any], segments: Sequence[int], attributes: Mapping[str, Any], blocks: Sequence[Any]
    ) -> dict[str, Any]:
        """Operands (types, handles or arrays), attributes and blocks by parameter name."""
        arguments: dict[str, Any] = {}
        at = 0
        for operand, count in zip(self.operands, segments, strict=True):
            group = list(operands[at : at + count])
            at += count
            arguments[operand.name] = group if operand.kind is OperandKind.VARIADIC else group[0] if group else None
        for spec in self.attributes:
            arguments[spec.name] = attributes.get(spec.name)
        return arguments | dict(zip(self.blocks, blocks, strict=True))

    def refuse(self, refusal: Refusal, operands: Sequence[ir.Value], segments: Sequence[int] | None = None) -> NoReturn:
        """Raises what a refusal stands for, with the operands and the user's line."""
        names: list[str] = []
        counts = segments or [1] * len(operands)
        for operand, count in zip(self.operands, counts, strict=False):
            many = operand.kind is OperandKind.VARIADIC
            names += [f"{operand.name}[{at}]" if many else operand.name for at in range(count)]
        variables = local_names(caller().f_locals)
        raise refusal.error(
            f"{self.name}: {refusal.message}",
            code=refusal.code,
            details=[(name, describe(value, variables)) for name, value in zip(names, operands, strict=False)],
            where=user_location(columns=True),
            help=refusal.help,
        ) from None


#: Every op, by domain, name and version.
REGISTRY: dict[tuple[str, str, int], Op[..., Any]] = {}


def lookup(domain: str, name: str, version: int) -> Op[..., Any] | None:
    """The op with this identity, or None."""
    return REGISTRY.get((domain, name, version))


def op(
    *,
    name: str | None = None,
    version: int = 1,
    promoted: Sequence[str] = (),
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
    many: bool = False,
    casts: bool = True,
    blocks: Sequence[str] = (),
) -> Callable[[Callable[P, R]], Op[P, R]]:
    """Declares an op.

    Args:
        name: Its name in the file, where it is not the function's.
        version: From 1; a new meaning is a new version beside the old one.
        promoted: Operands that are brought to one dtype, and may be Python numbers or numpy arrays.
        reads: Buffer operands that it reads.
        writes: Buffer operands that it writes.
        many: The result is a list, also where it has one element.
        casts: Whether promoted tensors of different dtypes are cast, rather than refused.
        blocks: Names of nested blocks; such an op is made by `Op.with_blocks`.
    """

    def declare(fn: Callable[P, R]) -> Op[P, R]:
        made: Op[P, R] = Op(
            fn,
            name=name,
            version=version,
            promoted=promoted,
            reads=reads,
            writes=writes,
            casts=casts,
            blocks=blocks,
        )
        made._many = many
        key = (made.domain, made.name, made.version)
        if key in REGISTRY:
            raise TypeError(f"{made!r} is declared twice")
        REGISTRY[key] = made
        return made

    return declare
