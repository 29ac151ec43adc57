"""Every example in a docstring does what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import maxgraph

# Generated code has no examples.
MODULES = [
    m.name for m in pkgutil.walk_packages(maxgraph.__path__, "maxgraph.") if not m.name.startswith("maxgraph.v1")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    module = importlib.import_module(name)
    # An example stands for a user's program: its variables name values only where it is not one of maxgraph's modules.
    result = doctest.testmod(module, extraglobs={"__name__": "example"})
    assert result.failed == 0
