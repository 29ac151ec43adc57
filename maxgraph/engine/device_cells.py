"""A state's buffers on an accelerator: each lies where it was used last."""

from __future__ import annotations

from collections.abc import Mapping

from ..driver import Device
from ..driver.arrays import Array
from ..driver.device_memory import DeviceArray
from ..graph.type import BufferType
from .cells import Cell

__all__ = ["DeviceCell"]


class DeviceCell(Cell):
    """A `Cell` whose elements stay on the accelerator between executions.

    Whoever takes `array` moves them to the host, and may change them there; the next execution moves them back. So all
    that a state can do is right, and costs a copy only where it is done.
    """

    __slots__ = ("_device", "_host", "_spare_there", "_there", "_up_to_date")
    _host: Array | None
    _there: DeviceArray | None
    _spare_there: DeviceArray | None
    _up_to_date: bool  # whether the elements are on the accelerator

    def __init__(self, name: str, type_: BufferType, initial: Array | None, *, device: Device) -> None:
        self._device = device
        self._there = self._spare_there = None
        super().__init__(name, type_, initial)

    @property
    def array(self) -> Array | None:  # an attribute there, since that is quicker
        """The elements on the host; None while there are none."""
        if self._up_to_date and self._there is not None:
            self._host, self._up_to_date = self._there.to_host(), False
        return self._host

    @array.setter
    def array(self, array: Array | None) -> None:
        self._host, self._up_to_date = array, False

    @property
    def known_shape(self) -> tuple[int, ...] | None:
        """The sizes, without moving anything; None while there are none."""
        if self._up_to_date and self._there is not None:
            return self._there.shape
        return None if self._host is None else tuple(self._host.shape)

    def place(self, sizes: Mapping[str, int]) -> DeviceArray:
        """The elements on the accelerator, where they are from now on; their address changes only with their shape.

        Raises:
            StateError: A size is not known.
        """
        if self._up_to_date and self._there is not None:
            return self._there
        host = self.allocate(sizes)
        if self._there is not None and self._there.shape == host.shape:
            self._there.copy_from(host)
        else:
            self._there, self._spare_there = DeviceArray.of(host, self._device), None
        self._host, self._up_to_date = None, True
        return self._there

    def second_place(self) -> DeviceArray:
        """A second memory there, of the same size; its contents do not matter."""
        if self._there is None:
            raise AssertionError(self.name)  # pragma: no cover - place() comes first
        if self._spare_there is None:
            self._spare_there = DeviceArray.empty(self._there.shape, self._there.dtype, self._device)
        return self._spare_there

    def exchange(self) -> None:
        """Exchanges the two memories there."""
        self._there, self._spare_there = self._spare_there, self._there

    def copy(self) -> DeviceCell:
        """See `Cell.copy`; what is on the accelerator is copied there."""
        other = DeviceCell(self.name, self.type, self.initial, device=self._device)
        if self._up_to_date and self._there is not None:
            other._there, other._up_to_date = self._there.copy(), True
        elif self._host is not None:
            other.array = self._host.copy()
        return other
