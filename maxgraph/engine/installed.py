"""The packages that are installed: whether each is there, new enough, and can be imported."""

from __future__ import annotations

import importlib
import importlib.metadata as metadata
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

__all__ = ["Check", "installed"]

#: The packages that lowering and running need, by the name under which they are imported.
_PACKAGES = {
    "numpy": "numpy",
    "onnx": "onnx",
    "protobuf": "google.protobuf",
    "ml_dtypes": "ml_dtypes",
    "safetensors": "safetensors",
}
_RUNTIME = "onnxruntime"
_DISTRIBUTION = "maxg"


@dataclass(frozen=True, slots=True)
class Check:
    """What one check found.

    Attributes:
        name: What was checked.
        status: "ok"; "absent" for what is not there and need not be; "broken" for what is there and does not work.
        text: One line.
        hint: How to mend it.
        facts: The same for programs, such as a version.
    """

    name: str
    status: str
    text: str
    hint: str | None = None
    facts: Mapping[str, object] = field(default_factory=dict)


def installed() -> Iterator[Check]:
    """A check of Python, of maxgraph and of each package; one more if two distributions of onnxruntime clash."""
    wanted = _requirements()
    yield _compared("python", platform.python_version(), wanted.get("python", ""))
    from .. import __version__

    yield _compared("maxgraph", __version__, "")
    for distribution, module in _PACKAGES.items():
        yield _installed(distribution, distribution, module, wanted)
    yield from _runtime(wanted)


def _runtime(wanted: dict[str, str]) -> Iterator[Check]:
    """Every distribution of onnxruntime brings the same folder; of several, the one installed last has overwritten."""
    found = _distributions_of(_RUNTIME)
    yield _installed(_RUNTIME, found[0] if found else _RUNTIME, _RUNTIME, wanted)
    if len(found) > 1:
        keep = next((name for name in found if name.endswith("gpu")), found[0])
        yield Check(
            "clash",
            "broken",
            f"{' and '.join(found)} share a folder, and one has overwritten the other",
            f"pip uninstall {' '.join(found)}; pip install {keep}",
        )


def _distributions_of(package: str) -> list[str]:
    """The installed distributions that bring a package."""
    return sorted(set(metadata.packages_distributions().get(package, [])))


def _installed(label: str, distribution: str, module: str, wanted: dict[str, str]) -> Check:
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return Check(label, "broken", "not installed", f"pip install {label}")
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - a broken package raises whatever it likes
        reason = str(error).splitlines()[0] if isinstance(error, ImportError) and str(error) else type(error).__name__
        return Check(
            label, "broken", f"{version} cannot be imported: {reason[:200]}", f"pip install --force-reinstall {label}"
        )
    found = _compared(label, version, wanted.get(label, ""))
    return found if distribution == label else replace(found, text=f"{found.text} ({distribution})")


def _compared(label: str, version: str, wanted: str) -> Check:
    """A version beside what is wanted, such as ``>=6.31.1,<8``."""
    facts = {"version": version, "wanted": wanted or None}
    for operator, bound in re.findall(r"(>=|<)\s*([\d.]+)", wanted):
        if (_numbers(version) >= _numbers(bound)) != (operator == ">="):
            text = f"{version}, and {wanted} is wanted"
            return Check(label, "broken", text, f"pip install '{label}{wanted}'", facts)
    return Check(label, "ok", f"{version} (wanted {wanted})" if wanted else version, facts=facts)


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


def _requirements() -> dict[str, str]:
    """The versions that our own distribution asks for, by name."""
    try:
        about = metadata.metadata(_DISTRIBUTION)
        listed = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:  # run from a folder that was never installed
        return {}
    found = {"python": about["Requires-Python"] or ""}
    for line in listed:
        name, marker = re.split(r"(?=[<>=!~;\s])", line, maxsplit=1)[0], line.partition(";")[2]
        if "extra" not in marker:
            found[name] = line.removeprefix(name).partition(";")[0].strip()
    return found
