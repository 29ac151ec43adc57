"""Sessions: where graphs and files become models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..driver import CPU, Device
from ..errors import InputError, InputTypeError, InternalError, suggest
from ..graph.graph import Graph
from ..user_store import open_store
from .cache import CompileCache
from .cells import initial_values
from .devices import CPU_PROVIDER, map_devices, provider_of
from .layout import Layouts
from .model import Model
from .signature import Signature
from .weights import registered_weights

if TYPE_CHECKING:
    from ..lower.lowered import Lowered
    from .ort import OrtSession

__all__ = ["InferenceSession"]

_OPTIMIZATIONS = ("all", "none")
_BUFFERS = ("auto", "in_place", "copied")
_ON_FAILURE = ("restore", "poison")
#: Onnxruntime fails, and says nothing of use, where it cannot start as many.
_MOST_THREADS = 1024


class InferenceSession:
    """Loads models.

    Args:
        devices: Where they run: ``[Accelerator()]`` runs all of a graph on CUDA, whatever device it names; none are
            the CPU. On an accelerator states and results lie there, and so may arguments.
        num_threads: Threads within one op; 1 if it is not given, which is best for small steps such as decoding.
        optimization: ``"all"`` or ``"none"`` of onnxruntime's graph optimisations.
        buffers: ``"auto"`` changes each buffer in the cheapest way that is proved right; ``"in_place"`` refuses a graph
            where one needs a second memory; ``"copied"`` gives each one a second memory, to compare.
        on_failure: ``"restore"`` leaves every buffer as it was when an execution fails: where it is not proved that
            nothing can fail once a buffer is written to, what is overwritten is kept meanwhile, and put back.
            ``"poison"`` keeps nothing; a `State` that may be half changed then refuses to be used until its buffers
            have values again.
        device_map: Devices by the name that the graph gives them, such as ``{"gpu:0": CPU()}``; they go first.
        allow_fallback: Whether nodes that an accelerator cannot run may run on the CPU. Without it that is an error.
        cuda_graph: Whether executions on an accelerator are captured as CUDA graphs and replayed: less time for each
            call, where all sizes are known and nothing runs on the CPU.
        profile: Let onnxruntime write a trace of all executions, in Chrome's format: how the file's path begins.
            `Model.end_profile` ends it, and says which file it is.
        cache: Whether lowered graphs are kept on disk and found there again (see ``maxg cache``). The environment
            variable ``MAXG_CACHE=off`` switches that off, too.

    Example:
        >>> import numpy as np
        >>> from maxgraph.dtype import DType
        >>> from maxgraph.graph import BufferType, DeviceRef, Graph
        >>> total_type = BufferType(DType.int64, [2], DeviceRef.CPU())
        >>> with Graph("count", input_types=[total_type], input_names=["total"]) as graph:
        ...     total = graph.inputs[0].buffer
        ...     total[...] = total[...] + 1
        ...     graph.output(total[...])
        >>> model = InferenceSession().load(graph)
        >>> memory = np.zeros(2, np.int64)
        >>> model.execute(memory)[0].to_numpy(), memory
        (array([1, 1]), array([1, 1]))

    Raises:
        DeviceError: A device cannot be used.
        ValueError, TypeError: An argument has no such value.
    """

    def __init__(
        self,
        devices: Iterable[Device] = (),
        num_threads: int | None = None,
        *,
        optimization: str = "all",
        buffers: str = "auto",
        on_failure: str = "restore",
        device_map: Mapping[str, Device] | None = None,
        allow_fallback: bool = False,
        cuda_graph: bool = False,
        profile: str | os.PathLike[str] | None = None,
        cache: bool = True,
    ) -> None:
        self._devices = list(devices) or [CPU()]
        for device in self._devices:
            if not isinstance(device, Device):
                raise InputTypeError(
                    f"a device is wanted, not {type(device).__name__}", code="MG032", help="e.g. devices=[CPU()]"
                )
            device.check()
        threads = 1 if num_threads is None else num_threads
        if not isinstance(threads, int) or not 1 <= threads <= _MOST_THREADS:
            raise InputError(f"num_threads is 1 to {_MOST_THREADS}, not {num_threads!r}", code="MG017")
        self._threads = threads
        self._optimization = _chosen("optimization", optimization, _OPTIMIZATIONS)
        self._buffers = _chosen("buffers", buffers, _BUFFERS)
        self._restores = _chosen("on_failure", on_failure, _ON_FAILURE) == "restore"
        self._device_map = dict(device_map or {})
        self._allow_fallback = allow_fallback
        self._cuda_graph = cuda_graph
        self._profile = None if profile is None else os.fspath(profile)
        #: For the check of a trace: nodes that do not wait for each other may then run at the same time.
        self.parallel = False
        self._cache = CompileCache(open_store() if cache else None)

    @property
    def devices(self) -> list[Device]:
        """Where models run."""
        return list(self._devices)

    def load(
        self,
        model: Graph | str | os.PathLike[str],
        *,
        weights_registry: Mapping[str, Any] | None = None,
        reference: bool = False,
    ) -> Model:
        """Makes a model of a graph, or of a ``.maxg`` file.

        Args:
            model: A finished graph, or a path.
            weights_registry: Elements of weights by name: arrays, buffers or DLPack tensors. They go before those that
                the graph holds; names that it does not have are ignored, as in MAX. They are not copied: their
                elements must not change while the model is in use.
            reference: Let the numpy interpreter run it: slow, and the meaning that everything else agrees with.

        Raises:
            FormatError: The file is not valid.
            InputError: A weight is missing or does not fit.
            DeviceError: The graph wants a device that the session has not.
            LoweringError: A buffer cannot be changed as demanded, or an op cannot be lowered.
        """
        if isinstance(model, (str, os.PathLike)):
            from . import read_graph

            model = read_graph(model)
        if not isinstance(model, Graph):
            raise InputTypeError(f"a Graph or a path is wanted, not {type(model).__name__}", code="MG032")
        if not model.finished:
            raise InputError(
                f"graph `{model.name}` has no output", code="MG005", help="call graph.output(...) at its end"
            )
        weights = registered_weights(model, weights_registry or {})
        return self._interpret(model, weights) if reference else self._lower(model, weights)

    def _interpret(self, graph: Graph, weights: Mapping[str, Any]) -> Model:
        from .interpreted import Interpreted

        outputs = [value.tensor_type for _, value in graph.results]
        return Model(
            graph,
            Interpreted(graph, weights),
            Layouts(Signature(graph).full, outputs),
            plan=None,
            devices=[CPU()],
            initial_values=initial_values(graph, weights),
        )

    def _lower(self, graph: Graph, weights: Mapping[str, Any]) -> Model:
        from .program import Program

        mapped = map_devices(graph, self._devices, self._device_map)
        provider, device_id = provider_of(mapped)
        lowered, session = self._compile(graph, weights, provider, device_id)
        outputs = [output.type for output in lowered.outputs]
        layouts = Layouts(Signature(graph).full, outputs, lowered.index_checks, lowered.dim_checks)
        given: dict[str, Any] = {"plan": lowered.plan, "initial_values": initial_values(graph, weights)}
        device = next((device for device in mapped.values() if not device.is_host), None)
        if device is None:
            devices = list(dict.fromkeys(mapped.values()))
            return Model(graph, Program(lowered, session, restores=self._restores), layouts, devices=devices, **given)
        from .device_model import DeviceModel, DeviceProgram

        program = DeviceProgram(lowered, session, device, capture=self._cuda_graph)
        return DeviceModel(device, graph, program, layouts, devices=[device], **given)

    def _compile(
        self, graph: Graph, weights: Mapping[str, Any], provider: str, device_id: int
    ) -> tuple[Lowered, OrtSession | None]:
        """Lowers the graph, or finds it lowered in the cache, and opens it in onnxruntime."""
        from ..lower.convert import give_weights, lower

        options = {"provider": provider, "optimization": self._optimization, "buffers": self._buffers}
        known = give_weights(graph, weights)
        key = self._cache.key(graph, known, options)
        found = self._cache.get(key, graph, known)
        if found is not None:
            try:
                return found, self._open(found, graph, device_id)
            except InternalError:  # an entry that looks sound and is not: lower the graph anew
                self._cache.drop(key)
        lowered = lower(graph, weights=weights, **options)
        session = self._open(lowered, graph, device_id)
        self._cache.put(key, lowered, options)
        return lowered, session

    def _open(self, lowered: Lowered, graph: Graph, device_id: int) -> OrtSession | None:
        from ..lower.optimise import weight_value
        from .ort import OrtSession

        if not lowered.model:
            return None
        # Memory on an accelerator is bound under the model's own shapes only.
        quick = lowered.entry if lowered.provider == CPU_PROVIDER and self._devices[0].is_host else None
        return OrtSession(
            quick.model if quick else lowered.model,
            provider=lowered.provider,
            device_id=device_id,
            threads=self._threads,
            weights={external.onnx_name: weight_value(external.weight) for external in lowered.external},
            allow_fallback=self._allow_fallback,
            capture=self._cuda_graph,
            graph=graph,
            profile=self._profile,
            parallel=self.parallel,
        )

    def __repr__(self) -> str:
        return f"InferenceSession(devices={self._devices}, num_threads={self._threads})"


def _chosen(name: str, given: str, known: tuple[str, ...]) -> str:
    if given not in known:
        raise InputError(f"`{name}` has no value {given!r}", code="MG017", help=suggest(str(given), known))
    return given
