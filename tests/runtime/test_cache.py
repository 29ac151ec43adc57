"""The compile cache through sessions: what is found is what would have been lowered, and nothing else is found."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import maxgraph
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model
from maxgraph.engine import cache as cache_module
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, Weight, ops
from maxgraph.graph.ops.registry import lookup
from maxgraph.lower import convert, machine
from maxgraph.store import Store
from maxgraph.user_store import default_folder, open_store

CPU = DeviceRef.CPU()
X = np.linspace(-1, 1, 80, dtype=np.float32).reshape(2, 40)


class Lowerings:
    """Counts how often a graph is really lowered."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, *args: object, **kwargs: object) -> object:
        self.count += 1
        return LOWER(*args, **kwargs)  # type: ignore[arg-type]


LOWER = convert.lower


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MAXG_CACHE")
    monkeypatch.setenv("MAXG_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def lowerings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Lowerings:
    counted = Lowerings()
    monkeypatch.setattr(convert, "lower", counted)
    return counted


def program(name: str = "program", factor: float = 2.0) -> Graph:
    """A weight that is used as it is, one that the optimiser folds, and a buffer."""
    types = [BufferType(DType.float32, [2, 30], CPU), TensorType(DType.float32, [2, 40], CPU)]
    with Graph(name, input_types=types, input_names=["total", "x"]) as graph:
        total, x = graph.inputs[0].buffer, graph.inputs[1].tensor
        folded = 1.0 * ops.transpose(Weight("folded", DType.float32, [30, 40]), 0, 1)
        total[...] = total[...] * factor + (x @ Weight("plain", DType.float32, [40, 30]) + x @ folded)
        graph.output(sum=ops.sum(total[...], axis=1))
    return graph


def weights(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "plain": rng.standard_normal((40, 30), np.float32),
        "folded": rng.standard_normal((30, 40), np.float32),
    }


def result(model: Model) -> np.ndarray:
    total = np.ones((2, 30), np.float32)
    model.execute(total, X)
    return total


def expected(given: dict[str, np.ndarray], factor: float = 2.0) -> np.ndarray:
    return factor + X @ given["plain"] + X @ given["folded"].T


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.entry"))


def test_the_second_load_lowers_nothing(lowerings: Lowerings, folder: Path) -> None:
    first = InferenceSession().load(program(), weights_registry=weights())
    second = InferenceSession().load(program(), weights_registry=weights())
    assert lowerings.count == 1
    assert len(entries(folder)) == 1
    assert str(first.plan) == str(second.plan)
    assert second.input_metadata == first.input_metadata
    np.testing.assert_allclose(result(second), expected(weights()), rtol=1e-4)
    np.testing.assert_array_equal(result(first), result(second))


@pytest.mark.parametrize("trained", ["plain", "folded"])
@pytest.mark.parametrize("source", ["registry", "file", "graph"])
def test_a_retrained_weight_never_meets_the_old_entry(
    trained: str, source: str, lowerings: Lowerings, tmp_path: Path
) -> None:
    old, new = weights(0), weights(0)
    new[trained] = weights(1)[trained]
    path = tmp_path / "program.maxg"

    def load(given: dict[str, np.ndarray]) -> Model:
        if source == "registry":
            return InferenceSession().load(program(), weights_registry=given)
        maxgraph.save(program(), path, weights=given)
        if source == "file":
            return InferenceSession().load(path)
        graph = maxgraph.load(path)
        for name, array in given.items():  # in memory, in the graph itself
            graph.weights[name].data = maxgraph.graph.ir.ArrayData(array)
        return InferenceSession().load(graph)

    for given in (old, new, old, new):
        np.testing.assert_allclose(result(load(given)), expected(given), rtol=1e-4)
    assert lowerings.count == 2


def test_a_weight_that_a_registry_replaces_in_a_file(lowerings: Lowerings, tmp_path: Path) -> None:
    path = tmp_path / "program.maxg"
    maxgraph.save(program(), path, weights=weights(0))
    InferenceSession().load(path)
    replaced = {**weights(0), "folded": weights(1)["folded"]}
    model = InferenceSession().load(path, weights_registry={"folded": replaced["folded"]})
    assert lowerings.count == 2
    np.testing.assert_allclose(result(model), expected(replaced), rtol=1e-4)


CHANGES = {
    "constant": lambda: InferenceSession().load(program(factor=3.0), weights_registry=weights()),
    "name": lambda: InferenceSession().load(program("other"), weights_registry=weights()),
    "optimization": lambda: InferenceSession(optimization="none").load(program(), weights_registry=weights()),
    "buffers": lambda: InferenceSession(buffers="copied").load(program(), weights_registry=weights()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_the_result_of_lowering_is_in_the_key(change: str, lowerings: Lowerings) -> None:
    InferenceSession().load(program(), weights_registry=weights())
    model = CHANGES[change]()
    assert lowerings.count == 2
    np.testing.assert_allclose(result(model), expected(weights(), 3.0 if change == "constant" else 2.0), rtol=1e-4)
    CHANGES[change]()
    assert lowerings.count == 2


@pytest.mark.parametrize("fact", ["code", "onnxruntime", "processor"])
def test_another_version_or_machine_finds_nothing(
    fact: str, lowerings: Lowerings, monkeypatch: pytest.MonkeyPatch
) -> None:
    InferenceSession().load(program(), weights_registry=weights())
    facts = {**machine.machine_facts(), fact: "another"}
    monkeypatch.setattr(cache_module, "machine_facts", lambda: facts)
    InferenceSession().load(program(), weights_registry=weights())
    assert lowerings.count == 2


@pytest.mark.parametrize(("name", "value"), [("CACHE_FORMAT", cache_module.CACHE_FORMAT + 1), ("__version__", "9.9")])
def test_another_version_of_ours_finds_nothing(
    name: str, value: object, lowerings: Lowerings, monkeypatch: pytest.MonkeyPatch
) -> None:
    InferenceSession().load(program(), weights_registry=weights())
    monkeypatch.setattr(cache_module, name, value)
    InferenceSession().load(program(), weights_registry=weights())
    assert lowerings.count == 2


def test_the_code_is_in_the_key() -> None:
    """A line changed in a checkout makes another key, though no version has changed."""
    for name in ("dtype.py", "graph/ops/arithmetic.py", "lower/emit.py"):
        assert f"{Path(name)} " in machine._code()
    assert len(machine.processor()) > 3


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "foreign", "other model", "no model"])
def test_a_bad_entry_is_ignored_and_written_anew(
    damage: str, lowerings: Lowerings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    InferenceSession().load(program(), weights_registry=weights())
    (path,) = entries(folder)
    whole, store = path.read_bytes(), Store(str(folder))
    if damage == "flipped":
        path.write_bytes(whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:])
    elif damage == "cut":
        path.write_bytes(whole[:-1])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "foreign":
        path.write_bytes(b"\x80\x04\x95" + whole)
    elif damage == "other model":  # sound as an entry, and of another graph
        InferenceSession().load(program("other"), weights_registry=weights())
        (other,) = [p for p in entries(folder) if p != path]
        store.put(path.stem, {}, [store.get(other.stem) or b""])
        other.unlink()
        lowerings.count = 1
    else:  # sound as an entry, of this graph, and its model is none
        body = store.get(path.stem) or b""
        assert b"MatMul" in body
        store.put(path.stem, {}, [body.replace(b"MatMul", b"NoSuch")])
    model = InferenceSession().load(program(), weights_registry=weights())
    assert lowerings.count == 2
    np.testing.assert_allclose(result(model), expected(weights()), rtol=1e-4)
    InferenceSession().load(program(), weights_registry=weights())
    assert lowerings.count == 2, "the entry was not written anew"


@pytest.mark.parametrize("switch", ["argument", "environment", "size", "folder"])
def test_without_the_cache_all_goes_on(
    switch: str, lowerings: Lowerings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if switch == "environment":
        monkeypatch.setenv("MAXG_CACHE", "off")
    elif switch == "size":
        monkeypatch.setenv("MAXG_CACHE_SIZE", "much")
    elif switch == "folder":
        folder.write_text("a file where the folder should be")
    for _ in range(2):
        model = InferenceSession(cache=switch != "argument").load(program(), weights_registry=weights())
        np.testing.assert_allclose(result(model), expected(weights()), rtol=1e-4)
    assert lowerings.count == 2
    assert not folder.is_dir() or entries(folder) == []


def test_large_weights_in_memory_are_not_hashed(
    lowerings: Lowerings, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cache_module, "HASHED_BYTES", 9599)  # the two weights have 9,600
    InferenceSession().load(program(), weights_registry=weights())
    assert not folder.exists()
    path = tmp_path / "program.maxg"
    maxgraph.save(program(), path, weights=weights())
    InferenceSession().load(path)  # a file has digests
    assert len(entries(folder)) == 1


def test_an_op_of_somebody_elses_is_not_kept(
    lowerings: Lowerings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its code may change, and no version and no file of ours with it."""
    monkeypatch.setattr(lookup("maxg", "permute", 1), "__module__", "somebody.elses")
    for _ in range(2):
        model = InferenceSession().load(program(), weights_registry=weights())
    np.testing.assert_allclose(result(model), expected(weights()), rtol=1e-4)
    assert lowerings.count == 2
    assert not folder.exists()


def test_initial_values_of_buffers_are_no_part_of_the_key(lowerings: Lowerings) -> None:
    def counting(start: float) -> Graph:
        with Graph("counting") as graph:
            steps = ops.buffer_create(BufferType(DType.float32, [400], CPU), np.full(400, start), name="steps")
            steps[...] = steps[...] + 1
            graph.output(steps[...])
        return graph

    for start in (1.0, 5.0):
        model = InferenceSession().load(counting(start))
        assert model.execute(state=model.new_state())[0].to_numpy()[0] == start + 1
    assert lowerings.count == 1


def test_an_error_shows_the_line_of_the_program_at_hand(lowerings: Lowerings, tmp_path: Path) -> None:
    """Equal programs in two folders do not share an entry: its lines would be the other one's."""
    text = (
        "from maxgraph.dtype import DType\n"
        "from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType\n"
        "types = [BufferType(DType.float32, [4], DeviceRef.CPU()), TensorType(DType.int64, [], DeviceRef.CPU())]\n"
        "with Graph('g', input_types=types) as graph:\n"
        "    graph.inputs[0].buffer[graph.inputs[1].tensor] = graph.inputs[0].buffer[0]\n"
        "    graph.output()\n"
    )
    for name in ("a", "b", "a"):
        script = tmp_path / name / "build.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(text)
        made: dict[str, Graph] = {}
        exec(compile(text, str(script), "exec"), made)
        model = InferenceSession().load(made["graph"])
        with pytest.raises(maxgraph.errors.ExecutionError) as caught:
            model.execute(np.zeros(4, np.float32), 9)
        assert caught.value.where is not None
        assert caught.value.where.file == str(script)
    assert lowerings.count == 2


def test_a_hit_in_a_new_process_imports_no_onnx(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "program.maxg"
    maxgraph.save(program(), path, weights=weights())
    script = (
        "import sys\nfrom maxgraph.engine import InferenceSession\nimport numpy as np\n"
        f"model = InferenceSession().load({str(path)!r})\n"
        "total = np.ones((2, 30), np.float32)\n"
        "model.execute(total, np.linspace(-1, 1, 80, dtype=np.float32).reshape(2, 40))\n"
        "print(float(total.sum()), 'onnx' in sys.modules)\n"
    )
    answers = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert [imported for _, imported in answers] == ["True", "False"]
    assert answers[0][0] == answers[1][0]


def test_where_the_store_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MAXG_CACHE")
    monkeypatch.delenv("MAXG_CACHE_DIR", raising=False)
    monkeypatch.setenv("MAXG_CACHE_SIZE", "2K")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert default_folder() == str(tmp_path / "maxgraph")
    store = open_store()
    assert store is not None
    assert store.limit == 2048
    assert os.path.isabs(store.folder)


def test_threads_that_load_at_once(folder: Path) -> None:
    """Whoever finds what, all get the right model; and none finds half an entry."""
    wrong: list[object] = []

    def load(number: int) -> None:
        given = weights(number % 3)
        for _ in range(4):
            found = result(InferenceSession().load(program(), weights_registry=given))
            if not np.allclose(found, expected(given), rtol=1e-4, atol=1e-5):
                wrong.append(number)

    threads = [threading.Thread(target=load, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(entries(folder)) == 3
    assert len(list(folder.iterdir())) == 3
