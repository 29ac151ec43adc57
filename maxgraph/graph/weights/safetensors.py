"""Weights from safetensors files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...dtype import DType
from ...errors import TypeRuleError, UnsupportedError, UsageError, WeightNameError, suggest, user_location
from ...shards import ShardTensor, read_shard_header
from ..shape import Shape, ShapeLike
from ..type import DeviceRef
from ..weight import Weight
from .weights import WeightData

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["SafetensorWeights"]


class _Files:
    """The tensors of several files, and which of them were allocated. Their elements are mapped when they are used."""

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        self.places: dict[str, tuple[str, ShardTensor]] = {}
        self.allocated: dict[str, Array] = {}
        self._maps: dict[str, Array] = {}
        for path in [os.fspath(given) for given in paths]:
            for name, tensor in _read(path).items():
                if name in self.places:
                    raise UsageError(
                        f"tensor `{ascii(name)[1:-1]}` is in two files",
                        code="MGX06",
                        details=[("one", self.places[name][0]), ("other", path)],
                    )
                self.places[name] = (path, tensor)

    def array(self, name: str) -> Array:
        """The elements of a tensor, read-only."""
        import numpy as np

        path, tensor = self.places[name]
        if path not in self._maps:
            self._maps[path] = np.memmap(path, np.uint8, "r")
        part = self._maps[path][tensor.offset : tensor.offset + tensor.length]
        return part.view(tensor.dtype.to_numpy()).reshape(tensor.shape)


def _read(path: str) -> Mapping[str, ShardTensor]:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", code="MG050") from None
    try:
        return read_shard_header(descriptor, os.fstat(descriptor).st_size, path)
    finally:
        os.close(descriptor)


class SafetensorWeights:
    """A place in the tree of names of safetensors files. `load_weights` gives the root.

    Args:
        filepaths: The files.
        prefix: The place.

    Example:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from safetensors.numpy import save_file
        >>> from maxgraph.graph import Graph
        >>> folder = tempfile.mkdtemp()
        >>> save_file({"layers.0.w": np.ones(3, np.float32)}, os.path.join(folder, "m.safetensors"))
        >>> weights = SafetensorWeights([os.path.join(folder, "m.safetensors")])
        >>> with Graph("g") as graph:
        ...     graph.output(weights.layers[0].w.allocate() * 2)
        >>> sorted(weights.allocated_weights), weights.layers[0].w.name
        (['layers.0.w'], 'layers.0.w')
    """

    def __init__(
        self, filepaths: Sequence[str | os.PathLike[str]], *, prefix: str = "", _files: _Files | None = None
    ) -> None:
        self._files = _files or _Files(filepaths)
        self._prefix = prefix

    @property
    def name(self) -> str:
        """The names on the way to this place, joined by dots."""
        return self._prefix

    def __getattr__(self, attr: str) -> SafetensorWeights:
        if attr.startswith("__"):  # what Python itself looks for is no tensor
            raise AttributeError(attr)
        return self[attr]

    def __getitem__(self, idx: int | str) -> SafetensorWeights:
        below = f"{self._prefix}.{idx}" if self._prefix else str(idx)
        return SafetensorWeights([], prefix=below, _files=self._files)

    def exists(self) -> bool:
        """Whether there is a tensor of exactly this name."""
        return self._prefix in self._files.places

    def items(self) -> Iterator[tuple[str, SafetensorWeights]]:
        """Every tensor below this place, by its whole name."""
        start = f"{self._prefix}." if self._prefix else ""
        for name in self._files.places:
            if name.startswith(start):
                yield name, SafetensorWeights([], prefix=name, _files=self._files)

    def data(self) -> WeightData:
        """The tensor.

        Raises:
            KeyError: There is none of this name.
        """
        _, tensor = self._place()
        return WeightData(self._files.array(self._prefix), self._prefix, tensor.dtype, Shape(tensor.shape))

    def allocate(
        self,
        dtype: DType | None = None,
        shape: ShapeLike | None = None,
        quantization_encoding: object = None,
        device: DeviceRef | None = None,
    ) -> Weight:
        """The tensor as a weight of a graph.

        Args:
            dtype, shape: What they must be, if given.
            quantization_encoding: Not supported.
            device: Where the weight lies; the CPU if it is not given.

        Raises:
            KeyError: There is none of this name.
            ValueError: It has another dtype or shape.
        """
        if quantization_encoding is not None:
            raise UnsupportedError("quantised weights are not read", code="MG017", where=user_location(columns=True))
        _, tensor = self._place()
        wanted = (dtype or tensor.dtype, Shape(tensor.shape if shape is None else shape))
        if wanted != (tensor.dtype, Shape(tensor.shape)):
            raise TypeRuleError(
                f"weight `{self._prefix}` of the file does not fit",
                code="MG039",
                details=[
                    ("wanted", f"{wanted[0].name}{wanted[1].text}"),
                    ("in the file", f"{tensor.dtype.name}{Shape(tensor.shape).text}"),
                ],
                where=user_location(columns=True),
            )
        self._files.allocated[self._prefix] = self._files.array(self._prefix)
        return Weight(self._prefix, tensor.dtype, tensor.shape, device)

    @property
    def allocated_weights(self) -> dict[str, Array]:
        """The elements of all weights that were allocated, by name."""
        return dict(self._files.allocated)

    def _place(self) -> tuple[str, ShardTensor]:
        found = self._files.places.get(self._prefix)
        if found is None:
            raise WeightNameError(
                f"there is no tensor `{self._prefix}`",
                code="MG039",
                where=user_location(columns=True),
                help=suggest(self._prefix, list(self._files.places)),
            )
        return found

    def __repr__(self) -> str:
        return f"SafetensorWeights({self._prefix or 'all'}: {sum(1 for _ in self.items())} tensors below)"
