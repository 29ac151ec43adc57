"""Devices, and memory that graphs run on."""

from .buffer import Buffer
from .device import CPU, Accelerator, Device, accelerator_count

__all__ = ["CPU", "Accelerator", "Buffer", "Device", "accelerator_count"]
