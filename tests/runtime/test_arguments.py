"""What arguments may be, and that a bad one is refused with its name before anything changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from maxgraph.driver import Buffer
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, Model
from maxgraph.errors import ExecutionError, InputError, InputTypeError, MaxGraphError
from tests.runtime.graphs import I64, buffer, counter, graph_of, store, tensor


@pytest.fixture(scope="module", params=["onnxruntime", "reference"])
def model(request: pytest.FixtureRequest) -> Model:
    return InferenceSession().load(store(), reference=request.param == "reference")


def cache() -> Any:
    return np.arange(32, dtype=np.float32).reshape(8, 4)


ROW = np.ones(4, np.float32)


def test_every_kind_of_array_is_taken(model: Model) -> None:
    for row in (ROW, Buffer.from_numpy(ROW.copy()), ROW[::-1], np.ones(8, np.float32)[::2], ROW.astype(">f4")):
        for at in (2, np.array(2), np.int32(2), np.int64(2), True + 1, Buffer.scalar(2, I64), -6):
            memory = cache()
            old, new = model.execute(row, at, memory)
            assert old.to_numpy().tolist() == [8, 9, 10, 11]
            assert new.to_numpy().tolist() == [1, 1, 1, 1]
            assert memory[2].tolist() == [1, 1, 1, 1]


def test_a_driver_buffer_changes_the_array_under_it(model: Model) -> None:
    memory = cache()
    model.execute(ROW, 0, Buffer.from_numpy(memory))
    assert memory[0].tolist() == [1, 1, 1, 1]


def test_a_part_of_a_buffer_is_changed_where_it_lies(model: Model) -> None:
    large = np.zeros((10, 4), np.float32)
    model.execute(ROW, 0, Buffer.from_numpy(large)[2:10, :])
    assert large[:, 0].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]


def test_a_memory_map_is_changed(model: Model, tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "cache.bin", np.float32, "w+", shape=(8, 4))
    for step in range(3):
        model.execute(ROW, step, mapped)
    assert np.asarray(mapped)[:, 0].tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


class Foreign:
    """Another library's tensor."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_dlpack_tensors_are_taken_without_a_copy(model: Model) -> None:
    memory = cache()
    for _ in range(2):
        model.execute(Foreign(ROW.copy()), Foreign(np.array(1)), Foreign(memory))
    assert memory[1].tolist() == [1, 1, 1, 1]


def frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array


def test_a_read_only_tensor_is_taken(model: Model) -> None:
    assert model.execute(frozen(ROW.copy()), 0, cache())[1].to_numpy()[0] == 1


BAD: list[tuple[str, tuple[Any, Any, Any], type[MaxGraphError], str, str]] = [
    ("dtype", (np.ones(4), 0, None), InputError, "MG032", "input `row` has dtype float64, but float32 is wanted"),
    ("index dtype", (ROW, np.array(0, np.int32), None), InputError, "MG032", "input `at` has dtype int32"),
    ("buffer dtype", (ROW, 0, np.zeros((8, 4))), InputError, "MG032", "input `cache` has dtype float64"),
    ("rank", (ROW[None], 0, None), InputError, "MG031", "input `row` has rank 2, but [4] is wanted"),
    ("size", (ROW[:3], 0, None), InputError, "MG031", "axis 0 of input `row` is 3, but 4 is wanted"),
    ("rank 0", (ROW, np.array([0]), None), InputError, "MG031", "input `at` has rank 1"),
    ("buffer size", (ROW, 0, np.zeros((8, 3), np.float32)), InputError, "MG031", "axis 1 of input `cache` is 3"),
    ("a list", ([1, 1, 1, 1], 0, None), InputTypeError, "MG032", "input `row` cannot be a list"),
    ("None", (None, 0, None), InputTypeError, "MG032", "input `row` cannot be a NoneType"),
    ("a float index", (ROW, 1.0, None), InputTypeError, "MG032", "input `at`: a int64 is wanted, not float 1.0"),
    ("a large int", (ROW, 2**70, None), InputError, "MG032", "does not fit into int64"),
    ("a scalar for a row", (1.0, 0, None), InputTypeError, "MG032", "input `row` cannot be a float"),
    ("a scalar buffer", (ROW, 0, 1.0), InputTypeError, "MG032", "buffer `cache` cannot be a float"),
    ("text", (np.array(list("abcd")), 0, None), InputError, "MG032", "input `row` has dtype <U1"),
    ("bfloat16", (ROW.astype(ml_dtypes.bfloat16), 0, None), InputError, "MG032", "bfloat16"),
    ("read-only", (ROW, 0, frozen(np.zeros((8, 4), np.float32))), InputError, "MG033", "it is read-only"),
    ("strided", (ROW, 0, np.zeros((8, 8), np.float32)[:, ::2]), InputError, "MG033", "not C-contiguous"),
    ("fortran", (ROW, 0, np.zeros((8, 4), np.float32, "F")), InputError, "MG033", "not C-contiguous"),
    ("big-endian", (ROW, 0, np.zeros((8, 4), ">f4")), InputError, "MG033", "another byte order"),
    ("unaligned", (ROW, 0, np.zeros(129, np.uint8)[1:].view(np.float32).reshape(8, 4)), InputError, "MG033", "aligned"),
]


@pytest.mark.parametrize(("arguments", "error", "code", "text"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_a_bad_argument_is_named(model: Model, arguments: Any, error: Any, code: str, text: str) -> None:
    memory = cache()
    row, at, given = arguments
    with pytest.raises(error) as raised:
        model.execute(row, at, memory if given is None else given)
    assert raised.value.code == code
    assert text in str(raised.value)
    np.testing.assert_array_equal(memory, cache())


@pytest.mark.parametrize("at", [8, -9, 2**40])
def test_an_index_out_of_range_changes_nothing(model: Model, at: int) -> None:
    memory = cache()
    with pytest.raises(ExecutionError, match=r"index -?\d+ is out of range for axis 0 of size 8") as raised:
        model.execute(ROW, at, memory)
    assert raised.value.code == "MG035"
    assert raised.value.where is not None
    np.testing.assert_array_equal(memory, cache())


# How many, and by which name ----------------------------------------------------------------------------------------


def test_a_wrong_count_lists_the_inputs(model: Model) -> None:
    with pytest.raises(InputError, match="takes 3 arguments, but 1 was given") as raised:
        model.execute(ROW)
    assert "cache  buffer float32[8, 4]" in str(raised.value)
    with pytest.raises(InputError, match="takes 3 arguments, but 4 were given"):
        model(ROW, 0, cache(), 1)


def test_inputs_by_name(model: Model) -> None:
    memory = cache()
    old, _ = model(ROW, cache=memory, at=1)
    assert old.to_numpy()[0] == 4
    for named, text in (
        ({"cache": memory}, "input `at` is missing"),
        ({"cach": memory, "at": 1}, r"no input `cach`[\s\S]*did you mean `cache`"),
        ({"row": ROW, "at": 1, "cache": memory}, "`row` is given by position and by name"),
    ):
        with pytest.raises(InputError, match=text) as raised:
            model(ROW, **named)
        assert raised.value.code == "MG030"


def test_an_input_called_state_is_an_input() -> None:
    graph = graph_of(lambda state: {"y": state[...]}, buffer([2]), names=["state"])
    model = InferenceSession().load(graph)
    assert model(state=np.array([1, 2], np.float32))[0].to_numpy().tolist() == [1, 2]
    assert model(state=model.new_state())[0].to_numpy().tolist() == [0, 0]


def test_what_a_model_tells_of_itself(model: Model) -> None:
    assert [(s.name, s.dtype, s.shape, s.is_buffer) for s in model.input_metadata] == [
        ("row", DType.float32, [4], False),
        ("at", DType.int64, [], False),
        ("cache", DType.float32, [8, 4], True),
    ]
    assert [s.name for s in model.output_metadata] == ["old", "new"]
    assert list(model.signature.parameters) == ["row", "at", "cache"]
    assert model.buffers == ["cache"]
    assert [str(d) for d in model.input_devices + model.output_devices + model.devices] == ["cpu:0"] * 6
    assert "cache: buffer float32[8, 4]" in repr(model)


def test_names_that_are_no_identifiers_have_parameters() -> None:
    graph = graph_of(lambda a, b: {"y": a + b}, tensor([1]), tensor([1]), names=["a.b", "a-b"])
    assert list(InferenceSession().load(graph).signature.parameters) == ["a_b", "a_b_"]


# Overlapping memory -------------------------------------------------------------------------------------------------


def two_buffers() -> Model:
    def body(x: Any, a: Any, b: Any) -> Any:
        a[...] = a[...] + x
        b[...] = b[...] + a[...]
        return {}

    return InferenceSession().load(graph_of(body, tensor([4]), buffer([4]), buffer([4]), names=["x", "a", "b"]))


def test_memory_that_overlaps_is_refused() -> None:
    model = two_buffers()
    whole = np.zeros(12, np.float32)
    model.execute(whole[8:], whole[:4], whole[4:8])
    model.execute(ROW, whole[:4], whole[4:8])
    before = whole.copy()
    for arguments, names in (
        ((ROW, whole[:4], whole[:4]), "`a` and `b`"),
        ((ROW, whole[:4], whole[2:6]), "`a` and `b`"),
        ((ROW, whole[2:6], whole[:4]), "`b` and `a`"),
        ((whole[6:10], whole[:4], whole[4:8]), "`b` and `x`"),
        ((whole[3:-5], whole[:4], whole[4:8]), "`a` and `x`"),
        ((whole[:8:2], whole[:4], whole[4:8]), "`a` and `x`"),
        ((Foreign(whole[:4]), whole[:4], whole[4:8]), "`a` and `x`"),
        ((np.frombuffer(memoryview(whole.data), np.float32)[:4], whole[:4], whole[4:8]), "`a` and `x`"),
        ((Buffer.from_numpy(whole[:4]), Buffer.from_numpy(whole[:4]), whole[4:8]), "`a` and `x`"),
    ):
        with pytest.raises(InputError, match=names) as raised:
            model.execute(*arguments)
        assert raised.value.code == "MG033"
    np.testing.assert_array_equal(whole, before)


def test_an_owner_passed_beside_its_view_is_refused() -> None:
    model = two_buffers()
    owner = np.zeros(4, np.float32)
    with pytest.raises(InputError, match="overlap"):
        model.execute(owner, owner[:], np.zeros(4, np.float32))
    with pytest.raises(InputError, match="overlap"):
        model.execute(owner, owner, np.zeros(4, np.float32))


def test_two_tensors_may_be_the_same_memory() -> None:
    model = InferenceSession().load(graph_of(lambda a, b: {"y": a + b}, tensor([4]), tensor([4])))
    assert model.execute(ROW, ROW)[0].to_numpy().tolist() == [2, 2, 2, 2]


# The same buffers again, other ones, and ones that are gone ---------------------------------------------------------


def test_bindings_follow_the_memory() -> None:
    model = InferenceSession().load(counter())
    kept = [np.full(4, i, np.float32) for i in range(12)]  # more than there are bindings kept
    for _ in range(2):
        for array in kept:
            model.execute(array)
    assert [array[0] for array in kept] == [i + 2 for i in range(12)]
    for step in range(200):  # memory comes back at the same addresses
        array = np.full(4, step, np.float32)
        assert model.execute(array)[0].to_numpy()[0] == step
        assert array[0] == step + 1
        del array


def test_a_fresh_buffer_object_over_the_same_array_each_time() -> None:
    model = InferenceSession().load(counter())
    array = np.zeros(4, np.float32)
    for _ in range(5):
        model.execute(Buffer.from_numpy(array))
        model.execute(array)
    assert array.tolist() == [10, 10, 10, 10]


def test_an_array_that_was_made_read_only_is_refused_later() -> None:
    model = InferenceSession().load(counter())
    array = np.zeros(4, np.float32)
    model.execute(array)
    array.setflags(write=False)
    with pytest.raises(InputError, match="read-only"):
        model.execute(array)


def test_buffers_of_no_elements() -> None:
    def body(s: Any, x: Any) -> Any:
        s[...] = s[...] + x
        return {"y": s[...]}

    model = InferenceSession().load(graph_of(body, buffer([0, 3]), tensor([0, 3]), names=["s", "x"]))
    assert model.execute(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32))[0].shape == (0, 3)


@pytest.mark.parametrize("kind", ["auto", "copied"])
def test_memory_that_is_gone_is_never_used_again(kind: str) -> None:
    """Neither for other arrays, nor where a state holds the buffers."""
    model = InferenceSession(buffers=kind).load(counter())
    for value in (7, 5):
        model.execute(np.full(4, value, np.float32))  # nobody else holds this array
    assert model.execute(state=model.state)[0].to_numpy().tolist() == [0] * 4
    assert model.state.to_numpy("s").tolist() == [1] * 4
    memory = np.full(4, 3, np.float32)
    assert model.execute(memory)[0].to_numpy().tolist() == [3] * 4
    assert model.execute(state=model.state)[0].to_numpy().tolist() == [1] * 4
    assert memory.tolist() == [4] * 4
