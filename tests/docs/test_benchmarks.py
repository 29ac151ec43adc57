"""Every form of every benchmark means the same; what they cost is not looked at here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
#: The benchmarks, each with the sizes of a small case.
PROGRAMS: dict[str, tuple[int, ...]] = {
    "counter": (),
    "row_store": (16,),
    "two_buffers": (5,),
    "decay": (64,),
    "attention": (16,),
}


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a benchmark, as if it were started in its folder."""
    import importlib

    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(FOLDER)):
            del sys.modules[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_forms_mean_the_same(name: str, benchmark: Any) -> None:
    case = benchmark(name).case(*PROGRAMS[name], 1)
    assert {"numpy", "maxgraph, state", "maxgraph, caller's buffers"} < set(case.forms)
    case.check()
    for form in case.forms.values():
        if form.call is not None:
            form.call()


def test_a_form_that_differs_is_noticed(benchmark: Any) -> None:
    case = benchmark("counter").case(1)
    case.forms["numpy"].step(0)
    with pytest.raises(AssertionError, match="numpy"):
        case.check()


def test_every_benchmark_is_run_by_make(benchmark: Any) -> None:
    steps = benchmark("steps")
    assert {module.__name__ for module in steps.PROGRAMS} == set(PROGRAMS)
    made = (FOLDER.parent / "Makefile").read_text()
    assert all(f"benchmarks/{name}.py" in made for name in ("steps", "parts", "load"))


def test_the_parts_of_a_call_can_be_called(benchmark: Any) -> None:
    from maxgraph.engine import InferenceSession

    for call in benchmark("parts").layers(InferenceSession().load(benchmark("row_store").graph(8))).values():
        call()
