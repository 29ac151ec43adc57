"""Which nodes a provider would leave to the CPU."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import onnxruntime

from ..errors import DeviceError
from ..graph import ir
from ..graph.graph import Graph
from ..lower.onnx_model import origin_of

__all__ = ["refuse_fallback"]

_logger = logging.getLogger("maxgraph.engine")
_CPU = "CPUExecutionProvider"
_SHOWN = 5


def refuse_fallback(
    model: bytes, options: Any, providers: Sequence[Any], wanted: str, graph: Graph
) -> DeviceError | None:
    """The error for a session that was refused: onnxruntime would run some nodes on the CPU, or all of them.

    Args:
        options: The session's options, without the ban on falling back; they are changed.
        wanted: The provider.
        graph: The graph that was lowered.

    Returns:
        None if the session was refused for another reason.
    """
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "0")
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    try:
        session = onnxruntime.InferenceSession(model, options, providers=providers, disable_fallback=1)
    except Exception as error:  # noqa: BLE001 - onnxruntime has many
        _logger.debug("onnxruntime: %s", error)
        return None
    if wanted not in session.get_providers():
        return DeviceError(
            f"onnxruntime cannot start {wanted}, and would silently run on the CPU instead",
            code="MG040",
            help="check the CUDA and cuDNN versions that onnxruntime-gpu needs, and nvidia-smi",
        )
    left = [
        (node.op_type, origin_of(node.name, graph))
        for part in session._sess.get_provider_graph_assignment_info()  # noqa: SLF001 - the wrapper has no such method
        if part.ep_name == _CPU
        for node in part.get_nodes()
    ]
    if not left:
        return None
    named = list(
        dict.fromkeys(op_type if origin is None else f"{op_type}, of {_text(origin)}" for op_type, origin in left)
    )
    return DeviceError(
        f"{len(left)} of the nodes of graph `{graph.name}` would run on the CPU",
        code="MG046",
        details=[("node", text) for text in named[:_SHOWN]],
        help="allow_fallback=True lets them; what they read and write is then copied over in each execution",
    )


def _text(node: ir.Node) -> str:
    return f"`{node.op.name}`{f' ({node.location})' if node.location is not None else ''}"
