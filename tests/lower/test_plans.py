"""The plans of many programs, line by line: a plan that is dearer than it was is a fault until it was looked at."""

from __future__ import annotations

from .plans import GOLDEN, plans


def test_every_plan_is_the_one_that_was_agreed_on() -> None:
    assert plans().splitlines() == GOLDEN.read_text().splitlines(), "python -m tests.lower.plans writes them anew"


def test_what_is_not_in_place_says_why() -> None:
    for line in GOLDEN.read_text().splitlines():
        if line and not line.startswith("#") and " in place " not in f"{line} ":
            assert len(line.split("  ")[-1].split()) > 3, line
