"""What the planner decided for each buffer, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..errors import SourceLocation

__all__ = ["BufferPlan", "Mode", "Plan"]


class Mode(Enum):
    """How a buffer is changed when the graph runs, from the cheapest to the dearest.

    - UNTOUCHED: it is only read, or not used at all; it is bound as an input.
    - IN_PLACE: one memory, no copy, the graph as it stands.
    - ORDERED: the same, after readers of an old value were made to run before the writer.
    - SNAPSHOT: an old value that is still needed is copied out first.
    - WRITTEN_THROUGH: the new value is computed apart and then copied in by one memcpy.
    - SWAPPED: two memories, exchanged after each execution.
    - COPIED_BACK: the new value is computed apart and copied into the caller's memory after the execution.
    """

    UNTOUCHED = "untouched"
    IN_PLACE = "in place"
    ORDERED = "ordered"
    SNAPSHOT = "snapshot"
    WRITTEN_THROUGH = "written through"
    SWAPPED = "swapped"
    COPIED_BACK = "copied back"

    @property
    def shares_memory(self) -> bool:
        """Whether all versions of the buffer lie in its one memory while the graph runs."""
        return self in (Mode.IN_PLACE, Mode.ORDERED, Mode.SNAPSHOT, Mode.WRITTEN_THROUGH)

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class BufferPlan:
    """One buffer's row of the plan.

    Attributes:
        buffer: Its name.
        mode: How it is changed.
        num_bytes: Its size; None where a dim is symbolic.
        extra_bytes: Memory beyond that: the second copy, the snapshots, the temporaries of stores; None if symbolic.
        copies: Whole-buffer copies in each execution.
        reason: Why it is not in a cheaper mode, or why the cheapest one is right.
        where: The line of the user's program that decides it.
    """

    buffer: str
    mode: Mode
    num_bytes: int | None
    extra_bytes: int | None
    copies: int
    reason: str
    where: SourceLocation | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of all buffers of a graph, in the order of its signature."""

    buffers: tuple[BufferPlan, ...]

    def __getitem__(self, buffer: str) -> BufferPlan:
        for row in self.buffers:
            if row.buffer == buffer:
                return row
        raise KeyError(buffer)
