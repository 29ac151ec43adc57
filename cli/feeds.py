"""From the command line's inputs to one dict of arrays for each step."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from maxgraph.compare.indices import index_ranges
from maxgraph.errors import UsageError, suggest
from maxgraph.graph import Graph
from maxgraph.graph.type import TensorType

from .values import Array, Generator, json_value, learn_sizes, parse_value, read_set, resolve_shape

__all__ = ["Feeds", "read_feeds"]

#: The size that is chosen for the first symbol that nothing tells.
_FIRST_SIZE = 8


@dataclass
class Feeds:
    """The inputs of all steps.

    Attributes:
        fixed: Inputs that are the same in each step.
        scanned: Inputs of which each step takes one entry of the leading axis.
        fresh: Inputs that are made anew for each step.
        sizes: The sizes of symbols, as far as the inputs tell them.
    """

    fixed: dict[str, Array] = field(default_factory=dict)
    scanned: dict[str, Array] = field(default_factory=dict)
    fresh: dict[str, Callable[[], Array]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    steps: int = 1

    def each(self) -> Iterator[dict[str, Array]]:
        """The inputs of each step."""
        for step in range(self.steps):
            scanned = {name: np.asarray(array[step]) for name, array in self.scanned.items()}
            yield {**self.fixed, **scanned, **{name: make() for name, make in self.fresh.items()}}


def read_feeds(
    graph: Graph,
    inputs: Sequence[str],
    *,
    scan: Sequence[str],
    steps: int | None,
    dims: Mapping[str, int],
    random: bool,
    rng: np.random.Generator,
    fresh: bool = False,
) -> Feeds:
    """All inputs, read, checked and complete.

    Args:
        graph: The graph.
        inputs, scan, steps, dims, random: The options of that name.
        rng: Makes all random values.
        fresh: Whether random values are others in each step, and the size of a symbol that nothing tells is chosen.

    Raises:
        UsageError: An input is unknown, missing, malformed, or does not fit.
    """
    kinds = {i.name: i.value.type for i in graph.signature if isinstance(i.value.type, TensorType)}
    for name in scan:
        if name not in kinds:
            raise UsageError(f"there is no input `{name}` to scan", code="MG030", help=suggest(name, list(kinds)))
    given = _collect(kinds, inputs)
    feeds = Feeds(sizes=dict(dims))
    for name in kinds:
        if name not in given:
            if not random:
                raise UsageError(
                    f"input `{name}` is missing",
                    code="MG030",
                    details=[("wanted", str(kinds[name]))],
                    help=f"-i {name}=VALUE, or --random for all that are missing",
                )
            given[name] = Generator("random")
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    for name, array in arrays.items():
        _check(name, array, kinds[name], scanned=name in scan)
        learn_sizes(kinds[name], array.shape[name in scan :], feeds.sizes)
    lengths = {name: len(array) for name, array in arrays.items() if name in scan}
    feeds.steps = _steps(lengths, steps)
    if fresh:
        choose_sizes(graph, feeds.sizes)
    ranges = index_ranges(graph)
    for name, kind in kinds.items():
        value = given[name]
        if isinstance(value, Generator):
            shape = resolve_shape(kind, feeds.sizes, name)
            if value.text == "random" and name in ranges:
                value = value.within(ranges[name].evaluate(feeds.sizes))
            if fresh and value.text.startswith("random"):
                feeds.fresh[name] = partial(value.make, kind, shape, rng)
                continue
            value = value.make(kind, (feeds.steps, *shape) if name in scan else shape, rng)
        (feeds.scanned if name in scan else feeds.fixed)[name] = value
    return feeds


def choose_sizes(graph: Graph, sizes: dict[str, int]) -> None:
    """Gives each symbol of an input or a buffer that has no size yet one of its own, so that no two are mixed up."""
    for info in graph.signature:
        for symbol in info.value.type.shape.parameters:
            if symbol.name not in sizes:
                sizes[symbol.name] = _FIRST_SIZE + len(sizes)


def _collect(kinds: Mapping[str, TensorType], inputs: Sequence[str]) -> dict[str, Array | Generator]:
    """What ``-i`` gave, by input; a later one wins."""
    given: dict[str, Array | Generator] = {}
    for text in inputs:
        name, equals, value = text.partition("=")
        if equals and not os.path.exists(text):
            if name not in kinds:
                raise UsageError(f"there is no input `{name}`", code="MG030", help=suggest(name, list(kinds)))
            given[name] = parse_value(name, value, kinds[name])
            continue
        for key, array in _read_set(text, kinds).items():
            if key in kinds:
                given[key] = array
    return given


def _read_set(source: str, kinds: Mapping[str, TensorType]) -> dict[str, Array]:
    """A whole set of inputs: an npz or safetensors file, or a JSON object; names that are no inputs are left out."""
    if source != "-" and not source.endswith(".json"):
        if not source.endswith((".npz", ".safetensors")):
            raise UsageError(
                f"{source!r} is neither NAME=VALUE nor a file of inputs",
                code="MG052",
                help="use .npz, .safetensors or .json",
            )
        found = dict(read_set(source))
        if not set(found) & set(kinds):
            raise UsageError(f"{source} holds none of the inputs", code="MG030", details=[("inputs", ", ".join(kinds))])
        return found
    try:
        if source == "-":
            loaded = json.load(sys.stdin)
        else:
            with open(source, encoding="utf-8") as file:
                loaded = json.load(file)
    except FileNotFoundError:
        raise UsageError(f"{source}: there is no such file", code="MG050") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise UsageError(f"{source} is not JSON", code="MG050") from None
    if not isinstance(loaded, dict):
        raise UsageError(f"{source} must hold an object of inputs by name", code="MG052")
    for name in loaded:
        if name not in kinds:
            raise UsageError(f"there is no input `{name}`", code="MG030", help=suggest(name, list(kinds)))
    return {name: json_value(name, value, kinds[name]) for name, value in loaded.items()}


def _check(name: str, array: Array, kind: TensorType, *, scanned: bool) -> None:
    """Refuses an array of another dtype or shape than the input's, before anything runs."""
    wanted = kind.dtype.to_numpy()
    details = [("wanted", f"steps of {kind}" if scanned else str(kind)), ("given", f"{array.dtype}{list(array.shape)}")]
    if array.dtype != wanted:
        raise UsageError(f"input `{name}` has the wrong dtype", code="MG032", details=details)
    shape = array.shape[1:] if scanned else array.shape
    fits = array.ndim == kind.rank + scanned and all(
        dim.polynomial.value in (None, size) for dim, size in zip(kind.shape, shape, strict=True)
    )
    if not fits:
        raise UsageError(f"input `{name}` has the wrong shape", code="MG031", details=details)


def _steps(lengths: Mapping[str, int], steps: int | None) -> int:
    """How many steps the scanned inputs allow, and the user wants."""
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        raise UsageError(f"the scanned inputs differ in length: {text}", code="MG031")
    available = next(iter(lengths.values()), None)
    if steps is None:
        return 1 if available is None else available
    if available is not None and steps > available:
        raise UsageError(f"--steps {steps}, but the scanned inputs hold {available}", code="MG052")
    return steps
