"""Weights that the caller gives when a graph is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..driver import Buffer
from ..driver.arrays import Array, array_from_dlpack
from ..errors import InputError, suggest
from ..graph import ir
from ..graph.graph import Graph

__all__ = ["registered_weights"]


def registered_weights(graph: Graph, registry: Mapping[str, Any]) -> dict[str, Array]:
    """The weights of a graph that the registry has, as arrays; other names are ignored, as in MAX.

    Args:
        graph: The graph.
        registry: Arrays, buffers or DLPack tensors by name.

    Raises:
        InputError: One does not fit, or a weight has no elements at all.
        InputTypeError: One is no array.
    """
    found: dict[str, Array] = {}
    for name, info in graph.weights.items():
        if name in registry:
            found[name] = _fitting(info, registry[name])
        elif info.data is None:
            raise InputError(
                f"weight `{name}` has no elements",
                code="MG039",
                details=[("wanted", str(info.type))],
                help=suggest(name, list(registry)) or "give them by name: weights_registry={name: array}",
            )
    return found


def _fitting(info: ir.WeightInfo, value: Any) -> Array:
    if isinstance(value, Buffer):
        array = value._array  # noqa: SLF001 - see Buffer
    else:
        array = value if isinstance(value, np.ndarray) else array_from_dlpack(value)
    if array.dtype != info.type.dtype.to_numpy() or array.shape != info.type.shape.evaluate({}):
        raise InputError(
            f"weight `{info.name}` does not fit",
            code="MG039",
            details=[("wanted", str(info.type)), ("given", f"{array.dtype}{list(array.shape)}")],
        )
    return np.asarray(array, order="C")
