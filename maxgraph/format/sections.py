"""Where every byte of a file belongs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .decode_weights import PlacedWeight
from .preamble import PREAMBLE_BYTES, Preamble

__all__ = ["PADDING", "Section", "sections_of"]

PADDING = "padding"


@dataclass(frozen=True, slots=True)
class Section:
    """A range of a file's bytes; the sections of a file leave no byte out."""

    name: str
    offset: int
    length: int


def sections_of(preamble: Preamble, weights: Iterable[PlacedWeight]) -> tuple[Section, ...]:
    """Every byte of the file, in order; tied weights share a section."""
    sections = [Section("preamble", 0, PREAMBLE_BYTES), Section("header", PREAMBLE_BYTES, preamble.header_length)]
    end = PREAMBLE_BYTES + preamble.header_length
    by_offset: dict[int, list[PlacedWeight]] = {}
    for weight in weights:
        if weight.length and weight.file is None:
            by_offset.setdefault(weight.offset, []).append(weight)
    for offset, tied in sorted(by_offset.items()):
        if offset > end:
            sections.append(Section(PADDING, end, offset - end))
        sections.append(Section("weight " + ", ".join(weight.name for weight in tied), offset, tied[0].length))
        end = offset + tied[0].length
    return tuple(sections)
