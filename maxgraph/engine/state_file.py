"""States in files: safetensors, with what wrote it and for which graph; .npz is read too."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from .. import __version__
from ..driver.arrays import Array
from ..errors import StateError

__all__ = ["read_state", "write_state"]

_UNREADABLE = "MG050"


def write_state(path: str | os.PathLike[str], buffers: Mapping[str, Array], graph_name: str) -> None:
    """Writes a state file next to `path`, then moves it there in one step.

    Raises:
        StateError: The name says .npz, or the file cannot be written.
    """
    from safetensors.numpy import save_file

    target = Path(path)
    if target.suffix == ".npz":
        raise StateError(
            f"a state is not written as .npz: {target}",
            code=_UNREADABLE,
            help=f"name it {target.with_suffix('.safetensors').name}; .npz files are read, not written",
        )
    metadata = {"producer": f"maxgraph {__version__}", "graph": graph_name, "kind": "state"}
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            whole = Path(folder) / target.name
            save_file(dict(buffers), whole, metadata)
            whole.replace(target)
    except OSError as error:
        raise StateError(f"cannot write {target}: {error.strerror or error}", code=_UNREADABLE) from None


def read_state(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The arrays of a state file.

    Raises:
        StateError: It cannot be read, or is neither safetensors nor .npz.
    """
    target = Path(path)
    try:
        with target.open("rb") as file:
            magic = file.read(4)
        return _read_npz(target) if magic.startswith(b"PK") else _read_safetensors(target)
    except OSError as error:
        raise StateError(f"cannot read {target}: {error.strerror or error}", code=_UNREADABLE) from None


def _read_safetensors(path: Path) -> dict[str, Array]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return dict(load_file(path))
    except (SafetensorError, KeyError, ValueError) as error:
        raise StateError(
            f"{path} is no state file: {error}", code=_UNREADABLE, help="it must be safetensors or .npz"
        ) from None


def _read_npz(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise StateError(f"{path} is no state file: {error}", code=_UNREADABLE) from None
