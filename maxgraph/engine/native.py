"""The few calls of onnxruntime that each execution makes.

The Python wrapper around `run_with_iobinding` looks up an option by catching an exception when it is given a
RunOptions, which costs more than a small graph. The object under it is called directly where it is there: 2 µs instead
of 4 for each call (`benchmarks/per_call.py`); else the wrapper is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime as ort

from ..dtype import DType
from ..lower.onnx_model import onnx_dtype

__all__ = ["make_runner", "ort_value", "silent_options"]


def silent_options(*, threads: int) -> ort.SessionOptions:
    """Session options for a model that is proved as it is: nothing is optimised, nothing is logged."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return options


def make_runner(session: ort.InferenceSession, binding: ort.IOBinding) -> Callable[[], None]:
    """One execution of a session over a binding."""
    native_session = getattr(session, "_sess", None)
    native_binding = getattr(binding, "_iobinding", None)
    direct = getattr(native_session, "run_with_iobinding", None)
    if direct is None or native_binding is None:
        return lambda: session.run_with_iobinding(binding)
    options = ort.RunOptions()
    options.log_severity_level = 4
    return lambda: direct(native_binding, options)


def ort_value(array: np.ndarray[Any, Any]) -> ort.OrtValue:
    """onnxruntime's value over an array's own memory."""
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8", "float4")):
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, onnx_dtype(DType.from_numpy(array.dtype)))
    return ort.OrtValue.ortvalue_from_numpy(array)
