"""onnxruntime's exceptions in the terms of the user's program. Its own text never reaches a user."""

from __future__ import annotations

import logging
import re

from ..errors import ExecutionError, InternalError, MaxGraphError
from ..lower.lowered import Lowered
from .ort import OrtFailure

__all__ = ["explain"]

_logger = logging.getLogger("maxgraph.engine")
_NODE = re.compile(r"running (\w+) node\. Name:'([^']*)'")
_MEMORY = re.compile(r"Failed to allocate memory for requested buffer of size (\d+)")


def explain(failure: OrtFailure, lowered: Lowered) -> MaxGraphError:
    """The error to raise when onnxruntime failed while it ran a model."""
    text = str(failure)
    _logger.debug("onnxruntime: %s", text)  # for those who debug maxgraph itself
    nodes = list(_NODE.finditer(text))  # a node in a branch is named behind the If
    node = nodes[-1] if nodes else None
    guard = lowered.guards.get(node[2]) if node else None
    if guard is not None:
        # Guards run before the first store, which the planner proves, so nothing has changed.
        return ExecutionError(guard[0], code="MG035", where=guard[1])
    what = f"while it ran {node[1]} of" if node else "while it ran"
    changed = [b.name for b in lowered.buffers if b.versions and b.plan.mode.shares_memory]
    details = [("may have changed", ", ".join(changed))] if changed else []
    memory = _MEMORY.search(text)
    if memory:
        return ExecutionError(
            f"out of memory {what} graph `{lowered.graph_name}`: {int(memory[1]):,} bytes were wanted",
            code="MG044",
            details=details,
        )
    return InternalError(
        f"onnxruntime failed {what} graph `{lowered.graph_name}`",
        code="MG043",
        details=details,
        help="this is a fault in maxgraph; please report it with the graph "
        '(logging.getLogger("maxgraph.engine") has more at level DEBUG)',
    )
