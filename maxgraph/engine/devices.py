"""The logical devices of a graph, mapped to the machine's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..driver import CPU, Device
from ..driver.device import CUDA_PROVIDER
from ..errors import DeviceError, InputTypeError, suggest
from ..graph.graph import Graph

__all__ = ["map_devices", "provider_of"]

CPU_PROVIDER = "CPUExecutionProvider"


def map_devices(graph: Graph, devices: Sequence[Device], given: Mapping[str, Device]) -> dict[str, Device]:
    """The device on which each logical device of a graph runs.

    A session on an accelerator runs all of a graph there. A session on the CPU runs what the graph puts on the CPU; a
    ``gpu`` has to be mapped, so that nothing falls back to the CPU silently.

    Args:
        graph: The graph.
        devices: The session's devices.
        given: Devices by logical name, such as ``{"gpu:0": CPU()}``; they go first.

    Raises:
        DeviceError: A logical device cannot be mapped.
    """
    accelerator = next((device for device in devices if not device.is_host), None)
    mapped: dict[str, Device] = {}
    for name in _logical(graph):
        if name in given:
            mapped[name] = given[name]
        elif accelerator is not None:
            mapped[name] = accelerator
        elif name.startswith("cpu"):
            mapped[name] = CPU()
        else:
            raise DeviceError(
                f"graph `{graph.name}` wants {name}, and this session has only {', '.join(map(str, devices))}",
                code="MG040",
                help=f'use devices=[Accelerator()], or device_map={{"{name}": CPU()}} to run it on the CPU',
            )
    for name, device in given.items():
        if not isinstance(device, Device):
            raise InputTypeError(f"device_map maps to a device, not {type(device).__name__}", code="MG032")
        if name not in mapped:
            raise DeviceError(
                f"graph `{graph.name}` has no device {name}", code="MG040", help=suggest(name, list(mapped))
            )
    if len({device for device in mapped.values() if not device.is_host}) > 1:
        raise DeviceError(f"graph `{graph.name}` would run on several accelerators", code="MG040", help="use one")
    return mapped


def provider_of(mapped: Mapping[str, Device]) -> tuple[str, int]:
    """The provider of onnxruntime, and the number of the device."""
    for device in mapped.values():
        if not device.is_host:
            device.check()
            return CUDA_PROVIDER, device.id
    return CPU_PROVIDER, 0


def _logical(graph: Graph) -> list[str]:
    """Every device that a value of the graph names."""
    values = [info.value for info in graph.signature]
    values += [result for node in graph.nodes() for result in node.results]
    return list(dict.fromkeys(str(value.type.device) for value in values)) or ["cpu:0"]
