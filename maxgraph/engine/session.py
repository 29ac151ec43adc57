"""Sessions: devices and settings under which models are loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import onnxruntime as ort

from ..driver import CPU, Device, accelerator_count
from ..errors import DeviceError, InternalError, LoweringError
from ..graph.graph import Graph
from ..graph.type import DeviceKind
from ..lower import lower
from ..lower.convert import give_weights
from ..lower.lowered import Lowered
from ..lower.optimise import weight_value
from .arguments import Array
from .model import Model
from .native import silent_options
from .reference import ReferenceModel

__all__ = ["SessionBase"]

_PROVIDERS = {"cpu": "CPUExecutionProvider", "gpu": "CUDAExecutionProvider"}


class SessionBase:
    """What a session does with a graph; `InferenceSession` adds the loading of files."""

    def __init__(
        self,
        devices: Iterable[Device] = (),
        num_threads: int | None = None,
        *,
        optimization: str = "all",
        buffers: str = "auto",
    ) -> None:
        self._devices = list(devices) or [CPU()]
        self._threads = 1 if num_threads is None else int(num_threads)
        self._optimization = optimization
        self._buffers = buffers
        if self._threads < 1:
            raise LoweringError(f"num_threads is {num_threads}; at least 1 is needed", code="MG017")
        for device in self._devices:
            if not isinstance(device, Device):
                raise DeviceError(
                    f"a device is wanted, not {type(device).__name__}", code="MG040", help="use CPU() or Accelerator()"
                )
            if not device.is_host and not accelerator_count():
                raise DeviceError(
                    f"{device!r} cannot be used: this onnxruntime has no CUDA provider",
                    code="MG040",
                    help="pip uninstall onnxruntime && pip install onnxruntime-gpu",
                )

    @property
    def devices(self) -> list[Device]:
        """The devices that graphs run on."""
        return list(self._devices)

    def load_graph(self, graph: Graph, weights: Mapping[str, Array] | None, *, reference: bool) -> Model:
        """A graph, ready to run."""
        device = self._place(graph)
        if reference:
            give_weights(graph, weights or {})
            return ReferenceModel(graph, [CPU()])
        provider = _PROVIDERS[device.label]
        lowered = lower(
            graph, provider=provider, optimization=self._optimization, buffers=self._buffers, weights=weights
        )
        return Model(graph, lowered, self._session(lowered, device), [device])

    def _place(self, graph: Graph) -> Device:
        """The device that the graph's logical devices are mapped to.

        Raises:
            DeviceError: The graph names a GPU, and the session has only the CPU.
        """
        accelerators = [device for device in self._devices if not device.is_host]
        if accelerators:
            return accelerators[0]
        types = [info.value.type for info in graph.signature]
        types += [value.tensor_type for node in graph.nodes() for value in node.results]
        wanted = {t.device for t in types if t.device.device_type is DeviceKind.GPU}
        if wanted:
            raise DeviceError(
                f"graph `{graph.name}` uses {sorted(map(str, wanted))[0]}, but the session has only the CPU",
                code="MG040",
                help="InferenceSession(devices=[Accelerator()])",
            )
        return self._devices[0]

    def _session(self, lowered: Lowered, device: Device) -> ort.InferenceSession | None:
        if not lowered.model:
            return None
        options = silent_options(threads=self._threads)
        if lowered.external:
            names = [external.onnx_name for external in lowered.external]
            values = [weight_value(external.weight) for external in lowered.external]
            options.add_external_initializers(names, values)
        provider = _PROVIDERS[device.label]
        choice: Any = provider if device.is_host else (provider, {"device_id": device.id})
        try:
            session = ort.InferenceSession(lowered.model, options, providers=[choice])
        except Exception as error:
            raise InternalError(
                f"onnxruntime cannot load graph `{lowered.graph_name}`",
                code="MG043",
                help="this is a fault in maxgraph; please report it with the graph",
            ) from error
        if provider not in session.get_providers():
            raise DeviceError(f"onnxruntime did not take {device!r}", code="MG040", help="look at its CUDA libraries")
        return session
