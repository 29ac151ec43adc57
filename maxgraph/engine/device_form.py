"""Arguments of a model on an accelerator: some lie there already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..driver import Device
from ..driver.device_buffer import DeviceBuffer
from ..driver.device_memory import DeviceArray, lies_on_accelerator
from ..errors import InputError
from .signature import Form
from .slots import Slot

__all__ = ["DeviceForm"]


class DeviceForm(Form):
    """A `Form` that leaves elements on the accelerator where they are.

    Args:
        form: The form that it is made of.
        device: The model's accelerator.
        indices: Places of inputs that are checked as indices; these are copied to the host.
    """

    __slots__ = ("_device", "_indices")

    def __init__(self, form: Form, device: Device, indices: frozenset[int]) -> None:
        super().__init__(form.graph_name, form.slots)
        self._device = device
        self._indices = indices

    def take(self, arguments: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """See `Form.take`; what lies on the accelerator is a `DeviceArray`."""
        if len(arguments) != len(self.slots):
            raise self._refuse_count(len(arguments))
        tensors = [self._take(slot, arguments[at]) for at, slot in self.tensors]
        indices = [
            x.to_host() if slot.position in self._indices and isinstance(x, DeviceArray) else x
            for x, (_, slot) in zip(tensors, self.tensors, strict=True)
        ]
        return indices, [self._take(slot, arguments[at]) for at, slot in self.buffers]

    def _take(self, slot: Slot, argument: Any) -> Any:
        if isinstance(argument, DeviceBuffer):
            memory = argument.memory
        elif lies_on_accelerator(argument):
            memory = DeviceArray.from_dlpack(argument, type(self._device)(int(argument.__dlpack_device__()[1])))
        else:
            return slot.take(argument)
        if memory.device != self._device:
            raise InputError(
                f"input `{slot.name}` lies on {memory.device}, and graph `{self.graph_name}` runs on {self._device}",
                code="MG033",
                help="copy it over first: buffer.to(device)",
            )
        slot.check_type(memory)
        return memory
