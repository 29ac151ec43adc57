"""Every op on every sample through the engine, as a user runs it."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest

from maxgraph.driver import CPU
from maxgraph.engine import InferenceSession
from maxgraph.graph.ops.registry import Op
from maxgraph.reference import Interpreter
from tests.ops.test_samples import CASES, build, has_bfloat16, same


@pytest.mark.parametrize(("made", "number"), CASES, ids=lambda v: v.name if isinstance(v, Op) else str(v))
def test_a_sample_runs_as_the_interpreter_says(made: Op[..., Any], number: int) -> None:
    graph, inputs, buffers = build(made, made.cases[number])
    expected_buffers = {name: array.copy() for name, array in buffers.items()}
    shown, expected_shown = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(expected_shown):
        expected = Interpreter(graph).run(inputs, expected_buffers)
    # The samples of `transfer_to` name a GPU.
    session = InferenceSession(devices=[CPU()], device_map={"gpu:0": CPU()} if made.name == "transfer_to" else None)
    arguments = [{**inputs, **buffers}[info.name] for info in graph.signature]
    with contextlib.redirect_stdout(shown):
        outputs = session.load(graph).execute(*arguments)
    for output, array in zip(outputs, expected.values(), strict=True):
        same(output.to_numpy(), array, "bfloat16" if has_bfloat16(made.cases[number]) else None)
    for name, array in expected_buffers.items():
        same(buffers[name], array)
    assert shown.getvalue() == expected_shown.getvalue()
