"""Names that only MAX can give a meaning, with what to use instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from ..errors import MissingMemberError, MissingNameError, user_location

__all__ = ["CHAINS", "GRAPH", "MLIR", "MOJO", "OPAQUE", "OPS", "SHARDING", "WEIGHTS", "OnlyInMax", "missing"]

_COLLECTIVE = "it works over several accelerators, and a graph runs on one: compute on that device"
MOJO = "kernels written in Mojo cannot be loaded: write the operation with ops.*"
MLIR = "there is no MLIR underneath: build the graph with ops.cond, ops.while_loop and Graph.add_subgraph"
SHARDING = "a weight lies on one device: split it with ops.split"
CHAINS = "effects on buffers are in program order; there are no chains"
OPAQUE = "values are tensors and buffers"
_QUANTISED = "formats of quantised weights are not read: give the elements in a dtype that has ops"
_EXPERTS = "it needs kernels for several accelerators: gather the experts' rows with ops.gather"

#: Of `maxgraph.graph`.
GRAPH: dict[str, str] = {
    "KernelLibrary": MOJO,
    "default_custom_extensions": MOJO,
    "default_custom_extensions_scope": MOJO,
    "GraphBlock": MLIR,
    "GraphDebugConfig": "every node keeps its line of the program anyway",
    "ProfileScopeColor": "scopes have no colours here; Graph.profile_scope takes any value",
    "DevicePlacementPolicy": "operands on different devices are always refused",
    "ShardingStrategy": SHARDING,
    "Segment": SHARDING,
    "quantization": _QUANTISED,
    "QuantizationEncoding": _QUANTISED,
    "QuantizationConfig": _QUANTISED,
    "BlockParameters": _QUANTISED,
    "_ChainType": CHAINS,
    "_ChainValue": CHAINS,
    "_OpaqueType": OPAQUE,
    "_OpaqueValue": OPAQUE,
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
    "parallel": "a graph runs on one device: call the body on each of the inputs",
    "shard_and_stack": "a graph runs on one device: use ops.split and ops.stack",
    "side_stream": "the order of effects is that of the program: call the body on the inputs",
    "quantized": _QUANTISED,
    "dequantize": _QUANTISED,
    "qmatmul": _QUANTISED,
}

#: Of `maxgraph.graph.weights`.
WEIGHTS: dict[str, str] = {
    "GGUFWeights": "GGUF files hold quantised blocks, which are not read: convert the checkpoint to safetensors",
    "WeightsAdapter": "it is only the type of a function from names to WeightData: write that",
}


class OnlyInMax:
    """A member that only MAX can give a meaning: to read it from the class or an object is refused.

    Args:
        help: What to use instead.

    Example:
        >>> class Thing:
        ...     to_mlir = OnlyInMax("there is no MLIR underneath")
        >>> hasattr(Thing, "to_mlir"), hasattr(Thing(), "to_mlir")
        (False, False)
        >>> from maxgraph.errors import MissingMemberError
        >>> try:
        ...     Thing.to_mlir
        ... except MissingMemberError as error:
        ...     print(error.summary, "-", error.help)
        `Thing.to_mlir` is only in MAX - there is no MLIR underneath
    """

    __slots__ = ("_help", "_name")

    def __init__(self, help: str) -> None:  # noqa: A002 - as errors call it
        self._help = help

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise MissingMemberError(
            f"`{self._name}` is only in MAX", code="MG025", where=user_location(columns=True), help=self._help
        )


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
