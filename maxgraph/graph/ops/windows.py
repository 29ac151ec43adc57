"""Window functions, as constants."""

from __future__ import annotations

from typing import Any

from ...dtype import DType
from ...errors import TypeRuleError, user_location
from ..type import DeviceRef
from ..value import TensorValue
from .constant import constant

__all__ = ["hann_window"]


def hann_window(
    window_length: int,
    device: DeviceRef | Any,
    periodic: bool = True,
    dtype: DType = DType.float32,
) -> TensorValue:
    """``0.5 - 0.5 cos(2 pi i / n)`` for i from 0 to `window_length`.

    Args:
        window_length: How many elements.
        device: Where the result lies.
        periodic: ``n`` is `window_length`; else one less, so that the window is symmetric.
        dtype: The element type.

    Example:
        >>> from maxgraph.graph import DeviceRef, Graph, ops
        >>> with Graph("g") as graph:
        ...     y = ops.hann_window(4, DeviceRef.CPU())
        ...     graph.output(y)
        >>> print(y.type)
        float32[4]

    Raises:
        ValueError: The length is negative.
    """
    import numpy as np

    if window_length < 0:
        message = f"hann_window: the length is negative: {window_length}"
        raise TypeRuleError(message, code="MG017", where=user_location(columns=True))
    period = window_length if periodic else window_length - 1
    window = np.ones(window_length)
    if window_length > 1:
        window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_length) / period)
    return constant(window.astype(dtype.to_numpy()), dtype, device)
