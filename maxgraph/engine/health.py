"""Whether what is installed works: each part is tried, not only looked up."""

from __future__ import annotations

import importlib
import importlib.metadata as metadata
import logging
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..driver import Device
from ..errors import MaxGraphError
from ..store import Store, default_folder, default_limit, open_store

__all__ = ["Check", "checks"]

_logger = logging.getLogger("maxgraph.engine")
#: The packages that lowering and running need, by the name under which they are imported.
_PACKAGES = {
    "numpy": "numpy",
    "onnx": "onnx",
    "protobuf": "google.protobuf",
    "ml_dtypes": "ml_dtypes",
    "safetensors": "safetensors",
}
_RUNTIME = "onnxruntime"
#: Providers that onnxruntime lists whatever the machine has: one calls a service, the other is always tried first.
_NOT_TRIED = ("AzureExecutionProvider",)
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


def checks() -> Iterator[Check]:
    """All checks, one after the other; none raises.

    Example:
        >>> [check.name for check in checks()][:3]
        ['python', 'maxgraph', 'numpy']
    """
    for name, make in (
        ("versions", _versions),
        ("providers", _providers),
        ("self-test", _self_test),
        ("cache", _cache),
    ):
        try:
            yield from make()
        except Exception as error:
            _logger.debug("doctor: %s", name, exc_info=error)
            yield Check(name, "broken", f"the check itself failed with {type(error).__name__}")


# Versions -----------------------------------------------------------------------------------------------------------


def _versions() -> Iterator[Check]:
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


# Providers ----------------------------------------------------------------------------------------------------------


def _providers() -> Iterator[Check]:
    import onnxruntime

    from ..driver import CPU, Accelerator
    from ..driver.device import CUDA_PROVIDER
    from .ort import CPU_PROVIDER

    available = onnxruntime.get_available_providers()
    yield _tried("cpu", lambda: _update_in_place(CPU()))
    if CUDA_PROVIDER in available:
        yield _tried("cuda", lambda: _update_in_place(Accelerator()))
    else:
        hint = "pip uninstall onnxruntime; pip install onnxruntime-gpu"
        yield Check("cuda", "absent", "not in this build of onnxruntime", hint)
    for provider in available:
        if provider not in (CPU_PROVIDER, CUDA_PROVIDER, *_NOT_TRIED):
            yield Check(provider, "absent", "in this build of onnxruntime, and not used by maxgraph")


def _tried(name: str, attempt: Callable[[], str]) -> Check:
    start = time.perf_counter()
    try:
        said = attempt()
    except Exception as error:
        _logger.debug("doctor: %s", name, exc_info=error)
        if isinstance(error, MaxGraphError):
            return Check(name, "broken", f"a session of one op failed: {error.summary}", error.help)
        return Check(name, "broken", f"a session of one op failed with {type(error).__name__}")
    milliseconds = 1000 * (time.perf_counter() - start)
    text = f"session of one op {milliseconds:.0f} ms, {said}"
    return Check(name, "ok", text, facts={"milliseconds": round(milliseconds, 1)})


def _update_in_place(device: Device) -> str:
    """Changes a buffer twice on the device.

    Raises:
        RuntimeError: It did not hold what was stored.
    """
    import numpy as np

    from ..dtype import DType
    from ..graph import BufferType, DeviceRef, Graph
    from .session import InferenceSession

    kind = BufferType(DType.float32, [4], DeviceRef.CPU())
    with Graph("doctor", input_types=[kind], input_names=["total"]) as graph:
        total = graph.inputs[0].buffer
        total[...] = total[...] + 1
        graph.output()
    model = InferenceSession(devices=[device], cache=False).load(graph)
    memory = np.zeros(4, np.float32)
    for _ in range(2):
        model.execute(memory)
    if memory.tolist() != [2.0] * 4:
        raise RuntimeError("a buffer does not hold what was stored in it")
    mode = model.plan["total"].mode if model.plan is not None else None
    return f"buffer update verified ({mode})"


# The in-place self-test ---------------------------------------------------------------------------------------------


def _self_test() -> Iterator[Check]:
    from ..lower.trust import TESTED, is_tested, onnxruntime_version, self_test
    from .ort import CPU_PROVIDER

    verdict = self_test(CPU_PROVIDER)
    facts = {"provider": CPU_PROVIDER, "rows": verdict.rows, "failed": list(verdict.failed), "kept": verdict.kept}
    how = "as tested before" if verdict.kept else f"tested now in {verdict.seconds:.1f} s"
    if verdict.failed:
        text = f"{len(verdict.failed)} of {verdict.rows} kernels are wrong over their own input: "
        hint = "nothing is changed in place on this machine; please report it"
        yield Check("in place", "broken", text + ", ".join(verdict.failed), hint, facts)
        return
    yield Check("in place", "ok", f"{verdict.rows} kernels right over their own input, {how}", facts=facts)
    if not (verdict.stored or is_tested(onnxruntime_version())):
        text = f"onnxruntime {onnxruntime_version()} is none of {', '.join(TESTED)}, and without a cache its self-test "
        hint = "switch the cache on, or install a tested version"
        yield Check("untested", "broken", text + "is forgotten: nothing is changed in place", hint)


# The cache ----------------------------------------------------------------------------------------------------------


def _cache() -> Iterator[Check]:
    limit = default_limit()
    folder = default_folder()
    if limit is None:
        given = os.environ.get("MAXG_CACHE_SIZE")
        yield Check("cache", "broken", f"off: MAXG_CACHE_SIZE={given!r} is no size", "e.g. MAXG_CACHE_SIZE=512M")
        return
    if open_store() is None:
        yield Check("cache", "absent", "switched off by MAXG_CACHE")
        return
    store = Store(folder, limit)
    problem = store.problem()
    if problem is not None:
        yield Check("cache", "broken", f"off: {folder}: {problem}", "name another folder: MAXG_CACHE_DIR=...")
        return
    entries = store.entries()
    used = sum(entry.num_bytes for entry in entries)
    facts = {"folder": folder, "entries": len(entries), "bytes": used, "limit_bytes": limit}
    yield Check("cache", "ok", f"{folder}: {len(entries)} entries, {used:,} of {limit:,} bytes", facts=facts)
