"""Debug information: source lines and names of values, inert and strippable."""

from __future__ import annotations

import os

from ..errors import SourceLocation
from ..v1 import model_pb2
from .decode_debug import is_source_name
from .limits import DEFAULT_LIMITS

__all__ = ["DebugTable"]


class DebugTable:
    """Fills a model's debug information.

    Args:
        root: The folder of the build script, which source files are relative to; None: they are relative already.
    """

    def __init__(self, model: model_pb2.Model, root: str | None) -> None:
        self._debug = model.debug_info
        self._root = root
        self._names: dict[str, str] = {}
        self._files: dict[str, int] = {}
        self._locations: dict[tuple[str, int, int], int] = {}

    def location(self, location: SourceLocation) -> int:
        """The number of a source line, from 1."""
        file = self._names.get(location.file)
        if file is None:
            file = self._names[location.file] = _relative(location.file, self._root)
        key = (file, location.line, location.column)
        number = self._locations.get(key)
        if number is None:
            if file not in self._files:
                self._files[file] = len(self._files)
                self._debug.files.append(file)
            number = self._locations[key] = len(self._locations) + 1
            self._debug.locations.add(file=self._files[file], line=location.line, column=location.column)
        return number

    def name(self, number: int, name: str) -> None:
        """Records what a value is called."""
        self._debug.value_names.add(graph=0, value=number, name=name)


def _relative(file: str, root: str | None) -> str:
    """A source file as the file names it, so that the same program gives the same bytes from any folder.

    A name that the reader would not take, or that leads out of the folder, is cut to its last part.
    """
    name = file
    if root is not None and not file.startswith("<"):  # such as <stdin>
        name = os.path.relpath(os.path.abspath(file), root).replace(os.sep, "/")
    name = name.encode(errors="replace").decode()  # a path that is no UTF-8
    return name if is_source_name(name, DEFAULT_LIMITS) else name.rpartition("/")[2][-255:].strip(".") or "?"
