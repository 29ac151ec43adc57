"""Two sides, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ExecutionError
from .differences import Difference, difference
from .sides import Found, Recorded, Side
from .tolerance import Tolerance, Tolerances

__all__ = ["Entry", "First", "Report", "compare_steps"]

Array = np.ndarray[Any, Any]


@dataclass
class Entry:
    """One output or buffer over all steps.

    Attributes:
        kind: "output" or "buffer".
        name: Its name.
        type: Its dtype and shape, as text.
        ok: Whether it was within the tolerance in every step.
        first: The first step in which it was not.
        misfit: What differs besides elements: the dtype, the shape, or that only one side has it.
        most, relative, special: The worst step of each, with its difference; see `Difference`.
        least_rtol, least_atol: The least that would pass in every step; None if none would.
    """

    kind: str
    name: str
    type: str = ""
    ok: bool = True
    first: int | None = None
    misfit: str | None = None
    most: tuple[int, Difference] | None = None
    relative: tuple[int, Difference] | None = None
    special: tuple[int, Difference] | None = None
    least_rtol: float | None = 0.0
    least_atol: float | None = 0.0

    def add(self, step: int, found: Difference) -> None:
        """Takes a step in."""
        if not found.ok and self.ok:
            self.ok, self.first = False, step
        self.misfit = self.misfit or found.misfit
        self.most = _worse("most", self.most, step, found)
        self.relative = _worse("relative", self.relative, step, found)
        if self.special is None and found.special is not None:
            self.special = (step, found)
        self.least_rtol = _both(self.least_rtol, found.least_rtol)
        self.least_atol = _both(self.least_atol, found.least_atol)

    def lack(self, step: int, side: str) -> None:
        """Notes that a side does not have it."""
        self.ok, self.misfit, self.least_rtol, self.least_atol = False, f"{side} has none", None, None
        self.first = step if self.first is None else self.first


def _worse(
    which: str, known: tuple[int, Difference] | None, step: int, found: Difference
) -> tuple[int, Difference] | None:
    place = getattr(found, which)
    if place is None:
        return known
    return (step, found) if known is None or place.amount > getattr(known[1], which).amount else known


def _both(known: float | None, found: float | None) -> float | None:
    return None if known is None or found is None else max(known, found)


@dataclass
class First:
    """The first step that differs.

    Attributes:
        step: From 0.
        inputs: Its inputs.
        before: What the buffers of each side held before it; empty unless it was asked for.
    """

    step: int
    inputs: Mapping[str, Array]
    before: tuple[Mapping[str, Array], Mapping[str, Array]]


@dataclass
class Report:
    """What `compare_steps` found.

    Attributes:
        actual, expected: What the sides are called.
        entries: Outputs, then buffers.
        steps: How many were compared.
        first: The first step that differs; None if none does.
        unequal_start: The buffers that differ before the first step, so that a difference after it is no wonder.
        failure: The side that failed in a step in which the other did not, and its error; no later step is compared.
    """

    actual: str
    expected: str
    entries: list[Entry] = field(default_factory=list)
    steps: int = 0
    first: First | None = None
    unequal_start: list[str] = field(default_factory=list)
    failure: tuple[str, ExecutionError] | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return self.first is None


def compare_steps(
    actual: Side,
    expected: Side,
    inputs: Iterable[Mapping[str, Array]],
    tolerances: Tolerances | None = None,
    *,
    keep_before: bool = False,
) -> Report:
    """Runs both sides on the same inputs and compares outputs and buffers after each step.

    Each side goes on from its own buffers: a difference that grows is seen to grow. Of recorded results, what was not
    recorded is not compared.

    Args:
        actual: What is judged.
        expected: What it is judged by.
        inputs: The inputs of each step.
        tolerances: Those of the dtypes if it is not given.
        keep_before: Whether to keep the buffers from before the first step that differs, for `trace`.

    Raises:
        ExecutionError: Both sides fail on the same step, so that nothing can be said.
        InputError: The inputs do not fit a side.

    Example:
        >>> import numpy as np
        >>> ours = Recorded("a", {"y": np.array([[1.0], [2.5]])})
        >>> theirs = Recorded("b", {"y": np.array([[1.0], [2.0]])})
        >>> report = compare_steps(ours, theirs, [{}, {}])
        >>> report.ok, report.first.step, report.entries[0].least_atol < 0.5
        (False, 1, True)
    """
    tolerances = tolerances or Tolerances()
    report = Report(actual.name, expected.name)
    entries: dict[tuple[str, str], Entry] = {}
    ours_now, theirs_now = actual.buffers(), expected.buffers()
    report.unequal_start = [
        name
        for name, array in ours_now.items()
        if name in theirs_now and not difference(array, theirs_now[name], Tolerance()).ok
    ]
    for number, feed in enumerate(inputs):
        kept = keep_before and report.first is None
        before = (actual.buffers(), expected.buffers()) if kept else ({}, {})
        ours, theirs = actual.step(number, feed), expected.step(number, feed)
        if ours.failure is not None and theirs.failure is not None:
            raise theirs.failure
        report.steps += 1
        agrees = True
        if ours.failure is not None or theirs.failure is not None:
            agrees = False
            side, failure = (actual, ours.failure) if ours.failure is not None else (expected, theirs.failure)
            report.failure = (side.name, failure) if failure is not None else None
        else:
            agrees = _compare(number, (actual, ours), (expected, theirs), entries, tolerances)
        if not agrees and report.first is None:
            report.first = First(number, dict(feed), before)
        if report.failure is not None:
            break
    report.entries = list(entries.values())
    return report


def _compare(
    number: int,
    actual: tuple[Side, Found],
    expected: tuple[Side, Found],
    entries: dict[tuple[str, str], Entry],
    tolerances: Tolerances,
) -> bool:
    """Compares one step of both sides; gives whether all of it agrees."""
    agrees = True
    only_recorded = isinstance(expected[0], Recorded)
    for kind in ("output", "buffer"):
        ours, theirs = (side.outputs if kind == "output" else side.buffers for side in (actual[1], expected[1]))
        for name in theirs if only_recorded else dict.fromkeys((*ours, *theirs)):
            entry = entries.setdefault((kind, name), Entry(kind, name))
            if name not in ours or name not in theirs:
                entry.lack(number, (expected if name in ours else actual)[0].name)
                agrees = False
                continue
            array = ours[name]
            entry.type = f"{array.dtype}{list(array.shape)}"
            found = difference(array, theirs[name], tolerances.of(name, array.dtype.name))
            entry.add(number, found)
            agrees = agrees and found.ok
    return agrees
