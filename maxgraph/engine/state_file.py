"""States in files: safetensors, with what wrote it and for which program; .npz is read too."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import __version__
from ..driver.arrays import Array
from ..dtype import DType
from ..errors import StateError

__all__ = ["StateFile", "read_state", "write_state"]

_UNREADABLE = "MG050"
_SMALL_FLOATS = {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu"}


@dataclass(frozen=True, slots=True)
class StateFile:
    """What a state file holds.

    Attributes:
        buffers: Arrays by name.
        graph: The name of the graph; empty where the file does not say.
        program: The hash of the graph; empty where the file does not say, as when another tool wrote it.
    """

    buffers: Mapping[str, Array]
    graph: str = ""
    program: str = ""


def write_state(path: str | os.PathLike[str], state: StateFile) -> None:
    """Writes a state file next to `path`, then moves it there in one step.

    Raises:
        StateError: The name says .npz, or the file cannot be written.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    target = Path(path)
    if target.suffix == ".npz":
        raise StateError(
            f"a state is not written as .npz: {target}",
            code=_UNREADABLE,
            help=f"name it {target.with_suffix('.safetensors').name}; .npz files are read, not written",
        )
    metadata = {"producer": f"maxgraph {__version__}", "graph": state.graph, "program": state.program, "kind": "state"}
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            whole = Path(folder) / target.name
            save_file(dict(state.buffers), whole, metadata)
            whole.replace(target)
    except OSError as error:
        raise StateError(f"cannot write {target}: {error.strerror or error}", code=_UNREADABLE) from None
    except SafetensorError as error:
        raise StateError(f"cannot write {target}: {error}", code=_UNREADABLE) from None


def read_state(path: str | os.PathLike[str]) -> StateFile:
    """What is in a state file.

    Raises:
        StateError: It cannot be read, or is neither safetensors nor .npz.
    """
    target = Path(path)
    try:
        with target.open("rb") as file:
            magic = file.read(4)
        return StateFile(_read_npz(target)) if magic.startswith(b"PK") else _read_safetensors(target)
    except OSError as error:
        raise StateError(f"cannot read {target}: {error.strerror or error}", code=_UNREADABLE) from None


def _read_safetensors(path: Path) -> StateFile:
    from safetensors import SafetensorError, deserialize, safe_open

    try:
        with safe_open(path, "np") as file:
            metadata = file.metadata() or {}
            known = {key: metadata.get(key, "") for key in ("graph", "program")}
            kinds = {file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118 - it is no mapping
            if kinds.isdisjoint(_SMALL_FLOATS):
                return StateFile(dict(file.get_tensors()), **known)
        # safetensors looks for these types in numpy itself, where they are not.
        parts = deserialize(path.read_bytes())  # type: ignore[no-untyped-call]  # it has no types
        return StateFile({name: _array(**part) for name, part in parts}, **known)
    except (SafetensorError, KeyError, ValueError) as error:
        raise StateError(
            f"{path} is no state file: {error}", code=_UNREADABLE, help="it must be safetensors or .npz"
        ) from None


def _array(dtype: str, shape: Sequence[int], data: bytes) -> Array:
    names = {**_SMALL_FLOATS, "BF16": "bfloat16", "BOOL": "bool"}
    letters = {"F": "float", "I": "int", "U": "uint"}
    name = names.get(dtype) or letters[dtype[0]] + dtype[1:]
    return np.frombuffer(data, DType[name].to_numpy()).reshape(shape)


def _read_npz(path: Path) -> dict[str, Array]:
    try:
        # An open file, since numpy leaves its own one open when the archive is broken.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise StateError(f"{path} is no state file: {error}", code=_UNREADABLE) from None
