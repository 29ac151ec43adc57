"""Each test runs on a CUDA device, where there is one, and everywhere on a stand-in: host memory that is treated as an
accelerator's. The stand-in shows that states, buffers and results stay where they belong, and shows nothing of CUDA's
own kernels and streams.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from maxgraph.driver import CPU, Accelerator, Device
from maxgraph.driver.device import accelerator_count
from maxgraph.engine import InferenceSession, devices, session


class StandIn(Accelerator):
    """An accelerator in the host's own memory."""

    __slots__ = ()

    def check(self) -> None:
        """It can always be used."""

    def ort_device(self) -> Any:
        """The host."""
        return CPU().ort_device()


@pytest.fixture(params=[pytest.param("cuda", marks=pytest.mark.cuda), "stand-in"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Device:
    if request.param == "cuda":
        if not accelerator_count():
            pytest.skip("this onnxruntime has no CUDAExecutionProvider")
        return Accelerator()
    # The CPU's kernels, and so its allow-list too: buffers are changed in place unless a test says "copied".
    monkeypatch.setattr(session, "provider_of", lambda mapped: (devices.CPU_PROVIDER, 0))
    return StandIn()


Load = Callable[..., Any]


@pytest.fixture
def load(device: Device) -> Load:
    """Loads a graph on the device."""

    def loaded(graph: Any, **options: Any) -> Any:
        weights = options.pop("weights_registry", None)
        return InferenceSession(devices=[device], **options).load(graph, weights_registry=weights)

    return loaded
