"""What a comparison is asked for, and what it found: as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from maxgraph.compare import Difference, Divergence, Entry, Report, Tolerances
from maxgraph.errors import UsageError, suggest

from .console import number, safe
from .results import at_least

__all__ = ["divergence_json", "divergence_text", "parse_tolerances", "report_json", "report_text"]


def parse_tolerances(rtol: Sequence[str], atol: Sequence[str], both: Sequence[str], names: Sequence[str]) -> Tolerances:
    """The options ``--rtol``, ``--atol`` and ``--tolerance``.

    Args:
        rtol, atol: ``VALUE``, or ``NAME:VALUE`` for one output or buffer.
        both: ``NAME=RTOL,ATOL``.
        names: The outputs and buffers that there are.

    Raises:
        UsageError: A value is no number of at least 0, or there is no such name.
    """
    overall: dict[str, float | None] = {"--rtol": None, "--atol": None}
    named: dict[str, dict[str, float]] = {"--rtol": {}, "--atol": {}}
    for option, texts in (("--rtol", rtol), ("--atol", atol)):
        for text in texts:
            name, colon, value = text.rpartition(":")
            if colon:
                named[option][_known(name, names)] = _amount(option, value)
            else:
                overall[option] = _amount(option, text)
    for text in both:
        name, _, values = text.partition("=")
        relative, comma, absolute = values.partition(",")
        if not comma:
            raise UsageError(f"--tolerance takes NAME=RTOL,ATOL, not {safe(text)!r}", code="MG052")
        named["--rtol"][_known(name, names)] = _amount("--tolerance", relative)
        named["--atol"][name] = _amount("--tolerance", absolute)
    return Tolerances(overall["--rtol"], overall["--atol"], named["--rtol"], named["--atol"])


def _known(name: str, names: Sequence[str]) -> str:
    if name not in names:
        raise UsageError(
            f"there is no output or buffer `{safe(name)}`", code="MG030", help=suggest(name, sorted(set(names)))
        )
    return name


def _amount(option: str, text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not (amount >= 0 and math.isfinite(amount)):
        raise UsageError(f"{option} takes a number of at least 0, not {safe(text)!r}", code="MG052")
    return amount


# As text ------------------------------------------------------------------------------------------------------------


def report_text(report: Report) -> list[str]:
    """A line for each output and buffer, and indented below it where it differs most."""
    width = max((len(f"{e.kind} {e.name}") for e in report.entries), default=0)
    lines = []
    for entry in report.entries:
        mark = "ok  " if entry.ok else "FAIL"
        lines.append(f"{mark}  {f'{entry.kind} {entry.name}':<{width}}  {entry.type}{_verdict(entry)}".rstrip())
        lines += [f"      {line}" for line in _places(entry)]
    for name in report.unequal_start:
        lines.append(f"note: buffer `{name}` differs before the first step")
    if report.failure is not None and report.first is not None:
        side, error = report.failure
        other = report.expected if side == report.actual else report.actual
        where = f" ({error.where})" if error.where is not None else ""
        lines.append(f"FAIL  step {report.first.step}: {side} fails, {other} does not")
        lines.append(f"      error[{error.code}]: {safe(error.summary, 400)}{where}")
    lines.append(_sentence(report))
    return lines


def _sentence(report: Report) -> str:
    steps = number(report.steps, "step")
    if report.ok:
        return f"equal within the tolerances: {number(len(report.entries), 'value')}, {steps}"
    failed = sum(not entry.ok for entry in report.entries)
    first = report.first.step if report.first is not None else 0
    what = f"{failed} of {number(len(report.entries), 'value')} differ" if failed else "one side fails"
    return f"{what}, first in step {first} of {steps}"


def _verdict(entry: Entry) -> str:
    if entry.misfit is not None:
        return f"  {entry.misfit}"
    if entry.ok:
        return "" if entry.most is not None else "  equal"
    needs = [
        f"{word} {at_least(least)}"
        for word, least in (("rtol", entry.least_rtol), ("atol", entry.least_atol))
        if least is not None
    ]
    return "  needs " + " or ".join(needs) if needs else "  no tolerance passes"


def _places(entry: Entry) -> list[str]:
    lines = []
    for word, found in (("abs", entry.most), ("rel", entry.relative)):
        if found is not None:
            step, difference = found
            lines.append(f"max {word} {_place_text(difference, word)}, step {step}")
    if entry.special is not None:
        lines.append(f"NaN or infinity {_place_text(entry.special[1], 'special')}, step {entry.special[0]}")
    return lines


def _place_text(difference: Difference, which: str) -> str:
    place = {"abs": difference.most, "rel": difference.relative}.get(which, difference.special)
    if place is None:
        return ""
    amount = "" if which == "special" else f"{place.amount:.3g} "
    return f"{amount}at {list(place.index)}: {_value(place.actual)} against {_value(place.expected)}"


def _value(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def divergence_text(found: Divergence) -> list[str]:
    """The first node that differs."""
    lines = []
    if found.number is not None and found.difference is not None:
        where = f" ({safe(str(found.where), 400)})" if found.where is not None else ""
        lines.append(f"first difference: node {found.number} {found.op}{where}, {safe(found.value)}")
        lines.append(f"      {safe(found.text, 160)}")
        which = "special" if found.difference.special is not None else "abs"
        misfit = found.difference.misfit
        lines.append(f"      {misfit or ('max abs ' if which == 'abs' else '') + _place_text(found.difference, which)}")
        if found.operands is not None:
            apart = f"differ by at most {found.operands:.3g}" if found.operands else "are equal"
            lines.append(f"      its operands {apart}")
        if found.alone:
            lines.append(
                "      seen only with this one value as an output: the fault lies in how the whole is optimised"
            )
    if found.note is not None:
        lines.append(f"trace: {safe(found.note, 400)}")
    return lines


# As JSON ------------------------------------------------------------------------------------------------------------


def report_json(report: Report) -> dict[str, Any]:
    """The fields of a report that go into ``maxg.compare/1``."""
    failure = None
    if report.failure is not None:
        side, error = report.failure
        failure = {"side": side, "code": error.code, "text": error.summary, "where": _text(error.where)}
    return {
        "equal": report.ok,
        "actual": report.actual,
        "expected": report.expected,
        "steps": report.steps,
        "first_step": report.first.step if report.first is not None else None,
        "values": [_entry_json(entry) for entry in report.entries],
        "differ_at_start": report.unequal_start,
        "failure": failure,
    }


def _entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "name": entry.name,
        "type": entry.type,
        "equal": entry.ok,
        "first_step": entry.first,
        "misfit": entry.misfit,
        "max_abs": _place_json(entry.most, "most"),
        "max_rel": _place_json(entry.relative, "relative"),
        "special": _place_json(entry.special, "special"),
        "least_rtol": entry.least_rtol,
        "least_atol": entry.least_atol,
    }


def _place_json(found: tuple[int, Difference] | None, which: str) -> dict[str, Any] | None:
    if found is None:
        return None
    place = getattr(found[1], which)
    values = {"actual": _json_number(place.actual), "expected": _json_number(place.expected)}
    return {"amount": _json_number(place.amount), "step": found[0], "index": list(place.index), **values}


def _json_number(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def divergence_json(found: Divergence) -> dict[str, Any]:
    """The field ``trace`` of ``maxg.compare/1``."""
    worst = found.difference
    which = "most" if worst is not None and worst.special is None else "special"
    has_place = worst is not None and getattr(worst, which) is not None
    return {
        "node": found.number,
        "op": found.op or None,
        "where": _text(found.where),
        "text": found.text or None,
        "value": found.value or None,
        "misfit": worst.misfit if worst is not None else None,
        "place": _place_json((0, worst), which) if worst is not None and has_place else None,
        "operands": found.operands,
        "alone": found.alone,
        "note": found.note,
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)
