"""Runs a `Lowered` straight on onnxruntime, with none of the engine's code, so that the converter is tested alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnxruntime as ort

from maxgraph.lower.lowered import Lowered
from maxgraph.lower.optimise import weight_value

Array = np.ndarray[Any, Any]


class Runner:
    """One session, bound anew on each run, every version over its buffer's memory as the plan says."""

    def __init__(self, lowered: Lowered, *, threads: int = 1, config: Mapping[str, str] | None = None) -> None:
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        for key, value in (config or {}).items():
            options.add_session_config_entry(key, value)
        if lowered.external:
            names = [e.onnx_name for e in lowered.external]
            options.add_external_initializers(names, [weight_value(e.weight) for e in lowered.external])
        self.lowered = lowered
        if not lowered.model:
            return  # the graph computes nothing
        self.session = ort.InferenceSession(lowered.model, options, providers=["CPUExecutionProvider"])

    def run(self, inputs: Mapping[str, Array], buffers: Mapping[str, Array]) -> dict[str, Array]:
        """One execution; `buffers` are changed in place."""
        if not self.lowered.model:
            return {}
        binding = self.session.io_binding()
        keep: list[Any] = []
        sizes: dict[str, int] = {}
        for bound, source in [
            *((t, inputs) for t in self.lowered.inputs),
            *((b, buffers) for b in self.lowered.buffers),
        ]:
            for dim, size in zip(bound.type.shape, source[bound.name].shape, strict=True):
                if dim.polynomial.name:
                    sizes[dim.polynomial.name] = size

        def over(array: Array) -> Any:
            value = ort.OrtValue.ortvalue_from_numpy(array)
            assert array.size == 0 or value.data_ptr() == array.ctypes.data
            keep.append(value)
            return value

        for tensor in self.lowered.inputs:
            if tensor.onnx_name is not None:
                binding.bind_ortvalue_input(tensor.onnx_name, over(np.asarray(inputs[tensor.name], order="C")))
        apart: list[tuple[Array, Array]] = []
        for buffer in self.lowered.buffers:
            memory = buffers[buffer.name]
            assert memory.flags.c_contiguous
            if buffer.onnx_name is not None:
                binding.bind_ortvalue_input(buffer.onnx_name, over(memory.reshape(buffer.onnx_shape.evaluate(sizes))))
            target = memory
            if buffer.versions and not buffer.plan.mode.shares_memory:
                target = np.full_like(memory, 77)
                apart.append((memory, target))
            for version in buffer.versions:
                binding.bind_ortvalue_output(version.onnx_name, over(target.reshape(version.shape.evaluate(sizes))))
        for output in self.lowered.outputs:
            binding.bind_output(output.onnx_name, "cpu")
        for shown in self.lowered.prints:
            binding.bind_output(shown.onnx_name, "cpu")
        self.session.run_with_iobinding(binding)
        for memory, target in apart:
            memory[...] = target
        values = binding.get_outputs()
        names = [
            *(v.onnx_name for b in self.lowered.buffers for v in b.versions),
            *(o.onnx_name for o in self.lowered.outputs),
            *(p.onnx_name for p in self.lowered.prints),
        ]
        results = dict(zip(names, values, strict=True))
        return {o.name: results[str(o.onnx_name)].numpy().copy() for o in self.lowered.outputs}
