"""Checkpoints by the names of their files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from enum import Enum

from ...errors import UnsupportedError, UsageError
from .safetensors import SafetensorWeights

__all__ = ["WeightsFormat", "load_weights", "weights_format"]

_INDEX = ".safetensors.index.json"


class WeightsFormat(Enum):
    """The formats that a checkpoint can have."""

    gguf = "gguf"
    safetensors = "safetensors"


def weights_format(weight_paths: Sequence[str | os.PathLike[str]]) -> WeightsFormat:
    """The format of files, by their names.

    Example:
        >>> weights_format(["model-00001-of-00002.safetensors"])
        <WeightsFormat.safetensors: 'safetensors'>

    Raises:
        ValueError: There is no file, or they have different or unknown endings.
    """
    endings = {os.path.splitext(os.fspath(path))[1].removeprefix(".") for path in weight_paths}
    if len(endings) == 1 and (ending := endings.pop()) in WeightsFormat.__members__:
        return WeightsFormat[ending]
    shown = ", ".join(os.fspath(path) for path in weight_paths) or "none"
    raise UsageError("the files of weights are of no known format", code="MG050", details=[("files", shown)])


def load_weights(paths: Sequence[str | os.PathLike[str]]) -> SafetensorWeights:
    """The weights of a checkpoint: its tensors' names and types are read, and the elements mapped when they are used.

    Args:
        paths: Safetensors files; an index of several (``*.safetensors.index.json``); or a folder that holds either.

    Example:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from safetensors.numpy import save_file
        >>> folder = tempfile.mkdtemp()
        >>> save_file({"embed.weight": np.zeros((8, 2), np.float32)}, os.path.join(folder, "model.safetensors"))
        >>> load_weights([folder]).embed.weight.data().shape
        [Dim(8), Dim(2)]

    Raises:
        ValueError: A file cannot be read, or a tensor is in two of them.
        NotImplementedError: The format is GGUF.
    """
    files = [file for path in paths for file in _files(os.fspath(path))]
    if weights_format(files) is WeightsFormat.gguf:
        raise UnsupportedError("GGUF files are not read", code="MG050", help="convert the checkpoint to safetensors")
    return SafetensorWeights(files)


def _files(path: str) -> list[str]:
    if os.path.isdir(path):
        names = sorted(os.listdir(path))
        indices = [name for name in names if name.endswith(_INDEX)]
        found = indices or [name for name in names if name.endswith(".safetensors")]
        if not found:
            raise UsageError(f"{path} holds no safetensors file", code="MG050")
        return [file for name in found for file in _files(os.path.join(path, name))]
    if not path.endswith(_INDEX):
        return [path]
    try:
        with open(path, encoding="utf-8") as file:
            shards = {str(name) for name in json.load(file)["weight_map"].values()}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", code="MG050") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{path} is no index of safetensors files", code="MG050") from None
    if any(os.path.basename(name) != name for name in shards):
        raise UsageError(f"{path} names a file in another folder", code="MG050")
    return [os.path.join(os.path.dirname(path), name) for name in sorted(shards)]
