"""What follows from the sizes of one call: the symbols' values, and all that is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..driver.arrays import Array
from ..errors import ExecutionError
from ..graph.type import TensorType
from ..lower.lowered import DimCheck, IndexCheck
from ..reference.symbols import Symbols
from .cells import Cell
from .signature import Form
from .slots import Slot

__all__ = ["Layout", "Layouts"]

#: How many different sets of sizes are remembered.
_KEPT = 64


class _Range(NamedTuple):
    """An `IndexCheck` with its sizes filled in; `tensor` counts the tensors only."""

    tensor: int
    low: int
    high: int
    size: int
    check: IndexCheck


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """One set of sizes; a set that comes again is the same object.

    Attributes:
        sizes: The value of each symbol that an input or a buffer binds.
        outputs: The shape of each output; None where it depends on data.
        ranges: What index inputs are checked against.
    """

    sizes: dict[str, int]
    outputs: tuple[tuple[int, ...] | None, ...]
    ranges: tuple[_Range, ...]

    def check_indices(self, tensors: Sequence[Array]) -> None:
        """Does nothing if every input that is an index is in range.

        Raises:
            ExecutionError: One is not.
        """
        for tensor, low, high, size, check in self.ranges:
            for value in tensors[tensor].reshape(-1).tolist():
                if not low <= (value if value >= 0 else value + size) <= high:
                    message = check.message.replace("{value}", str(value)).replace("{size}", str(size))
                    raise ExecutionError(message, code="MG035", where=check.where)


class Layouts:
    """All sets of sizes that a model has met.

    Args:
        form: All inputs that callers pass.
        outputs: The outputs' types.
        index_checks, dim_checks: See `Lowered`.
    """

    __slots__ = ("_dim_checks", "_index_checks", "_known", "_outputs", "_tensor_of")

    def __init__(
        self,
        form: Form,
        outputs: Sequence[TensorType],
        index_checks: Sequence[IndexCheck] = (),
        dim_checks: Sequence[DimCheck] = (),
    ) -> None:
        self._outputs = [type_.shape for type_ in outputs]
        self._index_checks = tuple(index_checks)
        self._dim_checks = tuple(dim_checks)
        self._tensor_of = {slot.position: at for at, (_, slot) in enumerate(form.tensors)}
        self._known: dict[object, Layout] = {}

    def get(self, form: Form, tensors: Sequence[Array], callers: Sequence[Array], cells: Sequence[Cell]) -> Layout:
        """The layout of a call.

        Args:
            form: How the arguments were passed.
            tensors, callers: The tensors and the buffers among them.
            cells: Buffers of a state whose sizes are symbolic.

        Raises:
            InputError: A size does not fit, or a symbol has two sizes.
            StateError: Nothing tells the size of a buffer.
            ExecutionError: A condition on the sizes does not hold.
        """
        symbolic: list[tuple[Slot | Cell, tuple[int, ...]]] = [
            *((slot, tensors[at].shape) for at, (_, slot) in enumerate(form.tensors) if slot.symbolic),
            *((slot, callers[at].shape) for at, (_, slot) in enumerate(form.buffers) if slot.symbolic),
            *((cell, shape) for cell in cells if (shape := cell.known_shape) is not None),
        ]
        key = tuple((bound.name, shape) for bound, shape in symbolic)
        layout = self._known.get(key)
        if layout is None:
            symbols = Symbols()
            for _ in range(2):  # the second round checks sizes that are computed from symbols bound later
                for bound, shape in symbolic:
                    symbols.bind_input(bound.name, bound.type.shape, shape)
            for cell in cells:
                if cell.known_shape is None:
                    cell.shape_in(symbols.sizes)  # what is checked against its size needs it
            layout = self._make(symbols.sizes)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = layout
        return layout

    def _make(self, sizes: dict[str, int]) -> Layout:
        for check in self._dim_checks:
            if check.value.evaluate(sizes) < check.low.evaluate(sizes):
                raise ExecutionError(
                    check.message,
                    code="MG035",
                    details=[(name, str(size)) for name, size in sizes.items()],
                    where=check.where,
                )
        # The same index is often checked by several loads and stores: the first message will do for all.
        ranges: dict[tuple[int, int, int, int], _Range] = {}
        for index in self._index_checks:
            key = (
                self._tensor_of[index.position],
                index.low.evaluate(sizes),
                index.high.evaluate(sizes),
                index.size.evaluate(sizes),
            )
            ranges.setdefault(key, _Range(*key, index))
        shapes: list[tuple[int, ...] | None] = []
        for shape in self._outputs:
            try:
                shapes.append(shape.evaluate(sizes))
            except KeyError:
                shapes.append(None)
        return Layout(sizes, tuple(shapes), tuple(ranges.values()))
