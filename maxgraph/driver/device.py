"""The machine's own devices. A graph only names logical ones; a session maps those to these."""

from __future__ import annotations

import os
from typing import Any

from ..errors import DeviceError

__all__ = ["CPU", "CUDA_PROVIDER", "Accelerator", "Device", "accelerator_count"]

CUDA_PROVIDER = "CUDAExecutionProvider"
_NVIDIA_GPUS = "/proc/driver/nvidia/gpus"


class Device:
    """The base of all devices; two devices are equal when their kind and their number are.

    Attributes:
        id: The number among devices of its kind, from 0.
        label: ``"cpu"`` or ``"gpu"``.

    Example:
        >>> CPU(), CPU() == Device.cpu(), CPU().is_host
        (CPU(0), True, True)
    """

    __slots__ = ("id",)
    label = ""

    def __init__(self, id: int = 0) -> None:  # noqa: A002 - MAX's name
        self.id = max(0, int(id))  # MAX says -1 for "the first one"

    @staticmethod
    def cpu(id: int = 0) -> CPU:  # noqa: A002 - MAX's name
        """A CPU."""
        return CPU(id)

    @property
    def is_host(self) -> bool:
        """Whether its memory is the host's own."""
        return self.label == "cpu"

    def ort_device(self) -> Any:
        """The same for onnxruntime."""
        from onnxruntime import OrtDevice

        kind = "cpu" if self.is_host else "cuda"
        return OrtDevice.make(kind, 0 if self.is_host else self.id)._get_c_device()  # noqa: SLF001 - there is no other way

    def check(self) -> None:
        """Does nothing if the device can be used.

        Raises:
            DeviceError: It cannot; the message says how to get it.
        """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.label, self.id) == (other.label, other.id)

    def __hash__(self) -> int:
        return hash((self.label, self.id))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id})"

    def __str__(self) -> str:
        return f"{self.label}:{self.id}"


class CPU(Device):
    """The host."""

    __slots__ = ()
    label = "cpu"


class Accelerator(Device):
    """A CUDA device.

    One can be named on any machine; using it where onnxruntime has no CUDA provider is an error.

    Example:
        >>> Accelerator(1), Accelerator(1).is_host
        (Accelerator(1), False)
    """

    __slots__ = ()
    label = "gpu"

    def check(self) -> None:
        """Does nothing if onnxruntime can use the device.

        Raises:
            DeviceError: It has no CUDA provider, or the machine has fewer devices.
        """
        count = accelerator_count()
        if count == 0:
            raise DeviceError(
                f"{self} cannot be used: the installed onnxruntime has no {CUDA_PROVIDER}",
                code="MG040",
                help="pip uninstall onnxruntime; pip install onnxruntime-gpu (the two share a folder); or use CPU()",
            )
        if self.id >= count:
            raise DeviceError(f"{self} cannot be used: this machine has {count} accelerator(s)", code="MG040")


def accelerator_count() -> int:
    """How many CUDA devices onnxruntime can use; 0 where it was installed without CUDA.

    Where the driver does not list its devices, one is assumed.
    """
    import onnxruntime

    if CUDA_PROVIDER not in onnxruntime.get_available_providers():
        return 0
    try:
        return len(os.listdir(_NVIDIA_GPUS))
    except OSError:
        return 1
