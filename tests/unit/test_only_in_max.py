"""Names that only MAX can give a meaning are refused with what to use instead."""

from __future__ import annotations

import importlib

import pytest

from maxgraph.errors import MissingNameError
from maxgraph.graph import only_in_max

NAMES = [("maxgraph.graph", name) for name in only_in_max.GRAPH]
NAMES += [("maxgraph.graph.ops", name) for name in only_in_max.OPS]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_name_says_why_it_is_missing(module: str, name: str) -> None:
    with pytest.raises(MissingNameError, match="is only in MAX") as raised:
        getattr(importlib.import_module(module), name)
    assert raised.value.help
    assert raised.value.code == "MG025"


def test_an_import_says_so_too() -> None:
    with pytest.raises(MissingNameError, match="Mojo"):
        from maxgraph.graph import KernelLibrary  # type: ignore[attr-defined]  # noqa: F401


def test_other_names_are_simply_missing() -> None:
    from maxgraph.graph import ops

    assert not hasattr(ops, "reluu")
