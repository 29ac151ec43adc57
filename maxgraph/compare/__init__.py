"""Comparing what programs give: against their meaning, another way to run them, another file, or recorded results.

`difference` compares two arrays, `compare_steps` two sides over many steps, `trace` finds the first node that differs,
and `index_ranges` says which inputs are indices, so that random ones can be valid.
"""

from __future__ import annotations

from .differences import Difference, Place, difference
from .indices import IndexRange, index_ranges
from .sides import Found, Recorded, Recorder, Running, Side
from .steps import Entry, First, Report, compare_steps
from .tolerance import DEFAULT_TOLERANCES, Tolerance, Tolerances
from .tracing import Divergence, trace

__all__ = [
    "DEFAULT_TOLERANCES",
    "Difference",
    "Divergence",
    "Entry",
    "First",
    "Found",
    "IndexRange",
    "Place",
    "Recorded",
    "Recorder",
    "Report",
    "Running",
    "Side",
    "Tolerance",
    "Tolerances",
    "compare_steps",
    "difference",
    "index_ranges",
    "trace",
]
