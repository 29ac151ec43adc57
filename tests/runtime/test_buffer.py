"""`driver.Buffer`: whose memory it is, and what it refuses."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from maxgraph.driver import CPU, Accelerator, Buffer, accelerator_count
from maxgraph.dtype import DType
from maxgraph.errors import DeviceError, GraphIndexError, InputError, InputTypeError


def test_a_buffer_shares_the_memory_of_a_plain_array() -> None:
    array = np.arange(4.0)
    made = Buffer.from_numpy(array)
    array[0] = 9
    made.to_numpy()[1] = 8
    assert made[0].item() == 9
    assert array[1] == 8


@pytest.mark.parametrize("name", ["strided", "fortran", "reversed", "read-only", "big-endian"])
def test_other_arrays_are_copied(name: str) -> None:
    array = np.arange(6.0).reshape(2, 3)
    frozen = array.copy()
    frozen.setflags(write=False)
    given = {
        "strided": array[:, ::2],
        "fortran": np.asfortranarray(array),
        "reversed": array[::-1],
        "read-only": frozen,
        "big-endian": array.astype(">f8"),
    }[name]
    made = Buffer.from_numpy(given)
    np.testing.assert_array_equal(made.to_numpy(), given)
    assert made.is_contiguous
    assert not np.shares_memory(made.to_numpy(), given)
    assert made.dtype is DType.float64


@pytest.mark.parametrize("value", [np.array(3.5), np.array(True), np.array(7, np.int8), np.zeros((0, 3))])
def test_rank_0_bool_and_no_elements(value: np.ndarray) -> None:
    made = Buffer.from_numpy(value)
    assert made.shape == value.shape
    assert made.dtype is DType.from_numpy(value.dtype)
    np.testing.assert_array_equal(np.from_dlpack(made), value)


@pytest.mark.parametrize("dtype", [DType.bfloat16, DType.float8_e4m3fn, DType.float8_e5m2, DType.float16])
def test_small_floats(dtype: DType) -> None:
    made = Buffer.zeros([2, 3], dtype)
    made[1, 2] = 1.5
    assert made[1, 2].item() == 1.5
    assert made.to_numpy().dtype == dtype.to_numpy()
    assert (made.element_size, made.num_elements, made.rank) == (dtype.size_in_bytes, 6, 2)
    assert repr(made) == f"Buffer({dtype.name}[2, 3], cpu:0)"


def test_what_has_no_element_type_is_refused() -> None:
    with pytest.raises(InputError, match="<U1"):
        Buffer.from_numpy(np.array(["a"]))
    with pytest.raises(InputTypeError, match="not list"):
        Buffer.from_numpy([1])  # type: ignore[arg-type]  # the mistake that is tested
    with pytest.raises(InputTypeError, match="not str"):
        Buffer("float32", [1])  # type: ignore[arg-type]  # the mistake that is tested


def test_a_part_is_the_same_memory() -> None:
    made = Buffer.from_numpy(np.arange(12).reshape(3, 4))
    part = made[1, 1:3]
    part.inplace_copy_from(Buffer.from_numpy(np.array([50, 60])))
    part[0] = 40
    assert made.to_numpy().tolist() == [[0, 1, 2, 3], [4, 40, 60, 7], [8, 9, 10, 11]]
    assert made[-1, 3].shape == ()
    assert not made[:, 1].is_contiguous
    assert made[:, 1].contiguous().is_contiguous
    assert made.contiguous() is made
    assert made[:, 1].strides == (4,)


@pytest.mark.parametrize("index", [0, (0, 0, 0), ..., (0, None), (0, True)])
def test_an_index_that_is_not_one_for_each_axis_is_refused(index: object) -> None:
    with pytest.raises(InputError, match=r"\[MG019\]"):
        Buffer.zeros([2, 2], DType.int64)[index]  # type: ignore[index]  # the mistake that is tested


def test_an_index_out_of_range_is_refused() -> None:
    with pytest.raises(GraphIndexError, match="index 2 is out of range for axis 1 of size 2"):
        Buffer.zeros([2, 2], DType.int64)[0, 2]


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (1.5, DType.int64, InputTypeError),
        (300, DType.uint8, InputError),
        (-1, DType.uint8, InputError),
        (1, DType.bool, InputTypeError),
        ("1", DType.float32, InputTypeError),
        (None, DType.float32, InputTypeError),
    ],
)
def test_a_scalar_is_never_changed(value: object, dtype: DType, error: type[Exception]) -> None:
    with pytest.raises(error):
        Buffer.scalar(value, dtype)
    with pytest.raises(error):
        Buffer.zeros([], dtype)[()] = value


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(3, DType.float32), (True, DType.int8), (np.int32(3), DType.int64), (np.float64(0.5), DType.float32)],
)
def test_a_scalar_that_fits(value: float, dtype: DType) -> None:
    assert Buffer.scalar(value, dtype).item() == value


def test_item_wants_one_element() -> None:
    with pytest.raises(InputError, match="there are 2"):
        Buffer.zeros([2], DType.int64).item()


def test_a_view_has_as_many_bytes() -> None:
    made = Buffer.from_numpy(np.arange(4, dtype=np.int32))
    assert made.view(DType.int64).shape == (2,)
    assert made.view(DType.int8, [2, 8]).shape == (2, 8)
    with pytest.raises(InputError, match=r"int32\[4\] cannot be seen as int64\[3\]"):
        made.view(DType.int64, [3])
    with pytest.raises(InputError, match="contiguous"):
        made[::2].view(DType.int8)


def test_inplace_copy_wants_the_same_type() -> None:
    with pytest.raises(InputError, match=r"into\s+int64\[2\]"):
        Buffer.zeros([2], DType.int64).inplace_copy_from(Buffer.zeros([3], DType.int64))
    with pytest.raises(InputError, match=r"from\s+float64\[2\]"):
        Buffer.zeros([2], DType.int64).inplace_copy_from(Buffer.zeros([2], DType.float64))


def test_a_copy_is_apart() -> None:
    made = Buffer.from_numpy(np.arange(3))
    other = made.copy()
    other[0] = 5
    assert made[0].item() == 0


# DLPack -----------------------------------------------------------------------------------------------------------


def test_dlpack_shares_memory_both_ways() -> None:
    array = np.arange(3, dtype=np.float32)

    class Foreign:
        def __dlpack__(self, **kwargs: object) -> object:
            return array.__dlpack__(**kwargs)  # type: ignore[arg-type]  # the protocol's

        def __dlpack_device__(self) -> object:
            return array.__dlpack_device__()

    made = Buffer.from_dlpack(Foreign())
    made[0] = 7
    assert array[0] == 7
    np.from_dlpack(made)[1] = 8
    assert array[1] == 8
    assert not np.shares_memory(Buffer.from_dlpack(Foreign(), copy=True).to_numpy(), array)
    assert np.shares_memory(Buffer.from_dlpack(made).to_numpy(), array)


def test_dlpack_copies_only_where_it_may() -> None:
    frozen = np.arange(3)
    frozen.setflags(write=False)
    assert Buffer.from_dlpack(frozen)[1].item() == 1
    with pytest.raises(InputError, match=r"\[MG033\]"):
        Buffer.from_dlpack(frozen, copy=False)
    with pytest.raises(InputTypeError, match="list is no array"):
        Buffer.from_dlpack([1])


def test_what_dlpack_cannot_carry_says_so() -> None:
    with pytest.raises(InputError, match="export view"):
        np.from_dlpack(Buffer.zeros([2], DType.bfloat16))
    assert np.asarray(Buffer.zeros([2], DType.bfloat16)).dtype == ml_dtypes.bfloat16


# Devices ----------------------------------------------------------------------------------------------------------


def test_devices_compare_by_kind_and_number() -> None:
    assert CPU() == CPU(0) != CPU(1)
    assert CPU() != Accelerator()
    assert Accelerator(-1) == Accelerator(0)
    assert len({CPU(), CPU(), Accelerator()}) == 2
    assert (str(Accelerator(1)), Accelerator().is_host, CPU().label) == ("gpu:1", False, "cpu")
    assert Buffer.zeros([1], DType.int8).device == CPU()
    assert Buffer.zeros([1], DType.int8).is_host


@pytest.mark.skipif(accelerator_count() > 0, reason="onnxruntime has CUDA here")
def test_an_accelerator_can_be_named_but_not_used() -> None:
    with pytest.raises(DeviceError, match="onnxruntime-gpu"):
        Buffer.zeros([1], DType.int8).to(Accelerator())
    with pytest.raises(DeviceError, match=r"\[MG040\]"):
        Buffer(DType.int8, [1], Accelerator())


def test_to_the_same_device_is_the_same_buffer() -> None:
    made = Buffer.zeros([1], DType.int8)
    assert made.to(CPU()) is made
    assert made.to([CPU(), CPU()]) == [made, made]
