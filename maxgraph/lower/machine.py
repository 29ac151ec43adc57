"""What a lowered graph depends on besides the graph: our own code, onnxruntime's build and the processor."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

from .optimise import onnxruntime_build

__all__ = ["machine_facts", "processor"]

#: The code that decides what a graph is lowered to.
_CODE = ("*.py", "graph/**/*.py", "lower/**/*.py")


@cache
def machine_facts() -> dict[str, str]:
    """Everything that makes what one process has computed unfit for another one."""
    return {"code": _code(), "onnxruntime": onnxruntime_build(), "processor": processor()}


def _code() -> str:
    """Sizes and times of the source files: a changed line in a checkout must not meet what the old one has made."""
    root = Path(__file__).parent.parent
    found = []
    for path in sorted(path for pattern in _CODE for path in root.glob(pattern)):
        state = path.stat()
        found.append(f"{path.relative_to(root)} {state.st_size} {state.st_mtime_ns}")
    return "\n".join(found)


@cache
def processor() -> str:
    """The processor with its features; where the system does not list them, the machine's name stands for them."""
    features = [line for line in _cpuinfo() if line.partition(":")[0].strip() in _LISTED]
    return "\n".join([platform.machine(), *(features or [platform.processor(), platform.node()])])


#: What the first processor of /proc/cpuinfo says of itself, on x86 and on ARM.
_LISTED = frozenset(
    ("vendor_id", "cpu family", "model", "flags", "Features", "CPU implementer", "CPU architecture", "CPU part")
)


def _cpuinfo() -> list[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return file.read(1 << 14).partition("\n\n")[0].splitlines()
    except OSError:
        return []
