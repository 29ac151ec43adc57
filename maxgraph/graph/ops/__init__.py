"""Every op. Each one is declared in one place; see `registry`."""

from .arithmetic import add
from .buffer import buffer_create, buffer_load, buffer_store
from .cast import cast
from .constant import constant, constant_external
from .slicing import buffer_store_slice, slice_tensor

__all__ = [
    "add",
    "buffer_create",
    "buffer_load",
    "buffer_store",
    "buffer_store_slice",
    "cast",
    "constant",
    "constant_external",
    "slice_tensor",
]
