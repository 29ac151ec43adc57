"""Onnxruntime's optimiser, in memory. The one file of this layer that imports onnxruntime."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import InternalError

if TYPE_CHECKING:
    import numpy as np

    from ..graph.ir import WeightInfo

__all__ = ["Optimised", "onnxruntime_build", "optimise", "weight_value"]

_LOG = logging.getLogger("maxgraph.lower")
#: Initialisers that folding made and that are larger than this stay outside the model's bytes.
_INLINE_BYTES = 1024


@dataclass(slots=True)
class Optimised:
    """A model as onnxruntime will execute it, run with every optimisation off.

    Attributes:
        model: Its bytes; large initialisers are external, by name.
        folded: The elements of external initialisers that the optimiser made.
    """

    model: bytes
    folded: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)


def optimise(model: bytes, weights: Mapping[str, WeightInfo], *, level: str) -> Optimised:
    """Runs onnxruntime's graph optimiser.

    Args:
        model: An ONNX model.
        weights: Its external initialisers, by ONNX name; their elements are read only where something is folded.
        level: "none", "all", or "basic" for what is right on every provider.
    """
    import onnxruntime as ort
    from onnxruntime.capi.onnxruntime_pybind11_state import OrtValue as NativeOrtValue

    options = ort.SessionOptions()
    options.log_severity_level = 4
    values = {}
    for name, weight in weights.items():
        if weight.data is None:  # pragma: no cover - lower() asks for all weights first
            raise AssertionError(name)
        values[name] = weight_value(weight)
    if values:
        options.add_external_initializers(list(values), list(values.values()))
    folded: dict[str, np.ndarray[Any, Any]] = {}

    def place(
        name: str, value: NativeOrtValue, info: object
    ) -> ort.OrtExternalInitializerInfo | None:  # what onnxruntime calls for each initialiser
        del info
        size = value.tensor_size_in_bytes()
        if name not in values:
            if size <= _INLINE_BYTES or name in folded:  # two subgraphs may each have one of this name
                return None
            folded[name] = value.numpy().copy()
        return ort.OrtExternalInitializerInfo("maxgraph-weights", 0, size)

    levels = ort.GraphOptimizationLevel
    wanted = {"none": levels.ORT_DISABLE_ALL, "basic": levels.ORT_ENABLE_BASIC, "all": levels.ORT_ENABLE_ALL}[level]
    try:
        compiler = ort.ModelCompiler(
            options, model, graph_optimization_level=wanted, get_initializer_location_func=place
        )
        return Optimised(compiler.compile_to_bytes(), folded)
    except Exception as error:  # noqa: BLE001 - whatever onnxruntime raises; its text is for the log
        _LOG.debug("onnxruntime refuses a lowered model", exc_info=error)
        raise InternalError(
            "onnxruntime refuses the model that this graph was lowered to",
            code="MG043",
            help="this is a fault in maxgraph; please report it with the graph (the log of `maxgraph.lower` has more)",
        ) from None


def weight_value(weight: WeightInfo) -> Any:
    """A weight as onnxruntime's value over the same memory; nothing is copied."""
    import onnxruntime as ort

    if weight.data is None:  # pragma: no cover - callers look first
        raise AssertionError(weight.name)
    array = weight.data.numpy()
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat16", "float8", "float4")):
        from .onnx_model import onnx_dtype

        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, onnx_dtype(weight.type.dtype))
    return ort.OrtValue.ortvalue_from_numpy(array)


def onnxruntime_build() -> str:
    """The version of onnxruntime, and how it was built."""
    import onnxruntime as ort

    return f"{ort.__version__} {ort.get_build_info()}"
