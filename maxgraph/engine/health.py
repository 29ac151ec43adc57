"""Whether what is installed works: each part is tried, not only looked up."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator

from ..driver import Device
from ..errors import MaxGraphError
from ..store import Store
from ..user_store import default_folder, default_limit, open_store
from .installed import Check, installed

__all__ = ["Check", "checks"]

_logger = logging.getLogger("maxgraph.engine")
#: A provider that onnxruntime lists whatever the machine has: it calls a service.
_NOT_TRIED = ("AzureExecutionProvider",)


def checks() -> Iterator[Check]:
    """All checks, one after the other; none raises.

    Example:
        >>> [check.name for check in checks()][:3]
        ['python', 'maxgraph', 'numpy']
    """
    for name, make in (
        ("versions", installed),
        ("providers", _providers),
        ("self-test", _self_test),
        ("cache", _cache),
    ):
        try:
            yield from make()
        except Exception as error:
            _logger.debug("doctor: %s", name, exc_info=error)
            yield Check(name, "broken", f"the check itself failed with {type(error).__name__}")


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
