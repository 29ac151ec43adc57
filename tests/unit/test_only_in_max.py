"""Names that only MAX can give a meaning are refused with what to use instead."""

from __future__ import annotations

import importlib

import pytest

from maxgraph.dtype import DType
from maxgraph.errors import MissingMemberError, MissingNameError
from maxgraph.graph import DeviceRef, Dim, Graph, TensorType, Weight, only_in_max

NAMES = [("maxgraph.graph", name) for name in only_in_max.GRAPH]
NAMES += [("maxgraph.graph.ops", name) for name in only_in_max.OPS]
NAMES += [("maxgraph.graph.weights", name) for name in only_in_max.WEIGHTS]


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


def classes(module: object) -> list[type]:
    return [kind for name, kind in vars(module).items() if isinstance(kind, type) and not name.startswith("_")]


MODULES = ["maxgraph.graph", "maxgraph.graph.type", "maxgraph.graph.weights"]
MEMBERS = sorted(
    {
        (kind, name)
        for module in MODULES
        for kind in classes(importlib.import_module(module))
        for base in kind.__mro__
        for name, member in vars(base).items()
        if isinstance(member, only_in_max.OnlyInMax)
    },
    key=lambda member: (member[0].__name__, member[1]),
)


def test_there_are_members_only_in_max() -> None:
    found = {(kind.__name__, name) for kind, name in MEMBERS}
    wanted = {("StaticDim", "to_mlir"), ("Shape", "from_mlir"), ("BufferType", "to_mlir"), ("DeviceRef", "to_device")}
    wanted |= {("Graph", "always_ready_chain"), ("Weight", "shard")}
    wanted |= {("Module", "mlir_module"), ("WeightData", "to_buffer"), ("TensorValue", "opaque")}
    assert wanted <= found


@pytest.mark.parametrize(("kind", "name"), MEMBERS, ids=lambda part: getattr(part, "__name__", part))
def test_a_member_says_why_it_is_missing(kind: type, name: str) -> None:
    with pytest.raises(MissingMemberError, match=f"{name}` is only in MAX") as raised:
        getattr(kind, name)
    assert raised.value.help
    assert raised.value.code == "MG025"
    assert raised.value.where is not None
    assert raised.value.where.file == __file__
    assert not hasattr(kind, name)


def test_a_member_of_an_object_says_so_too() -> None:
    graph = Graph("g", lambda x: x, input_types=[TensorType(DType.float32, [2], DeviceRef.CPU())])
    for thing, name in (
        (Dim("n") + 1, "to_mlir"),
        (graph.inputs[0], "opaque"),
        (Weight("w", DType.float32, [2]), "shard"),
        (DeviceRef.CPU(), "to_device"),
    ):
        with pytest.raises(MissingMemberError, match=f"{name}` is only in MAX"):
            getattr(thing, name)
