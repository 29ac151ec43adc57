"""What an execution's failure means to a user. Nothing of onnxruntime's own text reaches them."""

from __future__ import annotations

import logging
import re

from ..errors import ExecutionError, InternalError, MaxGraphError
from ..lower.lowered import Lowered

__all__ = ["explain_failure"]

_LOG = logging.getLogger("maxgraph.engine")
_NODE = re.compile(r"Name:'(guard\d+)'")


def explain_failure(error: Exception, lowered: Lowered) -> MaxGraphError:
    """The error to raise for one that onnxruntime raised.

    A check that the graph makes of its data fails as a node of a known name. Anything else was not foreseen.
    """
    _LOG.debug("onnxruntime failed in graph %s", lowered.graph_name, exc_info=error)
    found = _NODE.search(str(error))
    if found and found.group(1) in lowered.guards:
        message, where = lowered.guards[found.group(1)]
        return ExecutionError(message, code="MG035", where=where)
    return InternalError(
        f"onnxruntime failed while it ran graph `{lowered.graph_name}`",
        code="MG043",
        help="this is a fault in maxgraph or a lack of memory; set the log level of `maxgraph.engine` to DEBUG to see it",
    )
