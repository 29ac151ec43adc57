"""How element types combine."""

from __future__ import annotations

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.graph import DeviceRef, Graph, TensorType, ops
from maxgraph.graph.dtype_promotion import promote, weak_fits

# Row and column combine to what the cell says; a dot: they do not. The lower half mirrors it.
MATRIX = """
     bool u8 u16 u32 u64 i8  i16 i32 i64 f16 bf16 f32 f64
bool bool u8 u16 u32 u64 i8  i16 i32 i64 f16 bf16 f32 f64
u8        u8 u16 u32 u64 .   i16 i32 i64 f16 bf16 f32 f64
u16          u16 u32 u64 .   .   i32 i64 .   .    f32 f64
u32              u32 u64 .   .   .   i64 .   .    .   f64
u64                  u64 .   .   .   .   .   .    .   .
i8                       i8  i16 i32 i64 f16 bf16 f32 f64
i16                          i16 i32 i64 .   .    f32 f64
i32                              i32 i64 .   .    .   f64
i64                                  i64 .   .    .   .
f16                                      f16 .    f32 f64
bf16                                         bf16 f32 f64
f32                                               f32 f64
f64                                                   f64
"""
NAMES = {"bool": DType.bool, "bf16": DType.bfloat16}
NAMES |= {f"{kind[0]}{bits}": DType[f"{kind}{bits}"] for kind in ("uint", "int") for bits in (8, 16, 32, 64)}
NAMES |= {f"f{bits}": DType[f"float{bits}"] for bits in (16, 32, 64)}


def _pairs() -> list[tuple[DType, DType, DType | None]]:
    header, *rows = [line.split() for line in MATRIX.strip("\n").splitlines()]
    pairs = []
    for name, *cells in rows:
        for column, cell in zip(header[-len(cells) :], cells, strict=True):
            pairs.append((NAMES[name], NAMES[column], NAMES.get(cell)))
    return pairs


@pytest.mark.parametrize(("a", "b", "result"), _pairs())
def test_two_tensors(a: DType, b: DType, result: DType | None) -> None:
    assert promote(a, b) is result
    assert promote(b, a) is result


def test_the_matrix_is_whole() -> None:
    assert len(_pairs()) == len(NAMES) * (len(NAMES) + 1) // 2


@pytest.mark.parametrize(
    ("value", "dtype", "fits"),
    [
        (1, DType.bool, True),
        (2, DType.bool, False),
        (255, DType.uint8, True),
        (256, DType.uint8, False),
        (-1, DType.uint8, False),
        (-128, DType.int8, True),
        (2**63 - 1, DType.int64, True),
        (2**63, DType.int64, False),
        (2**24, DType.float32, True),
        (2**24 + 1, DType.float32, False),
        (2**11, DType.float16, True),
        (2**11 + 1, DType.float16, False),
        (2**8 + 1, DType.bfloat16, False),
        (True, DType.float32, True),
        (0.1, DType.float16, True),
        (1e300, DType.float32, True),
        (float("nan"), DType.float32, True),
        (1.0, DType.int32, False),
        (0.5, DType.bool, False),
        (np.array([1, 300]), DType.uint8, False),
        (np.array([], np.int64), DType.uint8, True),
        (np.array([0.5]), DType.int32, False),
        (np.array([True]), DType.int32, True),
        (np.float64(0.1), DType.float32, True),
        (np.int64(3), DType.float32, True),
    ],
)
def test_a_number_takes_the_tensors_dtype(value: float, dtype: DType, fits: bool) -> None:
    assert (weak_fits(value, dtype) is None) is fits


def _add(dtype: DType, value: object) -> str:
    with Graph("g", input_types=[TensorType(dtype, [2], DeviceRef.CPU())]) as graph:
        result = graph.inputs[0].tensor + value  # type: ignore[operator]  # that is what is tested
        graph.output(result)
    return str(result.type)


def test_weak_operands_do_not_widen() -> None:
    assert _add(DType.float16, 1) == "float16[2]"
    assert _add(DType.float16, 0.5) == "float16[2]"
    assert _add(DType.uint8, np.array([1, 2])) == "uint8[2]"
    assert _add(DType.float32, np.float64(0.1)) == "float32[2]"
    assert _add(DType.float32, np.ones((3, 1))) == "float32[3, 2]"


@pytest.mark.parametrize(
    ("dtype", "value", "code"),
    [
        (DType.int32, 0.5, "MG010"),
        (DType.uint8, 256, "MG010"),
        (DType.float16, 4097, "MG010"),
        (DType.uint8, np.array([300]), "MG010"),
        (DType.float32, np.array(["a"]), "MG016"),
        (DType.float32, "a", "MG003"),
        (DType.float32, None, "MG003"),
        (DType.float32, [1.0], "MG003"),
    ],
)
def test_what_does_not_fit_is_refused(dtype: DType, value: object, code: str) -> None:
    with pytest.raises((TypeError, ValueError), match=code):
        _add(dtype, value)


def test_dims_are_strong_int64() -> None:
    with Graph("g", input_types=[TensorType(DType.int32, ["n"], DeviceRef.CPU())]) as graph:
        x = graph.inputs[0].tensor
        n = x.shape[0]
        assert str((x + n).type) == "int64[n]"
        with pytest.raises(ValueError, match="MG010"):
            x.cast(DType.float32) + n
        graph.output(x)


def test_division_of_ints_is_double() -> None:
    types = [TensorType(dtype, [2], DeviceRef.CPU()) for dtype in (DType.uint8, DType.int8, DType.uint64)]
    with Graph("g", input_types=types) as graph:
        u8, i8, u64 = (value.tensor for value in graph.inputs)
        assert str(ops.div(u8, u8).type) == "float64[2]"
        assert str(ops.div(u8, i8).type) == "float64[2]"
        assert str(ops.div(i8, u64).type) == "float64[2]"
        assert str((u8 / 2).type) == "float64[2]"
        assert str((1 / u8).type) == "float64[2]"
        with pytest.raises(ValueError, match="MG010"):
            u8 / 2.5
        graph.output(u8)
