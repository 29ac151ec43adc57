"""Devices that memory lies on and graphs run on."""

from __future__ import annotations

from functools import cache

__all__ = ["CPU", "Accelerator", "Device", "accelerator_count"]


class Device:
    """A device of this machine.

    Attributes:
        label: "cpu" or "gpu".
        id: Its number among its kind, from 0.
    """

    label: str = ""

    def __init__(self, id: int = 0) -> None:  # noqa: A002 - MAX's name
        self.id = max(0, int(id))

    @property
    def is_host(self) -> bool:
        """Whether its memory is the process's own."""
        return self.label == "cpu"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.label, self.id) == (other.label, other.id)

    def __hash__(self) -> int:
        return hash((self.label, self.id))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id})"


class CPU(Device):
    """The processor and its memory.

    Example:
        >>> CPU().label, CPU() == CPU(0)
        ('cpu', True)
    """

    label = "cpu"


class Accelerator(Device):
    """A GPU. Making one asks for nothing; a session that is given one checks that onnxruntime can use it.

    Example:
        >>> Accelerator(1)
        Accelerator(1)
    """

    label = "gpu"


@cache
def accelerator_count() -> int:
    """How many GPUs onnxruntime can use here: 0, or 1 where its CUDA provider is there (it does not count them)."""
    import onnxruntime

    return int("CUDAExecutionProvider" in onnxruntime.get_available_providers())
