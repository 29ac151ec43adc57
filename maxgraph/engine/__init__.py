"""Running graphs on onnxruntime, with state that is kept.

`InferenceSession.load` also takes the path of a file, so this module knows the file layer; the rest of the engine does
not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..driver import Device
from ..errors import InputTypeError
from ..graph.graph import Graph
from .model import Model, TensorSpec
from .session import SessionBase
from .state import State

if TYPE_CHECKING:
    import numpy as np

__all__ = ["InferenceSession", "Model", "State", "TensorSpec"]


class InferenceSession(SessionBase):
    """Loads graphs and files, and prepares them to run.

    Args:
        devices: Where graphs run; the CPU if none is given. An `Accelerator` takes all of a graph's logical devices.
        num_threads: Threads inside one execution; 1 if not given, which is best for small graphs.
        optimization: "all" or "none" of onnxruntime's graph optimisations.
        buffers: "auto"; "in_place" to refuse a graph whose buffers need a second memory; "copied" to share none,
            which is a way to look for a fault.

    Example:
        >>> import numpy as np
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import DeviceRef, Graph, TensorType
        >>> x_type = TensorType(DType.float32, [2], DeviceRef.CPU())
        >>> graph = Graph("double", lambda x: x * 2, input_types=[x_type])
        >>> model = InferenceSession().load(graph)
        >>> model.execute(np.array([1, 2], np.float32))[0].to_numpy().tolist()
        [2.0, 4.0]

    Raises:
        DeviceError: A device cannot be had. There is no silent fallback.
    """

    def __init__(
        self,
        devices: Iterable[Device] = (),
        num_threads: int | None = None,
        *,
        optimization: str = "all",
        buffers: str = "auto",
    ) -> None:
        super().__init__(devices, num_threads, optimization=optimization, buffers=buffers)

    def load(
        self,
        model: Graph | str | os.PathLike[str],
        *,
        weights_registry: Mapping[str, np.ndarray[Any, Any]] | None = None,
        reference: bool = False,
    ) -> Model:
        """A graph, or a ``.maxg`` file, ready to run.

        Args:
            model: The graph, or the file's path.
            weights_registry: Elements of weights that the graph does not hold, by name; more than it needs may be
                there.
            reference: Run it with the numpy interpreter instead of onnxruntime.

        Raises:
            FormatError: The file is not valid.
            InputError: A weight is missing or does not fit.
            DeviceError: The graph's devices cannot be had.
            LoweringError: A buffer cannot be had as `buffers` demands, or an op cannot be lowered.
        """
        if isinstance(model, (str, os.PathLike)):
            from ..format import load

            return self.load_graph(load(model), weights_registry, reference=reference)
        if not isinstance(model, Graph):
            raise InputTypeError(f"a Graph or a path is wanted, not {type(model).__name__}", code="MG017")
        return self.load_graph(model, weights_registry, reference=reference)

    def __repr__(self) -> str:
        return f"InferenceSession(devices={self.devices})"
