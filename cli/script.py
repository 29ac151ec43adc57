"""Running a build script and finding the graph that it makes."""

from __future__ import annotations

import inspect
import json
import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from maxgraph.errors import MaxGraphError, SourceLocation, UsageError, suggest
from maxgraph.graph import Graph

__all__ = ["Built", "build_graph", "candidates", "run_script"]


@dataclass(frozen=True)
class Built:
    """What a script made: a graph, and the elements of its weights."""

    graph: Graph
    weights: Mapping[str, Any]


def run_script(path: str) -> ModuleType:
    """Runs a script in a module of its own, its folder first on the module path.

    Raises:
        UsageError: It cannot be read, or fails; the error names the line.
    """
    full = os.path.abspath(path)
    try:
        with open(full, encoding="utf-8") as file:
            source = file.read()
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file", code="MG050") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", code="MG050") from None
    module = ModuleType("maxg_build_script")
    module.__file__ = full
    sys.path.insert(0, os.path.dirname(full))
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, full, "exec"), module.__dict__)  # noqa: S102 - the user's own script is what build runs
    except (MaxGraphError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        raise _script_error(path, full, error) from error
    finally:
        sys.path.remove(os.path.dirname(full))
    return module


def _script_error(path: str, full: str, error: BaseException) -> UsageError:
    """A script's own failure, with the last of its lines that was running."""
    where = None
    if isinstance(error, SyntaxError) and error.lineno is not None:
        where = SourceLocation(error.filename or full, error.lineno, error.offset or 0)
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == full and frame.lineno is not None:
                where = SourceLocation(full, frame.lineno, (frame.colno or 0) + 1, (frame.end_colno or 0) + 1)
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return UsageError(f"{path} failed: {reason}", code="MG051", where=where)


def candidates(module: ModuleType) -> dict[str, Any]:
    """The graphs of a script, and the functions of its own that promise one or are called ``build``."""
    found: dict[str, Any] = {n: v for n, v in vars(module).items() if isinstance(v, Graph) and not n.startswith("_")}
    for name, value in vars(module).items():
        own = inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
        if own and (name == "build" or "Graph" in str(inspect.signature(value).return_annotation)):
            found[name] = value
    return found


def build_graph(path: str, name: str | None, arguments: Mapping[str, str]) -> Built:
    """Runs a script and gives its graph.

    Raises:
        UsageError: There is no graph, or several and no name; or an argument does not fit.
    """
    module = run_script(path)
    found = candidates(module)
    listing = ", ".join(found) or "none"
    if name is None:
        graphs = [n for n, v in found.items() if isinstance(v, Graph)]
        chosen = "build" if "build" in found else graphs[0] if len(graphs) == 1 else None
        chosen = chosen or (next(iter(found)) if len(found) == 1 else None)
        if chosen is None:
            message = f"{path} holds several graphs" if found else f"{path} holds no graph"
            hint = (
                f"name one: {path}:NAME"
                if found
                else "keep a Graph in a variable, or write a function `build` that returns one"
            )
            raise UsageError(message, code="MG051", details=[("there are", listing)], help=hint)
        name = chosen
    if name not in found:
        raise UsageError(f"{path} holds no graph `{name}`", code="MG051", help=suggest(name, list(found)))
    target = found[name]
    if isinstance(target, Graph):
        if arguments:
            raise UsageError(f"`{name}` is a graph and takes no --arg", code="MG052")
        return Built(target, {})
    try:
        made = target(**_typed(target, arguments))
    except (MaxGraphError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        raise _script_error(path, os.path.abspath(path), error) from error
    graph, weights = made if isinstance(made, tuple) and len(made) == 2 else (made, {})
    if not isinstance(graph, Graph):
        raise UsageError(f"{path}: `{name}` returned {type(graph).__name__}, not a Graph", code="MG051")
    return Built(graph, weights)


def _typed(function: Any, arguments: Mapping[str, str]) -> dict[str, Any]:
    """Arguments as the function's annotations say."""
    parameters = inspect.signature(function).parameters
    typed: dict[str, Any] = {}
    for key, text in arguments.items():
        if key not in parameters:
            raise UsageError(
                f"`{function.__name__}` takes no `{key}`", code="MG052", help=suggest(key, list(parameters))
            )
        kind = str(parameters[key].annotation).rpartition(".")[2].strip("'<>")
        try:
            typed[key] = text if kind == "str" else json.loads(text)
        except json.JSONDecodeError:
            typed[key] = text
        kinds: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,)}
        wanted = kinds.get(kind)
        if wanted is not None and (
            not isinstance(typed[key], wanted) or (kind != "bool" and isinstance(typed[key], bool))
        ):
            raise UsageError(f"`{key}` must be {kind}, not {text!r}", code="MG052")
    return typed
