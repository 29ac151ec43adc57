"""Every error code is explained, and an example that is Python raises its code."""

from __future__ import annotations

import numpy as np
import pytest

from maxgraph import explanations
from maxgraph.dtype import DType
from maxgraph.errors import CODES, MaxGraphError
from maxgraph.explanations import explanation
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, ops

CPU = DeviceRef.CPU()
PYTHON = [code for code in CODES if explanation(code).is_python]


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_explained(code: str) -> None:
    found = explanation(code)
    assert found.title == CODES[code]
    assert found.example
    assert found.mend.endswith(".")


def test_no_text_is_of_an_unknown_code() -> None:
    assert set(explanations._TEXTS) | set(explanations._MENDS) <= set(CODES)
    # Codes of the file are explained by their parts; all others have texts of their own.
    assert {code for code in CODES if code[2].isdigit()} == set(explanations._TEXTS)


@pytest.mark.parametrize("code", PYTHON)
def test_an_example_raises_its_code(code: str) -> None:
    types = [
        TensorType(DType.float32, ["batch", 8], CPU),
        TensorType(DType.float32, [4, 8], CPU),
        TensorType(DType.int32, [4], CPU),
        BufferType(DType.float32, [4], CPU),
    ]
    names = {"np": np, "ops": ops, "DType": DType, "DeviceRef": DeviceRef, "Graph": Graph, "TensorType": TensorType}
    with Graph("g", input_types=types) as graph:
        names |= {n: v.tensor for n, v in zip("xwi", graph.inputs, strict=False)}  # type: ignore[dict-item]
        names["total"] = graph.inputs[3].buffer  # type: ignore[assignment]
        with pytest.raises(MaxGraphError) as raised:
            exec(explanation(code).example, names)
        graph.output()
    assert raised.value.code == code
