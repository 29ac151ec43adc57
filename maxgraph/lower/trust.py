"""Whether kernels may change memory in place on this machine.

Every row of the allow-list was tested with certain versions of onnxruntime. With another minor version nothing is bound
in place until the self-test of all rows has passed on this machine; its verdict is kept in the store, by onnxruntime's
build, the provider and the processor. A verdict that is bad counts more than our list.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass

from ..store import Store
from ..user_store import open_store
from .machine import machine_facts

__all__ = ["KIND", "TESTED", "Verdict", "distrust", "is_tested", "onnxruntime_version", "self_test"]

#: Minor versions of onnxruntime with which the whole test suite has run.
TESTED = ("1.32",)
KIND = "self-test"
_CPU_PROVIDER = "CPUExecutionProvider"
#: Verdicts of this process, for those who keep none on disk.
_known: dict[str, Verdict] = {}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the self-test found.

    Attributes:
        rows: How many rows were tested.
        failed: The operators that are wrong over their own input.
        seconds: How long it took.
        kept: Whether it was found, and not made now.
        stored: Whether other processes find it.
    """

    rows: int
    failed: tuple[str, ...]
    seconds: float = 0.0
    kept: bool = False
    stored: bool = False


def onnxruntime_version() -> str:
    """The version of onnxruntime."""
    return machine_facts()["onnxruntime"].partition(" ")[0]


def is_tested(version: str) -> bool:
    """Whether a version of onnxruntime is one of `TESTED`.

    Example:
        >>> is_tested("1.32.5"), is_tested("1.320.0"), is_tested("2.0.0")
        (True, False, False)
    """
    return ".".join(version.split(".")[:2]) in TESTED


def distrust(provider: str) -> str | None:
    """Why no kernel of a provider may change memory in place; None if those on the allow-list may."""
    if provider != _CPU_PROVIDER:
        return "no kernel of this provider is known to be safe"
    verdict = _find(provider, open_store())
    if verdict is not None and verdict.failed:
        return f"on this machine kernels failed the self-test: {', '.join(verdict.failed)}"
    version = onnxruntime_version()
    if verdict is None and not is_tested(version):
        return f"onnxruntime {version} is not tested; `maxg doctor` tests it"
    return None


def self_test(provider: str) -> Verdict:
    """The verdict of the self-test, which runs only if there is none yet."""
    from .selftest import failing_rows

    store = open_store()
    found = _find(provider, store)
    if found is not None:
        return found
    start = time.perf_counter()
    rows, failed = failing_rows(provider)
    seconds = time.perf_counter() - start
    body = json.dumps({"rows": rows, "failed": failed}).encode()
    facts = {"kind": KIND, "name": "-", "onnxruntime": onnxruntime_version(), "provider": provider}
    key = _key(provider)
    stored = store is not None and store.put(key, facts, [body])
    _known[key] = Verdict(rows, tuple(failed), seconds, kept=True, stored=stored)
    return Verdict(rows, tuple(failed), seconds, stored=stored)


def _find(provider: str, store: Store | None) -> Verdict | None:
    key = _key(provider)
    if key in _known:
        return _known[key]
    body = None if store is None else store.get(key)
    if body is None:
        return None
    try:
        found = json.loads(body)
        rows, failed = found["rows"], [str(name) for name in found["failed"]]
    except (LookupError, TypeError, ValueError, RecursionError):
        return None
    if type(rows) is not int or rows < 1:  # a test of nothing has proved nothing
        return None
    return Verdict(rows, tuple(failed), kept=True, stored=True)


def _key(provider: str) -> str:
    parts = {"kind": KIND, "provider": provider, **machine_facts()}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
