"""From the header's debug information to locations and names; all of it is inert text."""

from __future__ import annotations

from ..errors import SourceLocation
from ..v1 import model_pb2
from .checks import FirstUse, check_sorted, text
from .decode_values import Values
from .errors import escaped, fail, need
from .limits import Limits

__all__ = ["DebugDecoder", "is_source_name"]


def is_source_name(name: str, limits: Limits) -> bool:
    """Whether debug information may name a source file so: relative, and not leading out of its folder."""
    inside = not name.startswith("/") and ".." not in name.split("/") and "\0" not in name
    return inside and len(name.encode(errors="replace")) <= limits.string_bytes


class DebugDecoder:
    """Decodes source lines and value names. Files and locations must be in order of first use."""

    def __init__(self, model: model_pb2.Model, limits: Limits) -> None:
        self._limits = limits
        self._names = model.debug_info.value_names
        self._files = list(model.debug_info.files)
        self._locations = list(model.debug_info.locations)
        for file in self._files:
            need(is_source_name(file, limits), "MGD01", f"`{escaped(file)}` cannot name a source file")
        need(len(set(self._files)) == len(self._files), "MGD01", "a source file appears twice")
        places = {(place.file, place.line, place.column) for place in self._locations}
        need(len(places) == len(self._locations), "MGD01", "a location appears twice")
        self._file_uses = FirstUse(len(self._files), "MGD01", "source file")
        self._uses = FirstUse(len(self._locations), "MGD01", "location")
        self._decoded: list[SourceLocation] = []

    def location(self, number: int) -> SourceLocation | None:
        """The location that a node names; 0 for none."""
        if number == 0:
            return None
        if self._uses.use(number - 1, "MGD01"):
            place = self._locations[number - 1]
            self._file_uses.use(place.file, "MGD01")
            self._decoded.append(SourceLocation(self._files[place.file], place.line, place.column))
        return self._decoded[number - 1]

    def finish(self, values: Values) -> None:
        """Gives values the names that are recorded, and raises where an entry was never used."""
        self._uses.finish("MGD01")
        self._file_uses.finish("MGD01")
        check_sorted([(entry.graph, entry.value) for entry in self._names], "MGD01", "value names")
        for entry in self._names:
            value = values.at(entry.value, "MGD01")
            if entry.graph != 0 or value.node is None:
                fail("MGD01", "a name for a value that is no node's result")
            value.name = text(entry.name, self._limits, "MGD01", "a value's name")
