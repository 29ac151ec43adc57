"""What a run gives: shown, saved, compared."""

from __future__ import annotations

import json
import math
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

import numpy as np

from maxgraph.compare.differences import difference
from maxgraph.compare.tolerance import Tolerances
from maxgraph.errors import UsageError, suggest

from .console import table
from .values import Array, read_set

__all__ = [
    "Comparison",
    "at_least",
    "check_output_path",
    "compare",
    "jsonable",
    "read_expected",
    "save_results",
    "shown",
    "steps_table",
]

_SHOWN_ELEMENTS = 8
_SHOWN_STEPS = 10


def jsonable(array: Array) -> Any:
    """Nested lists; what JSON has no number for becomes text."""

    def clean(value: Any) -> Any:
        if isinstance(value, list):
            return [clean(v) for v in value]
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        return value

    values = array.astype(np.float64) if array.dtype.kind == "V" else array
    return clean(values.tolist())


def shown(array: Array, *, whole: bool = False) -> str:
    """An array on one line, shortened unless it is wanted whole."""
    if array.ndim == 0:
        return _number(array[()])
    if whole or array.size <= _SHOWN_ELEMENTS:
        return _nested(array)
    few = " ".join(_number(value) for value in array.reshape(-1)[:4])
    summary = f"[{few} ...] {array.dtype}{list(array.shape)}"
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            summary += f" min {_number(array.min())} max {_number(array.max())}"
    return summary


def _nested(array: Array) -> str:
    if array.ndim == 0:
        return _number(array[()])
    return "[" + " ".join(_nested(part) for part in array) + "]"


def _number(value: Any) -> str:
    return f"{float(value):.6g}" if isinstance(value, (float, np.floating)) else str(value)


def steps_table(names: Sequence[str], results: Sequence[Mapping[str, Array]], *, whole: bool) -> str:
    """A line for each step; of many, the first and the last ones."""
    rows = [["step", *names]]
    count = len(results)
    for step, outputs in enumerate(results):
        if whole or count <= _SHOWN_STEPS or step < 3 or step >= count - 3:
            rows.append([str(step), *(shown(outputs[name], whole=whole) for name in names)])
        elif step == 3:
            rows.append(["..."])
    return table(rows, right=[0])


def save_results(path: str, arrays: Mapping[str, Array]) -> None:
    """Writes arrays to an npz, safetensors or JSON file, whole or not at all; ``-`` is stdout, as JSON.

    Raises:
        UsageError: It cannot be written.
    """
    if path == "-":
        json.dump({name: jsonable(array) for name, array in arrays.items()}, sys.stdout)
        sys.stdout.write("\n")
        return
    temporary = f"{path}.{secrets.token_hex(6)}.tmp"
    try:
        with open(temporary, "xb") as file:
            if path.endswith(".npz"):
                np.savez(file, **arrays)  # type: ignore[arg-type]  # its stub takes a name of ours for allow_pickle
            elif path.endswith(".safetensors"):
                from safetensors.numpy import save

                file.write(save({n: np.asarray(a, order="C") for n, a in arrays.items()}))
            else:
                file.write(json.dumps({name: jsonable(array) for name, array in arrays.items()}).encode() + b"\n")
        os.replace(temporary, path)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise UsageError(f"{path} cannot be written: {error.strerror}", code="MG050") from None


def check_output_path(path: str | None) -> None:
    """Refuses a result file of an unknown kind before anything runs."""
    if path is not None and path != "-" and not path.endswith((".npz", ".safetensors", ".json")):
        raise UsageError(f"{path}: results go to .npz, .safetensors, .json, or - for stdout", code="MG052")


class Comparison:
    """One output against what was expected.

    Attributes:
        ok: Whether it is within the tolerances.
        text: The line that says so.
    """

    def __init__(self, name: str, ok: bool, text: str) -> None:  # noqa: FBT001 - a record
        self.name = name
        self.ok = ok
        self.text = text


def read_expected(source: str, names: Sequence[str]) -> Mapping[str, Array]:
    """What is expected, by output; every array of the file must be one.

    Raises:
        UsageError: The file cannot be read, or names no output.
    """
    found = read_set(source)
    for name in found:
        if name not in names:
            raise UsageError(f"{source} expects `{name}`", code="MG030", help=suggest(name, list(names)))
    return found


def compare(
    results: Mapping[str, Array], expected: Mapping[str, Array], rtol: float | None, atol: float | None
) -> list[Comparison]:
    """Compares results with what is expected."""
    tolerances = Tolerances(rtol, atol)
    return [_compare(name, results[name], array, tolerances) for name, array in expected.items()]


def _compare(name: str, actual: Array, expected: Array, tolerances: Tolerances) -> Comparison:
    kind = f"{actual.dtype}{list(actual.shape)}"
    found = difference(actual, expected, tolerances.of(name, actual.dtype.name))
    if found.ok:
        return Comparison(name, True, f"ok    {name}  {kind}")
    if found.misfit is not None:
        return Comparison(name, False, f"FAIL  {name}  {kind}, expected {expected.dtype}{list(expected.shape)}")
    if found.special is not None or found.most is None:
        place = list(found.special.index) if found.special is not None else []
        return Comparison(name, False, f"FAIL  {name}  {kind}  NaN or infinity differs at {place}")
    needs = [
        f"--{option} {at_least(least)}"
        for option, least in (("atol", found.least_atol), ("rtol", found.least_rtol))
        if least is not None
    ]
    most = f"max abs {found.most.amount:.2g} at {list(found.most.index)}"
    return Comparison(name, False, f"FAIL  {name}  {kind}  {most}  needs {' or '.join(needs)}")


def at_least(number: float) -> str:
    """A number in three digits that is no smaller: what is shown as the least tolerance must pass."""
    exact = Decimal(number)
    return f"{float(Context(prec=3, rounding=ROUND_CEILING).plus(exact)):.3g}"
