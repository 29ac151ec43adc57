"""The one file of the engine that calls onnxruntime.

It uses the objects under onnxruntime's Python wrappers: a run costs 1.9 µs on them and 2.9 µs through
``InferenceSession.run_with_iobinding`` (and 65 µs if that is given a `RunOptions`), a value over numpy's memory 0.7 µs
instead of 2.1 (onnxruntime 1.32). The wrappers add nothing else that is used here.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as native

from ..driver.arrays import Array
from ..driver.device import CUDA_PROVIDER, Device
from ..driver.device_memory import DeviceArray
from ..dtype import DType
from ..errors import DeviceError, InternalError, UnsupportedError
from ..graph.graph import Graph
from .assignment import refuse_fallback

__all__ = ["OrtBinding", "OrtFailure", "OrtSession", "same_memory"]

_logger = logging.getLogger("maxgraph.engine")
CPU_PROVIDER = "CPUExecutionProvider"
_SILENT = 4  # "fatal" only: an error is raised, and its text on stderr would only be a second copy
_HOST = native.OrtDevice(native.OrtDevice.cpu(), native.OrtDevice.default_memory(), 0)


class OrtFailure(Exception):  # noqa: N818 - never seen outside the engine
    """onnxruntime's own exception, which nobody should see; `failures` puts it into the user's terms."""


class OrtSession:
    """A model that onnxruntime runs exactly as it is.

    Args:
        model: The optimised model.
        provider: Where it runs.
        device_id: The number of the accelerator.
        threads: Threads within one op.
        weights: Its external initialisers, as onnxruntime's values; they are kept alive.
        allow_fallback: Whether nodes that an accelerator cannot run may run on the CPU.
        capture: Whether the model is run as CUDA graphs.
        graph: The graph that was lowered, to name nodes that would fall back.
        profile: Where onnxruntime writes its trace: how the file's path begins.
        parallel: Whether nodes that do not wait for each other may run at the same time.

    Attributes:
        outputs: The names of all its outputs.

    Raises:
        DeviceError: onnxruntime fell back to another provider.
        InternalError: It refuses the model.
    """

    def __init__(
        self,
        model: bytes,
        *,
        provider: str,
        device_id: int,
        threads: int,
        weights: Mapping[str, Any],
        allow_fallback: bool = False,
        capture: bool = False,
        graph: Graph | None = None,
        profile: str | None = None,
        parallel: bool = False,
    ) -> None:
        options = onnxruntime.SessionOptions()
        if profile is not None:
            options.enable_profiling = True
            options.profile_file_prefix = profile
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 2 if parallel else 1
        if parallel:
            options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
        options.log_severity_level = _SILENT
        if weights:
            options.add_external_initializers(list(weights), list(weights.values()))
        self._weights = weights
        providers = _providers(provider, device_id, capture=capture)
        strict = provider != CPU_PROVIDER and not allow_fallback
        if strict:
            options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        try:
            self._session = onnxruntime.InferenceSession(model, options, providers=providers, disable_fallback=1)
        except Exception as error:  # noqa: BLE001 - onnxruntime has many
            _logger.debug("onnxruntime: %s", error)
            refusal = refuse_fallback(model, options, providers, provider, graph) if strict and graph else None
            if refusal is not None:
                raise refusal from None
            raise InternalError(
                "onnxruntime refuses the model that this graph was lowered to",
                code="MG043",
                help="this is a fault in maxgraph; please report it with the graph",
            ) from None
        if provider not in self._session.get_providers():
            raise DeviceError(
                f"onnxruntime cannot start {provider}, and would silently run on the CPU instead",
                code="MG040",
                help="check the CUDA and cuDNN versions that onnxruntime-gpu needs, and nvidia-smi",
            )
        self.native = self._session._sess  # noqa: SLF001 - see above
        self.outputs = [output.name for output in self._session.get_outputs()]

    def end_profiling(self) -> str:
        """Writes the trace; gives the file's path."""
        return str(self._session.end_profiling())

    def forget_graph(self, graph_id: int) -> None:
        """Gives back what a captured graph holds."""
        self.native.release_captured_graph(graph_id)


def _providers(provider: str, device_id: int, *, capture: bool) -> list[Any]:
    """What onnxruntime is asked for. It adds the CPU itself, and refuses a ban on falling back where that is named."""
    if provider != CUDA_PROVIDER:
        return [provider]
    return [(CUDA_PROVIDER, {"device_id": str(device_id), "enable_cuda_graph": str(int(capture))})]


class OrtBinding:
    """Memory bound to a session's inputs and outputs. For one execution at a time.

    Attributes:
        run: Runs the model. Whatever it raises is onnxruntime's own, and nobody should see it.
    """

    __slots__ = ("_binding", "_numbers", "run")

    def __init__(self, session: OrtSession, *, graph_id: int | None = None) -> None:
        self._binding = native.SessionIOBinding(session.native)
        options = onnxruntime.RunOptions()
        options.log_severity_level = _SILENT
        if graph_id is not None:
            options.add_run_config_entry("gpu_graph_id", str(graph_id))
        self.run = partial(session.native.run_with_iobinding, self._binding, options)
        self._numbers: dict[str, int] = {}  # onnxruntime gives outputs in the order in which they were first bound

    def bind_input(self, name: str, array: Array) -> None:
        """Reads the input from this memory. The caller keeps the array alive while a run can read it."""
        self._binding.bind_ortvalue_input(name, _value(array))

    def bind_output(self, name: str, array: Array) -> None:
        """Writes the output into this memory, on the same terms."""
        self._numbers.setdefault(name, len(self._numbers))
        self._binding.bind_ortvalue_output(name, _value(array))

    def bind_fetched(self, name: str, device: Device | None = None) -> None:
        """Lets onnxruntime make memory for the output; to be called before each run, else it would be used again."""
        self._numbers.setdefault(name, len(self._numbers))
        self._binding.bind_output(name, _HOST if device is None else device.ort_device())

    def bind_device_input(self, name: str, memory: DeviceArray, shape: tuple[int, ...]) -> None:
        """Reads the input from an accelerator's memory, under this shape, on the terms of `bind_input`."""
        self._binding.bind_input(name, memory.device.ort_device(), _element_type(memory), shape, memory.address)

    def bind_device_output(self, name: str, memory: DeviceArray, shape: tuple[int, ...]) -> None:
        """Writes the output into an accelerator's memory, on the same terms."""
        self._numbers.setdefault(name, len(self._numbers))
        self._binding.bind_output(name, memory.device.ort_device(), _element_type(memory), shape, memory.address)

    def synchronize(self) -> None:
        """Waits until the accelerator has done what was asked of it, by whatever library."""
        self._binding.synchronize_inputs()

    @property
    def has_outputs(self) -> bool:
        """Whether any output is bound."""
        return bool(self._numbers)

    def value(self, name: str) -> Any:
        """What the last run left in an output of `bind_fetched`, as onnxruntime's value."""
        return self._binding.get_outputs()[self._numbers[name]]

    def fetched(self, name: str, dtype: DType) -> Array:
        """What the last run left in an output of `bind_fetched`, as an array of the caller's own."""
        value = self.value(name)
        wanted = dtype.to_numpy()
        if wanted.isbuiltin == 1:
            return np.array(value.numpy())
        # numpy's own types only: the others have no `numpy()`.
        size = value.tensor_size_in_bytes()
        memory = (ctypes.c_char * size).from_address(value.data_ptr()) if size else b""
        return np.frombuffer(memory, wanted).reshape(value.shape()).copy()


def _element_type(memory: DeviceArray) -> Any:
    """The element type as onnxruntime takes it beside an address: numpy's, or ONNX's number."""
    if memory.dtype.isbuiltin == 1:
        return memory.dtype.type
    from ..lower.onnx_model import onnx_dtype

    return onnx_dtype(DType.from_numpy(memory.dtype))


def _value(array: Array) -> Any:
    """An onnxruntime value over an array's own memory; it holds no reference to the array."""
    if array.dtype.isbuiltin == 1:
        return native.OrtValue.ortvalue_from_numpy(array, _HOST)
    from ..lower.onnx_model import onnx_dtype

    dtype = DType.from_numpy(array.dtype)
    if dtype.size_in_bits < 8:  # numpy spends a byte on what onnxruntime packs in pairs
        raise UnsupportedError(f"{dtype.name} cannot be passed to onnxruntime from numpy", code="MG042")
    return native.OrtValue.ortvalue_from_numpy_with_onnx_type(array, onnx_dtype(dtype))


def same_memory(array: Array) -> bool:
    """Whether onnxruntime really takes this array's own memory; it copies one that is not contiguous."""
    return array.size == 0 or _value(array).data_ptr() == array.ctypes.data
