"""Dims are integer polynomials in a normal form: what they compute, and when they are equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxgraph.errors import MaxGraphError
from maxgraph.graph import AlgebraicDim, Dim, Shape, StaticDim, SymbolicDim

SYMBOLS = ("n", "m", "k")
# Deterministic: the same expressions on every run.
PROPERTY = settings(derandomize=True, database=None, max_examples=300, deadline=None)
SIZES = st.fixed_dictionaries({name: st.integers(0, 50) for name in SYMBOLS})

# An expression is a number, a symbol, or (operator, left, right).
Expression = int | str | tuple[str, "Expression", "Expression"]
LEAVES = st.one_of(st.integers(-6, 6), st.sampled_from(SYMBOLS))


def _larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    divisors = st.one_of(st.integers(1, 6), st.integers(-6, -1), st.sampled_from(SYMBOLS))
    return st.one_of(st.tuples(st.sampled_from("+-*"), inner, inner), st.tuples(st.just("//"), inner, divisors))


EXPRESSIONS = st.recursive(LEAVES, _larger, max_leaves=8)


def as_dim(expression: Expression) -> Dim:
    if not isinstance(expression, tuple):
        return Dim(expression)
    operator, left, right = expression
    a, b = as_dim(left), as_dim(right)
    return a + b if operator == "+" else a - b if operator == "-" else a * b if operator == "*" else a // b


def as_int(expression: Expression, sizes: dict[str, int]) -> int:
    if not isinstance(expression, tuple):
        return sizes[expression] if isinstance(expression, str) else expression
    operator, left, right = expression
    a, b = as_int(left, sizes), as_int(right, sizes)
    return a + b if operator == "+" else a - b if operator == "-" else a * b if operator == "*" else a // b


@PROPERTY
@given(EXPRESSIONS, SIZES)
def test_a_dim_has_the_size_of_its_expression(expression: Expression, sizes: dict[str, int]) -> None:
    try:
        expected = as_int(expression, sizes)
    except ZeroDivisionError:
        return  # a division by a symbol that is zero has no value
    assert as_dim(expression).evaluate(sizes) == expected
    assert as_dim(expression).substitute(sizes).evaluate({}) == expected


@PROPERTY
@given(EXPRESSIONS, EXPRESSIONS, EXPRESSIONS)
def test_the_laws_of_arithmetic_give_equal_dims(a: Expression, b: Expression, c: Expression) -> None:
    x, y, z = as_dim(a), as_dim(b), as_dim(c)
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x - y == -(y - x)
    assert x - x == 0
    assert hash(x * (y + z)) == hash(x * y + x * z)


@PROPERTY
@given(EXPRESSIONS, st.integers(1, 9), st.integers(1, 9))
def test_division_by_numbers_is_resolved(a: Expression, d: int, e: int) -> None:
    x = as_dim(a)
    assert (x * d) // d == x
    assert (x * d + (d - 1)) // d == x
    assert (x * d * e) // d == x * e
    assert (x + d) // d == x // d + 1


@PROPERTY
@given(EXPRESSIONS, EXPRESSIONS, SIZES)
def test_equal_dims_have_equal_sizes(a: Expression, b: Expression, sizes: dict[str, int]) -> None:
    if as_dim(a) == as_dim(b):
        try:
            assert as_int(a, sizes) == as_int(b, sizes)
        except ZeroDivisionError:
            return  # one of them has no value here


@pytest.mark.parametrize(
    ("value", "kind", "text", "form"),
    [
        (3, StaticDim, "3", "Dim(3)"),
        (np.int64(3), StaticDim, "3", "Dim(3)"),
        ("n", SymbolicDim, "n", "Dim('n')"),
        (Dim("n") * 2 - 1, AlgebraicDim, "2*n - 1", "2*Dim('n') - 1"),
        (Dim("n") - Dim("n") + 4, StaticDim, "4", "Dim(4)"),
        (Dim("n") // 1, SymbolicDim, "n", "Dim('n')"),
    ],
)
def test_a_dim_is_of_the_simplest_kind(value: object, kind: type[Dim], text: str, form: str) -> None:
    dim = Dim(value)  # type: ignore[arg-type]  # the parameters are of several types
    assert type(dim) is kind
    assert str(dim) == text
    assert repr(dim) == form


def test_a_dim_equals_what_it_is_made_of() -> None:
    assert Dim(3) == 3
    assert Dim("n") == "n"
    assert hash(Dim(3)) == hash(3)
    assert hash(Dim("n")) == hash("n")
    assert Dim("n") != Dim("m")
    assert Dim("n") != 1.5
    assert Dim("n") != "not a name"
    assert {Dim("n"): 1}[Dim("n") + 0] == 1


def test_reflected_operators() -> None:
    n = Dim("n")
    assert 2 + n == n + 2
    assert 2 * n == n * 2
    assert (5 - n).evaluate({"n": 3}) == 2
    assert (7 // n).evaluate({"n": 2}) == 3


@pytest.mark.parametrize("value", [1.5, None, True, b"n", [1]])
def test_other_things_are_no_dims(value: object) -> None:
    with pytest.raises(TypeError) as caught:
        Dim(value)  # type: ignore[arg-type]  # that is what is tested
    assert isinstance(caught.value, MaxGraphError)
    assert caught.value.code == "MG023"


@pytest.mark.parametrize("name", ["", "2n", "a b", "n-1", "ñ"])
def test_a_symbol_is_an_identifier(name: str) -> None:
    with pytest.raises(ValueError, match="MG023"):
        Dim(name)


def test_a_symbolic_size_is_no_int() -> None:
    with pytest.raises(TypeError, match="only known when the graph runs"):
        int(Dim("n"))
    with pytest.raises(ZeroDivisionError):
        Dim("n") // 0


def test_a_shape_is_a_list_of_dims() -> None:
    shape = Shape([2, "n", Dim("n") * 3])
    assert str(shape) == "[Dim(2), Dim('n'), 3*Dim('n')]"
    assert shape.text == "[2, n, 3*n]"
    assert shape.num_elements == Dim("n") * Dim("n") * 6
    assert shape.static_dims == [2]
    assert shape.parameters == [Dim("n")]
    assert shape[1:] == ["n", Dim("n") * 3]
    assert isinstance(shape[1:], Shape)
    assert not Shape.is_static(shape)
    assert shape.evaluate({"n": 4}) == (2, 4, 12)
    assert Shape().num_elements == 1
