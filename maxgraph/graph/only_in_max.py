"""Names that only MAX can give a meaning, with what to use instead."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import MissingNameError, user_location

__all__ = ["GRAPH", "OPS", "missing"]

_COLLECTIVE = "it works over several accelerators, and a graph runs on one: compute on that device"
_MOJO = "kernels written in Mojo cannot be loaded: write the operation with ops.*"
_MLIR = "there is no MLIR underneath: build the graph with ops.cond, ops.while_loop and Graph.add_subgraph"
_SHARDING = "a weight lies on one device: split it with ops.split"
_QUANTISED = "formats of quantised weights are not read: give the elements in a dtype that has ops"
_EXPERTS = "it needs kernels for several accelerators: gather the experts' rows with ops.gather"

#: Of `maxgraph.graph`.
GRAPH: dict[str, str] = {
    "KernelLibrary": _MOJO,
    "default_custom_extensions": _MOJO,
    "default_custom_extensions_scope": _MOJO,
    "GraphBlock": _MLIR,
    "GraphDebugConfig": "every node keeps its line of the program anyway",
    "ProfileScopeColor": "scopes have no colours here; Graph.profile_scope takes any value",
    "DevicePlacementPolicy": "operands on different devices are always refused",
    "ShardingStrategy": _SHARDING,
    "Segment": _SHARDING,
    "quantization": _QUANTISED,
    "QuantizationEncoding": _QUANTISED,
    "QuantizationConfig": _QUANTISED,
    "BlockParameters": _QUANTISED,
    "_ChainType": "effects on buffers are in program order; there are no chains",
    "_ChainValue": "effects on buffers are in program order; there are no chains",
    "_OpaqueType": "values are tensors and buffers",
    "_OpaqueValue": "values are tensors and buffers",
}
#: Of `maxgraph.graph.ops`.
OPS: dict[str, str] = {
    **dict.fromkeys(
        (
            "allgather",
            "allgather_rms_norm",
            "allgather_rms_norm_quant_mxfp6",
            "allgather_rms_norm_quant_mxfp8",
            "allreduce",
            "bundled_allreduce",
            "distributed_broadcast",
            "distributed_scatter",
            "reduce_scatter_rms_norm",
            "reducescatter",
        ),
        _COLLECTIVE,
    ),
    "distributed_ep": _EXPERTS,
    "quantized": _QUANTISED,
    "dequantize": _QUANTISED,
    "qmatmul": _QUANTISED,
}


def missing(module: str, name: str, known: Mapping[str, str]) -> AttributeError | MissingNameError:
    """The error of a name that a module has not: with the reason, where only MAX can have it."""
    if name not in known:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return MissingNameError(
        f"`{module.rpartition('.')[2]}.{name}` is only in MAX",
        code="MG025",
        where=user_location(columns=True),
        help=known[name],
    )
