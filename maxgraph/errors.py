"""Every error that a user can meet: one tree, one form, one place that turns it into text.

An error has a stable code, a sentence that says what was wanted and what was given, labelled details (the types
involved), the line of the user's own program, and how to mend it. The classes also derive from the built-in
exceptions that MAX raises in the same place, so that ``except ValueError`` keeps working.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

__all__ = [
    "CODES",
    "CheckFailedError",
    "DeviceError",
    "ExecutionError",
    "FormatError",
    "GraphIndexError",
    "GraphTypeError",
    "InputError",
    "InputTypeError",
    "InternalError",
    "LoweringError",
    "MaxGraphError",
    "MissingNameError",
    "NoGraphError",
    "NoSeedError",
    "SourceLocation",
    "StateError",
    "StateInUseError",
    "TypeRuleError",
    "UnsupportedError",
    "UsageError",
    "WeightNameError",
    "render",
    "suggest",
    "user_location",
]

# code -> title. A code is never given a second meaning.
CODES: dict[str, str] = {
    # Building a graph
    "MG001": "no graph is open here",
    "MG002": "a value of another graph",
    "MG003": "a tensor is wanted",
    "MG004": "a buffer is wanted",
    "MG005": "a graph's outputs are missing or given twice",
    "MG006": "a name is malformed or used twice",
    "MG010": "element types do not combine",
    "MG011": "shapes do not broadcast",
    "MG012": "inner dimensions differ",
    "MG013": "axis out of range",
    "MG014": "wrong rank",
    "MG015": "wrong shape",
    "MG016": "wrong element type",
    "MG017": "a bad argument",
    "MG018": "index out of range",
    "MG019": "an unsupported index",
    "MG020": "a store does not fit its buffer",
    "MG022": "values on different devices",
    "MG023": "a malformed dimension",
    "MG024": "a tensor has no truth value, length or iteration while a graph is built",
    "MG025": "a name that only MAX can give a meaning",
    "MG026": "random numbers without a seed",
    # Running a graph
    "MG030": "an input is missing or unknown",
    "MG031": "an input has the wrong shape",
    "MG032": "an input has the wrong element type",
    "MG033": "memory that cannot be used",
    "MG034": "a symbol is bound to two sizes",
    "MG035": "index out of range when run",
    "MG036": "a state is in use",
    "MG037": "a state does not fit the model",
    "MG038": "a state of another program",
    "MG039": "a weight is missing or does not fit",
    # Lowering and devices
    "MG040": "a device cannot be had",
    "MG041": "a buffer cannot be changed in place",
    "MG042": "an op cannot be lowered",
    "MG043": "onnxruntime failed",
    "MG044": "the execution failed",
    "MG045": "a graph that a file cannot hold",
    "MG046": "a node would run on the CPU instead of the accelerator",
    "MG048": "a state that a failed execution has left half changed",
    # Command line
    "MG050": "a file cannot be read or written",
    "MG051": "a build script went wrong",
    "MG052": "a value cannot be understood",
    "MG053": "unknown option value",
    "MG054": "results differ from what was expected",
    "MG099": "a fault in maxgraph itself",
    # The file: preamble, header, types, external files, blobs, ops, graphs, effects, attributes, weights, states,
    # metadata, debug information
    "MGP01": "too short for a .maxg file",
    "MGP02": "not a .maxg file",
    "MGP03": "another major version of the format",
    "MGP04": "a newer minor version of the format",
    "MGP05": "reserved flags are set",
    "MGP06": "the file's length differs from what it declares",
    "MGP07": "the file is over the size limit",
    "MGP08": "the header is empty or over the size limit",
    "MGP09": "the header runs past the end of the file",
    "MGH01": "the header's digest does not match",
    "MGH02": "the header cannot be parsed",
    "MGH03": "required features are not sorted and unique",
    "MGH04": "an unknown required feature",
    "MGH05": "an unknown field",
    "MGH06": "the header is not in canonical form",
    "MGH07": "a feature is used but not declared, or declared but not used",
    "MGT01": "a malformed symbol",
    "MGT02": "a malformed device",
    "MGT03": "a type without a kind",
    "MGT04": "an unknown element type",
    "MGT05": "a rank over the limit",
    "MGT06": "a device index out of range",
    "MGT07": "a malformed dimension",
    "MGT08": "a type appears twice",
    "MGT09": "a type index out of range, or a type of the wrong kind",
    "MGT10": "types are not in order of first use",
    "MGT11": "an unused type",
    "MGX01": "too many external files",
    "MGX02": "a name that is no file beside this one",
    "MGX03": "a malformed digest of an external file",
    "MGX04": "an external file of an unknown kind",
    "MGX05": "an external file of an impossible size",
    "MGX06": "external files are not sorted and unique",
    "MGX07": "an external file is not used",
    "MGX08": "a file of weights cannot be trusted",
    "MGX09": "a file of weights is missing",
    "MGX10": "a file of weights is another one",
    "MGX11": "a file of weights does not match its digest",
    "MGB01": "too many blobs",
    "MGB02": "blobs are not sorted",
    "MGB03": "a malformed digest",
    "MGB04": "an empty blob",
    "MGB05": "a blob of an unknown file",
    "MGB06": "blobs do not tile the weight section",
    "MGB07": "a blob runs past the end of the file",
    "MGB08": "blobs overlap",
    "MGB09": "bytes after the last blob",
    "MGB10": "a blob without a weight",
    "MGB11": "padding is not zero",
    "MGB12": "a blob's digest does not match",
    "MGO01": "ops are not sorted and unique",
    "MGO02": "a malformed op reference",
    "MGO03": "an op index out of range",
    "MGO04": "an unused op",
    "MGO05": "an unknown op or op version",
    "MGO06": "a node does not fit its op's signature",
    "MGO07": "a node's types differ from what its op computes",
    "MGG01": "a model without a graph, or with more than this version reads",
    "MGG02": "a malformed or repeated graph name",
    "MGG03": "a malformed or repeated input or output name",
    "MGG04": "too many values",
    "MGG05": "a malformed input",
    "MGG06": "a malformed state binding",
    "MGG07": "a malformed body",
    "MGG08": "a block's result is not visible",
    "MGG09": "too many nodes",
    "MGG10": "an operand is not visible",
    "MGG11": "operand segments do not add up",
    "MGG12": "blocks out of order",
    "MGG13": "blocks nested too deep",
    "MGG14": "a node yields a buffer",
    "MGG15": "an output is not a visible tensor",
    "MGE01": "effects are not sorted",
    "MGE02": "a malformed effect",
    "MGE03": "effects differ from what the op does",
    "MGE04": "an input's declared access differs from its use",
    "MGA01": "attributes are not sorted and unique",
    "MGA02": "a malformed attribute",
    "MGW01": "weights are not sorted and unique",
    "MGW02": "a malformed weight type",
    "MGW03": "a blob index out of range",
    "MGW05": "a weight's size differs from its blob's",
    "MGW06": "a weight's bytes are no elements of its type",
    "MGS01": "states are not sorted and unique",
    "MGS02": "a malformed state type",
    "MGS04": "a malformed initial value",
    "MGM01": "malformed metadata",
    "MGD01": "malformed debug information",
}


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in the user's program.

    Attributes:
        file: The path as Python knows it (or as a file records it: relative, with ``/``).
        line: From 1.
        column: From 1; 0 where it is not known.
        end_column: One past the last column of the expression; 0 where it is not known.
    """

    file: str
    line: int
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class MaxGraphError(Exception):
    """The root of all errors that maxgraph raises on purpose.

    Attributes:
        code: Stable; see `CODES`.
        summary: One sentence: what was wanted and what was given.
        details: Labelled facts, such as each operand with its type.
        where: The line of the user's program, if there is one.
        help: How to mend it, if that is known.
    """

    def __init__(
        self,
        summary: str,
        *,
        code: str,
        details: Sequence[tuple[str, str]] = (),
        where: SourceLocation | None = None,
        help: str | None = None,  # noqa: A002 - the word that users read
    ) -> None:
        super().__init__(summary)
        self.code = code
        self.summary = summary
        self.details = tuple(details)
        self.where = where
        self.help = help

    def __str__(self) -> str:
        lines = [f"{self.summary} [{self.code}]", *_detail_lines(self.details)]
        if self.where is not None:
            lines.append(f"  at {self.where}")
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


class TypeRuleError(MaxGraphError, ValueError):
    """An op refuses its operands or attributes, or a graph is not whole."""


class GraphTypeError(MaxGraphError, TypeError):
    """Something of the wrong Python type was given while a graph was built."""


class GraphIndexError(MaxGraphError, IndexError):
    """An axis or an index is out of range while a graph is built."""


class NoGraphError(MaxGraphError, LookupError):
    """An op was called outside a graph."""


class NoSeedError(MaxGraphError, RuntimeError):
    """Random numbers were asked for in a graph that has no seed."""


class UnsupportedError(MaxGraphError, NotImplementedError):
    """Something that has a meaning and is not supported."""


class FormatError(MaxGraphError, ValueError):
    """A file is not a valid .maxg file. The only error that the reader raises on a file's content."""


class LoweringError(MaxGraphError, ValueError):
    """A graph cannot be lowered as asked."""


class DeviceError(MaxGraphError, ValueError):
    """A device cannot be had."""


class InputError(MaxGraphError, ValueError):
    """A run's input has the wrong name, count, shape or dtype, or memory that cannot be used."""


class InputTypeError(MaxGraphError, TypeError):
    """A run's input is of the wrong Python type."""


class StateError(MaxGraphError, ValueError):
    """A state or a state file does not fit the model."""


class StateInUseError(MaxGraphError, RuntimeError):
    """A state is used by another execution at this moment."""


class ExecutionError(MaxGraphError, ValueError):
    """An execution failed on the data that it was given; every buffer is as it was before the call."""


class UsageError(MaxGraphError, ValueError):
    """A command was used wrongly."""


class CheckFailedError(MaxGraphError):
    """What a plan computes is not what it should."""


class MissingNameError(MaxGraphError, NotImplementedError):
    """A name of MAX that has no meaning here. No `AttributeError`: an import would hide what it says."""


class MissingMemberError(MissingNameError, AttributeError):
    """A member of a class of MAX that has no meaning here; to `hasattr` it is not there."""


class WeightNameError(MaxGraphError, KeyError):
    """A checkpoint has no tensor of this name."""


class InternalError(MaxGraphError, RuntimeError):
    """A fault in maxgraph, or one of onnxruntime's that maxgraph should have foreseen."""


def _detail_lines(details: Sequence[tuple[str, str]]) -> list[str]:
    width = max((len(label) for label, _ in details), default=0)
    return [f"  {label:<{width}}  {text}" for label, text in details]


def render(error: MaxGraphError) -> str:
    """The error as the command line prints it: code, summary, source line with a marker, details, help.

    Example:
        >>> print(render(InputError("input `x` is missing", code="MG030", help="add -i x=...")))
        error[MG030]: input `x` is missing
        help: add -i x=...
    """
    lines = [f"error[{error.code}]: {error.summary}"]
    where = error.where
    if where is not None:
        column = f":{where.column}" if where.column else ""
        lines.append(f"  --> {where.file}:{where.line}{column}")
        text = linecache.getline(where.file, where.line).rstrip()
        if text:
            number = str(where.line)
            gutter = " " * len(number)
            lines += [f"{gutter} |", f"{number} | {text}"]
            if where.column:
                length = max(1, min(where.end_column or len(text) + 1, len(text) + 1) - where.column)
                lines.append(f"{gutter} | {' ' * (where.column - 1)}{'^' * length}")
    lines += _detail_lines(error.details)
    if error.help:
        lines.append(f"help: {error.help}")
    return "\n".join(lines)


def user_location(*, columns: bool = False) -> SourceLocation | None:
    """The innermost line of the call stack that is not maxgraph's own.

    Args:
        columns: Also find the columns of the expression; dearer, so only errors ask for it.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - the only cheap way to walk frames
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != "maxgraph":
            code = frame.f_code
            if not columns:
                return SourceLocation(code.co_filename, frame.f_lineno)
            position = next(islice(code.co_positions(), frame.f_lasti // 2, None), None)
            line, end_line, column, end_column = position or (None, None, None, None)
            if line is None or column is None or end_column is None:
                return SourceLocation(code.co_filename, frame.f_lineno)
            return SourceLocation(code.co_filename, line, column + 1, end_column + 1 if end_line == line else 0)
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None


def suggest(wrong: str, known: Sequence[str]) -> str | None:
    """A sentence that names what was probably meant, or what there is."""
    import difflib

    close = difflib.get_close_matches(wrong, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{close[0]}`?"
    if known:
        return "known: " + ", ".join(f"`{name}`" for name in known[:8]) + (", ..." if len(known) > 8 else "")
    return None
