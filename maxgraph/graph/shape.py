"""Shapes: lists of dims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import SupportsIndex, Union, overload

from .dim import Dim, DimLike, StaticDim, SymbolicDim
from .only_in_max import MLIR, OnlyInMax

__all__ = ["Shape", "ShapeLike"]

ShapeLike = Union["Shape", Iterable[DimLike]]


class Shape(list[Dim]):
    """The dims of a tensor or a buffer, outermost first.

    Example:
        >>> Shape([2, "n"])
        [Dim(2), Dim('n')]
        >>> Shape([2, "n"]).text, Shape([2, 3]).rank
        ('[2, n]', 2)
    """

    to_mlir = OnlyInMax(MLIR)
    from_mlir = OnlyInMax(MLIR)

    def __init__(self, dims: ShapeLike = ()) -> None:
        super().__init__(Dim(dim) for dim in dims)

    @property
    def rank(self) -> int:
        """How many dims there are."""
        return len(self)

    @property
    def static_dims(self) -> list[int]:
        """The sizes of the static dims, in order."""
        return [int(dim) for dim in self if isinstance(dim, StaticDim)]

    @property
    def parameters(self) -> list[SymbolicDim]:
        """The symbols of all dims, each once."""
        return list(dict.fromkeys(symbol for dim in self for symbol in dim.parameters))

    @staticmethod
    def is_static(shape: Shape) -> bool:
        """Whether every dim is static and not negative."""
        return all(isinstance(dim, StaticDim) and int(dim) >= 0 for dim in shape)

    @property
    def num_elements(self) -> Dim:
        """The product of the dims."""
        total = Dim(1)
        for dim in self:
            total = total * dim
        return total

    def evaluate(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The sizes under the given sizes of the symbols."""
        return tuple(dim.evaluate(sizes) for dim in self)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Dim: ...
    @overload
    def __getitem__(self, index: slice) -> Shape: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Dim | Shape:
        found = super().__getitem__(index)
        return found if isinstance(found, Dim) else Shape(found)

    def __hash__(self) -> int:  # type: ignore[override]  # a Shape is not changed once a type holds it
        return hash(tuple(self))

    @property
    def text(self) -> str:
        """The dims as types and messages show them; ``str`` gives a list, as MAX does."""
        return "[" + ", ".join(str(dim) for dim in self) + "]"
