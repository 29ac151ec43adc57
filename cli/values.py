"""What stands behind ``-i NAME=VALUE``: files, literals and generators, as arrays of exactly the input's dtype."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxgraph.dtype import DType
from maxgraph.errors import UsageError, suggest
from maxgraph.graph.shape import Shape
from maxgraph.graph.type import BufferType, TensorType

__all__ = ["Array", "Generator", "json_value", "learn_sizes", "parse_dims", "parse_value", "read_set", "resolve_shape"]

Array = np.ndarray[Any, Any]
_RANDOM = re.compile(r"random(?::(normal|uniform|int)\(\s*(-?[\d.eE+-]+)\s*,\s*(-?[\d.eE+-]+)\s*\))?")
_WORDS = ("zeros", "ones", "arange", "random")


@dataclass(frozen=True)
class Generator:
    """An array that is made when its sizes are known."""

    text: str

    def within(self, bounds: tuple[int, int] | None) -> Generator:
        """The same for ints of a range, such as those of an axis; itself where no range is known."""
        return self if bounds is None else Generator(f"random:int({bounds[0]},{bounds[1]})")

    def make(self, kind: TensorType | BufferType, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """The array."""
        dtype = kind.dtype.to_numpy()
        if self.text == "zeros":
            return np.zeros(shape, dtype)
        if self.text == "ones":
            return np.ones(shape, dtype)
        if self.text == "arange":
            return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        found = _RANDOM.fullmatch(self.text)
        if found is None:  # pragma: no cover - parse_value makes no other
            raise AssertionError(self.text)
        how = found.group(1) or (
            "int" if kind.dtype.is_integral() else "bool" if kind.dtype is DType.bool else "normal"
        )
        low, high = (float(found.group(at)) if found.group(at) else at - 2.0 for at in (2, 3))
        if how == "bool":
            return rng.integers(0, 2, shape).astype(dtype)
        if how == "int":
            low, high = (low, high) if found.group(2) else (0, 9)
            return rng.integers(int(low), int(high) + 1, shape).astype(dtype)
        if how == "uniform":
            return rng.uniform(low, high, shape).astype(dtype)
        low, high = (low, high) if found.group(2) else (0.0, 1.0)
        return rng.normal(low, high, shape).astype(dtype)


def parse_dims(texts: Sequence[str]) -> dict[str, int]:
    """The sizes that ``--dim NAME=SIZE`` gave.

    Raises:
        UsageError: One is no such pair.
    """
    dims = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not value.isdigit():
            raise UsageError(f"--dim takes NAME=SIZE, not {text[:80]!r}", code="MG052")
        dims[name] = int(value)
    return dims


def parse_value(name: str, text: str, kind: TensorType | BufferType) -> Array | Generator:
    """The value of one input.

    Raises:
        UsageError: It cannot be understood, or a file cannot be read.
    """
    if text.startswith("@"):
        return _from_file(name, text[1:])
    if text in ("zeros", "ones", "arange") or _RANDOM.fullmatch(text):
        return Generator(text)
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        words = suggest(text.partition(":")[0], _WORDS)
        raise UsageError(
            f"the value of `{name}` cannot be understood: {text[:60]}",
            code="MG052",
            help=f"give JSON, @file.npy, @set.npz:key, or zeros, ones, arange, random ({words})",
        ) from None
    return json_value(name, value, kind)


def json_value(name: str, value: Any, kind: TensorType | BufferType) -> Array:
    """A JSON value as an array of the input's dtype; nothing is rounded to an int, nothing is cut off.

    Raises:
        UsageError: It is ragged, or an element does not fit the dtype.
    """
    dtype = kind.dtype
    try:
        array = np.asarray(value)
    except ValueError:
        raise UsageError(f"the value of `{name}` is not regular: its rows differ in length", code="MG052") from None
    wanted = dtype.to_numpy()
    kinds = "b" if dtype is DType.bool else "iu" if dtype.is_integral() else "iuf"
    fits = array.dtype.kind in kinds or array.size == 0
    if fits and dtype.is_integral() and array.size:
        info = np.iinfo(wanted)
        fits = int(array.min()) >= info.min and int(array.max()) <= info.max
    if not fits:
        raise UsageError(
            f"the value of `{name}` does not fit {dtype.name}",
            code="MG052",
            details=[("wanted", str(kind)), ("given", json.dumps(value)[:60])],
        )
    return array.astype(wanted)


def _from_file(name: str, source: str) -> Array:
    """``x.npy``, ``set.npz:key``, ``w.safetensors:key`` or ``x.json``."""
    path, _, key = source.partition(":") if ".npz" in source or ".safetensors" in source else (source, "", "")
    try:
        if path.endswith(".npy"):
            array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
            return array
        if path.endswith((".npz", ".safetensors")):
            arrays = read_set(path)
            if not key and len(arrays) == 1:
                return next(iter(arrays.values()))
            if (key or name) not in arrays:
                raise UsageError(
                    f"{path} holds no `{key or name}`", code="MG052", help=suggest(key or name, list(arrays))
                )
            return arrays[key or name]
    except UsageError:
        raise
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file", code="MG050") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {str(error).splitlines()[0][:100]}", code="MG050") from None
    raise UsageError(
        f"{path}: what kind of file is this?",
        code="MG052",
        help="use .npy, .npz:key or .safetensors:key; JSON is written without @",
    )


def read_set(path: str) -> Mapping[str, Array]:
    """The arrays of an .npz or .safetensors file, by name.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        if path.endswith(".npz"):
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        from safetensors.numpy import load_file

        return dict(load_file(path))
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file", code="MG050") from None
    except Exception as error:  # noqa: BLE001 - safetensors and zipfile have errors of their own for damaged files
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise UsageError(f"{path} cannot be read: {reason}", code="MG050") from None


def resolve_shape(kind: TensorType | BufferType, sizes: Mapping[str, int], name: str) -> tuple[int, ...]:
    """The sizes of an input that is generated.

    Raises:
        UsageError: A symbol has no size.
    """
    shape: Shape = kind.shape
    missing = [symbol.name for symbol in shape.parameters if symbol.name not in sizes]
    if missing:
        raise UsageError(
            f"the size of `{missing[0]}` is not known, so `{name}` cannot be made",
            code="MG052",
            help=f"--dim {missing[0]}=SIZE",
        )
    return shape.evaluate(sizes)


def learn_sizes(kind: TensorType | BufferType, shape: Sequence[int], sizes: dict[str, int]) -> None:
    """Notes the sizes of the symbols of an input that is given."""
    for dim, extent in zip(kind.shape, shape, strict=False):
        if dim.polynomial.name is not None:
            sizes.setdefault(dim.polynomial.name, extent)
