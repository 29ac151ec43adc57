"""onnxruntime's exceptions in the terms of the user's program. Its own text never reaches a user."""

from __future__ import annotations

import logging
import re

from ..errors import ExecutionError, InternalError, MaxGraphError
from ..lower.lowered import Lowered, Risk

__all__ = ["explain", "out_of_memory"]

_logger = logging.getLogger("maxgraph.engine")
_NODE = re.compile(r"running (\w+) node\. Name:'([^']*)'")
_NUMBER = re.compile(r"n(\d+)(?: .*)?")
_MEMORY = re.compile(r"Failed to allocate memory for requested buffer of size (\d+)|bad_alloc|bad allocation|allocate")


def explain(text: str, lowered: Lowered, *, restored: bool) -> tuple[MaxGraphError, list[str]]:
    """What to raise when a run has failed, and the buffers that it may have left changed.

    Args:
        text: What onnxruntime said.
        lowered: The graph.
        restored: Whether what was to be kept of the buffers is in its place again.
    """
    _logger.debug("onnxruntime: %s", text)  # for those who debug maxgraph itself
    nodes = _NODE.findall(text)  # a node in a branch or a loop is named behind that
    guard = next((lowered.guards[name] for _, name in nodes if name in lowered.guards), None)
    changed = _changed(nodes[0][1] if nodes else "", lowered, is_check=guard is not None, restored=restored)
    details = [("may have changed", ", ".join(changed))] if changed else []
    if guard is not None:
        return ExecutionError(guard[0], code="MG035", where=guard[1], details=details), changed
    what = f"while it ran {nodes[-1][0]} of" if nodes else "while it ran"
    memory = _MEMORY.search(text)
    if memory:
        wanted = f": {int(memory[1]):,} bytes were wanted" if memory[1] else ""
        return (
            ExecutionError(f"out of memory {what} graph `{lowered.graph_name}`{wanted}", code="MG044", details=details),
            changed,
        )
    error = InternalError(
        f"onnxruntime failed {what} graph `{lowered.graph_name}`",
        code="MG043",
        details=details,
        help="this is a fault in maxgraph; please report it with the graph "
        '(logging.getLogger("maxgraph.engine") has more at level DEBUG)',
    )
    return error, changed


def out_of_memory(text: str, lowered: Lowered) -> ExecutionError:
    """The error where there was no memory to begin with, so that nothing has changed."""
    _logger.debug("numpy: %s", text)
    return ExecutionError(f"out of memory before graph `{lowered.graph_name}` ran", code="MG044")


def _changed(node: str, lowered: Lowered, *, is_check: bool, restored: bool) -> list[str]:
    """The buffers that a run may have changed which failed in a node."""
    number = _NUMBER.fullmatch(node)
    found = []
    for buffer in lowered.buffers:
        lives = buffer.state is None or not buffer.state.scratch
        written = lives and bool(buffer.versions) and buffer.plan.mode.shares_memory
        # Whether the node runs before the first write.
        early = number is not None and bool(buffer.before) and int(buffer.before, 16) >> int(number[1]) & 1
        if is_check and buffer.risk is not Risk.DATA:
            early = True  # and so does a check, if the plan does not say otherwise
        if written and not early and not (restored and buffer.kept):
            found.append(buffer.name)
    return found
