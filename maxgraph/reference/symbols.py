"""The sizes of symbols during one execution."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ExecutionError, InputError, SourceLocation
from ..graph.dim import Dim
from ..graph.shape import Shape

__all__ = ["Symbols"]


class Symbols:
    """Sizes by symbol, each with where it came from, so that a second, different size can name both."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self._origins: dict[str, str] = {}

    def copy(self) -> Symbols:
        """The same sizes; what is bound there is not bound here."""
        other = Symbols()
        other.sizes, other._origins = dict(self.sizes), dict(self._origins)
        return other

    def bind_input(self, name: str, shape: Shape, sizes: Sequence[int]) -> None:
        """Binds the symbols of an input, and checks its other dims.

        Raises:
            InputError: The rank or a static size differs, or a symbol has another size already.
        """
        if len(shape) != len(sizes):
            raise InputError(
                f"input `{name}` has rank {len(sizes)}, but {shape.text} is wanted",
                code="MG031",
                details=[("wanted", shape.text), ("given", str(list(sizes)))],
            )
        for axis, (dim, size) in enumerate(zip(shape, sizes, strict=True)):
            symbol = dim.polynomial.name
            if symbol is not None and symbol not in self.sizes:
                self.sizes[symbol] = size
                self._origins[symbol] = f"axis {axis} of `{name}`"
        for axis, (dim, size) in enumerate(zip(shape, sizes, strict=True)):
            wanted = self.evaluate(dim)
            if wanted is not None and wanted != size:
                symbol = dim.polynomial.name
                if symbol is None:
                    raise InputError(
                        f"axis {axis} of input `{name}` is {size}, but {wanted} is wanted",
                        code="MG031",
                        details=[("wanted", shape.text), ("given", str(list(sizes)))],
                    )
                raise InputError(
                    f"`{symbol}` is {wanted} by {self._origins[symbol]}, but {size} by axis {axis} of `{name}`",
                    code="MG034",
                )

    def bind_result(self, op: str, shape: Shape, sizes: Sequence[int], where: SourceLocation | None) -> None:
        """Binds symbols that a result names for the first time, and checks the others.

        Raises:
            ExecutionError: A size that depends on data differs from what its symbol is already.
        """
        for axis, (dim, size) in enumerate(zip(shape, sizes, strict=True)):
            wanted = self.evaluate(dim)
            if wanted is None:
                symbol = dim.polynomial.name
                if symbol is not None:
                    self.sizes[symbol] = size
                    self._origins[symbol] = f"axis {axis} of the result of {op}"
            elif wanted != size:
                raise ExecutionError(
                    f"{op}: axis {axis} of the result is {size}, but `{dim}` is {wanted}", code="MG034", where=where
                )

    def evaluate(self, dim: Dim) -> int | None:
        """The size of a dim, or None where a symbol of it is not bound yet."""
        try:
            return dim.evaluate(self.sizes)
        except KeyError:
            return None
