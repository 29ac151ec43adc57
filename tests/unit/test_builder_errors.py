"""What the builder refuses: each error names the op, the operands with their types, the axis, and the user's line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from maxgraph.dtype import DType
from maxgraph.errors import (
    GraphIndexError,
    GraphTypeError,
    MaxGraphError,
    NoGraphError,
    TypeRuleError,
    UnsupportedError,
    render,
)
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, TensorValue, Weight, ops

CPU = DeviceRef.CPU()
F32, I32, I64 = DType.float32, DType.int32, DType.int64


def tensors(*types: tuple[DType, list[Any]]) -> Graph:
    return Graph("g", input_types=[TensorType(dtype, shape, CPU) for dtype, shape in types])


def refused(call: Callable[[], object]) -> MaxGraphError:
    """The error of a call that is refused; its place must be the line of the call."""
    with pytest.raises(MaxGraphError) as caught:
        call()
    error = caught.value
    assert error.where is not None
    assert error.where.file == __file__
    assert error.where.line == call.__code__.co_firstlineno  # type: ignore[attr-defined]  # a lambda
    return error


def test_an_error_in_full() -> None:
    with tensors((F32, ["batch", 8]), (F32, [4, 8])) as graph:
        x, w = (v.tensor for v in graph.inputs)
        with pytest.raises(TypeRuleError) as caught:
            ops.matmul(x, w)
        graph.output(x)
    error = caught.value
    assert error.code == "MG012"
    assert error.summary == "matmul: axis -1 of `lhs` is 8 but axis -2 of `rhs` is 4"
    assert error.details == (("lhs", "float32[batch, 8] `x`"), ("rhs", "float32[4, 8] `w`"))
    assert error.help == "transpose the right operand: ops.transpose(rhs, -1, -2)"
    shown = render(error).splitlines()
    assert shown[0] == "error[MG012]: matmul: axis -1 of `lhs` is 8 but axis -2 of `rhs` is 4"
    assert shown[1].startswith(f"  --> {__file__}:")
    assert shown[3].endswith("ops.matmul(x, w)")
    assert shown[4].strip() == "| " + " " * 12 + "^" * len("ops.matmul(x, w)")


# The call, the class, the code, and parts of the summary.
REFUSALS: list[tuple[str, Callable[[TensorValue, TensorValue, TensorValue], object], type[Exception], str, str]] = [
    ("broadcast", lambda x, y, i: x + y, ValueError, "MG011", "axis -1 of `lhs` is 3 but axis -1 of `rhs` is 4"),
    ("reflected", lambda x, y, i: np.ones((2, 2)) - x, ValueError, "MG011", "sub: axis -1 of `lhs` is 2"),
    ("dtypes", lambda x, y, i: x * i, ValueError, "MG010", "float32 and int32 do not combine"),
    ("bool", lambda x, y, i: (x > 0) + (x > 0), ValueError, "MG016", "bool has no arithmetic"),
    ("rank 0", lambda x, y, i: x @ x[0, 0], ValueError, "MG014", "`rhs` has rank 0"),
    ("inner", lambda x, y, i: x @ x, ValueError, "MG012", "axis -1 of `lhs` is 3 but axis -2 of `rhs` is 2"),
    ("axis", lambda x, y, i: ops.softmax(x, 5), IndexError, "MG013", "`axis` is 5, but a tensor of rank 2 has axes -2"),
    ("axis kind", lambda x, y, i: ops.sum(x, "a"), TypeError, "MG017", "`axis` must be an int"),
    ("axis bool", lambda x, y, i: ops.sum(x, True), TypeError, "MG017", "`axis` must be an int"),
    ("float", lambda x, y, i: ops.exp(i), ValueError, "MG016", "`x` must be floating-point, not int32"),
    ("logic", lambda x, y, i: i & i, ValueError, "MG016", "`lhs` must be bool, not int32"),
    ("logic mixed", lambda x, y, i: (x > 0) & x, ValueError, "MG010", "logical_and: operands have different dtypes"),
    ("where", lambda x, y, i: ops.where(x, x, x), ValueError, "MG016", "`condition` must be bool"),
    ("max axis", lambda x, y, i: ops.max(x, x, axis=1), ValueError, "MG017", "max of two tensors takes no axis"),
    ("reshape", lambda x, y, i: x.reshape([4]), ValueError, "MG015", "[2, 3] has 6 elements, which [4] does not hold"),
    ("reshape -1", lambda x, y, i: x.reshape([-1, -1]), ValueError, "MG017", "more than one -1"),
    ("reshape left", lambda x, y, i: x.reshape([4, -1]), ValueError, "MG015", "which [4, -1] does not hold"),
    ("reshape 0", lambda x, y, i: x.reshape([0, -1]), ValueError, "MG015", "ambiguous"),
    ("squeeze", lambda x, y, i: ops.squeeze(x, 0), ValueError, "MG015", "axis 0 of `x` is 2, not 1"),
    ("permute", lambda x, y, i: x.permute([0, 0]), ValueError, "MG017", "each axis of `x` once"),
    ("transpose", lambda x, y, i: x.transpose(0, 2), IndexError, "MG013", "`axis_2` is 2"),
    ("flatten", lambda x, y, i: x.flatten(1, 0), ValueError, "MG017", "comes after"),
    ("broadcast_to", lambda x, y, i: x.broadcast_to([2, 4]), ValueError, "MG011", "axis -1 of `x` is 3"),
    ("fewer axes", lambda x, y, i: x.broadcast_to([3]), ValueError, "MG014", "more axes"),
    ("concat dims", lambda x, y, i: ops.concat([x, y]), ValueError, "MG015", "axis 1 of operand 1 is 4"),
    ("concat dtypes", lambda x, y, i: ops.concat([x, i]), ValueError, "MG010", "operand 1 is int32"),
    ("concat ranks", lambda x, y, i: ops.concat([x, x[0]]), ValueError, "MG014", "operand 1 has rank 1"),
    ("concat nothing", lambda x, y, i: ops.concat([]), ValueError, "MG017", "nothing to join"),
    ("concat number", lambda x, y, i: ops.concat(5), TypeError, "MG017", "must be several tensors, not int"),
    ("stack", lambda x, y, i: ops.stack([x, y]), ValueError, "MG015", "axis 2 of operand 1 is 4"),
    ("gather dtype", lambda x, y, i: ops.gather(x, x, 0), ValueError, "MG016", "`indices` must be int32 or int64"),
    ("gather axis", lambda x, y, i: ops.gather(x, i, 2), IndexError, "MG013", "`axis` is 2"),
    ("outer", lambda x, y, i: ops.outer(x, x), ValueError, "MG014", "outer: `lhs` must have rank 1, not 2"),
    ("gelu", lambda x, y, i: ops.gelu(x, "erf"), ValueError, "MG017", "`approximate` is 'erf'"),
    ("cast", lambda x, y, i: x.cast("float16"), TypeError, "MG017", "`dtype` must be a DType"),
    ("missing", lambda x, y, i: ops.gather(x, i), TypeError, "MG017", "missing a required argument: 'axis'"),
    ("unknown", lambda x, y, i: ops.relu(x, inplace=True), TypeError, "MG017", "unexpected keyword argument"),
    ("no tensor", lambda x, y, i: ops.exp(1.0), TypeError, "MG003", "exp: `x` must be a tensor, not a bare float"),
    ("none", lambda x, y, i: ops.add(1, 2), TypeError, "MG003", "at least one operand must be a tensor"),
    ("index", lambda x, y, i: x[2], IndexError, "MG018", "index 2 is out of range for axis 0 of size 2"),
    ("negative", lambda x, y, i: x[-3], IndexError, "MG018", "index -3 is out of range"),
    ("too many", lambda x, y, i: x[0, 0, 0], IndexError, "MG018", "3 indices for a value of rank 2"),
    ("slice", lambda x, y, i: x[1:9], IndexError, "MG018", "index 9 is out of range for axis 0"),
    ("step", lambda x, y, i: x[::0], ValueError, "MG019", "the step of axis 0 is zero"),
    ("float index", lambda x, y, i: x[0.5], TypeError, "MG019", "an index cannot be float"),
    ("bool index", lambda x, y, i: x[True], TypeError, "MG019", "an index cannot be bool"),
    ("int32 index", lambda x, y, i: x[i[0, 0]], ValueError, "MG019", "must be one int64"),
    ("tensor bound", lambda x, y, i: x[i[0, 0] :], ValueError, "MG019", "a slice of axis 0 with a tensor bound"),
    ("range", lambda x, y, i: ops.range(0, i[0, 0], dtype=I32, device=CPU), TypeError, "MG017", "`out_dim` is needed"),
    ("range step", lambda x, y, i: ops.range(0, 4, 0, dtype=I32, device=CPU), ValueError, "MG017", "the step is zero"),
    ("range way", lambda x, y, i: ops.range(4, 0, dtype=I32, device=CPU), ValueError, "MG017", "no step of 1 leads"),
    ("range dtype", lambda x, y, i: ops.range(0, 0.5, dtype=I32, device=CPU), ValueError, "MG016", "`stop`"),
    ("truth", lambda x, y, i: bool(x), TypeError, "MG024", "no truth value"),
    ("length", lambda x, y, i: len(x), TypeError, "MG024", "no length"),
    ("iteration", lambda x, y, i: list(x), TypeError, "MG024", "no "),
    ("membership", lambda x, y, i: 1 in x, TypeError, "MG024", "no membership test"),
    ("constant", lambda x, y, i: ops.constant(1.0), TypeError, "MG017", "needs a dtype and a device"),
    ("ragged", lambda x, y, i: ops.constant([[1], [1, 2]], I32, CPU), TypeError, "MG017", "not a regular array"),
    ("too large", lambda x, y, i: ops.constant(300, DType.uint8, CPU), ValueError, "MG016", "300"),
    ("text", lambda x, y, i: ops.constant(np.array(["a"])), TypeError, "MG016", "no dtype here"),
]


@pytest.mark.parametrize(("call", "kind", "code", "part"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS])
def test_a_refusal(
    call: Callable[[TensorValue, TensorValue, TensorValue], object], kind: type[Exception], code: str, part: str
) -> None:
    with tensors((F32, [2, 3]), (F32, [2, 4]), (I32, [2, 3])) as graph:
        x, y, i = (value.tensor for value in graph.inputs)
        with pytest.raises(kind) as caught:
            call(x, y, i)
        graph.output(x)
    error = caught.value
    assert isinstance(error, MaxGraphError)
    assert error.code == code
    assert part in error.summary
    assert error.where is not None
    assert (error.where.file, error.where.line) == (__file__, call.__code__.co_firstlineno)


def test_symbolic_dims_must_be_provably_equal() -> None:
    with tensors((F32, ["n"]), (F32, ["m"]), (F32, [3])) as graph:
        x, y, z = (value.tensor for value in graph.inputs)
        error = refused(lambda: x + y)
        assert error.code == "MG011"
        assert error.summary == "add: axis -1 of `lhs` is n but axis -1 of `rhs` is m"
        assert "name both the same" in str(error.help)
        assert refused(lambda: x + z).code == "MG011"
        assert refused(lambda: x.reshape([2, -1])).code == "MG015"
        assert refused(lambda: ops.concat([x, ops.unsqueeze(y, 0)], 0)).code == "MG014"
        graph.output(x)


def test_operands_are_named_after_variables() -> None:
    with tensors((F32, [2]), (F32, [3])) as graph:
        left, right = (value.tensor for value in graph.inputs)
        error = refused(lambda: (left, left + right))
        assert error.details == (("lhs", "float32[2] `left`"), ("rhs", "float32[3] `right`"))
        graph.output(left)


def test_operands_of_a_refused_list_are_numbered() -> None:
    with tensors((F32, [2, 3]), (F32, [2, 4])) as graph:
        x, y = (value.tensor for value in graph.inputs)
        error = refused(lambda: ops.concat([x, y], 0))
        assert [label for label, _ in error.details] == ["original_vals[0]", "original_vals[1]"]
        graph.output(x)


def test_an_op_outside_a_graph() -> None:
    with tensors((F32, [2])) as graph:
        x = graph.inputs[0].tensor
        graph.output(x)
    error = refused(lambda: x + 1)
    assert isinstance(error, NoGraphError)
    assert isinstance(error, LookupError)
    assert error.code == "MG001"


def test_a_value_of_another_graph() -> None:
    with tensors((F32, [2])) as first:
        x = first.inputs[0].tensor
        first.output(x)
    with Graph("other") as second:
        error = refused(lambda: ops.exp(x))
        assert error.code == "MG002"
        assert "belongs to graph `g`, not to `other`" in error.summary
        assert refused(lambda: second.output(x)).code == "MG002"
        second.output()


def test_outputs_are_given_once() -> None:
    with pytest.raises(ValueError, match="MG005"), tensors((F32, [2])):
        pass
    with tensors((F32, [2])) as graph:
        graph.output(graph.inputs[0].tensor)
        assert refused(lambda: graph.output()).code == "MG005"
    with tensors((F32, [2])) as graph:
        assert refused(lambda: graph.output(1.5)).code == "MG003"
        graph.output()


def test_an_exception_inside_a_graph_is_not_hidden() -> None:
    with pytest.raises(KeyError), tensors((F32, [2])):
        raise KeyError("the user's own")
    with pytest.raises(LookupError, match="MG001"):
        _ = Graph.current


def test_devices_do_not_mix() -> None:
    types = [TensorType(F32, [2], CPU), TensorType(F32, [2], DeviceRef.GPU())]
    with Graph("g", input_types=types) as graph:
        x, y = (value.tensor for value in graph.inputs)
        error = refused(lambda: x + y)
        assert error.code == "MG022"
        assert error.help == "bring them together with ops.transfer_to"
        assert error.details[1] == ("rhs", "float32[2] gpu:0 `y`")
        assert str((ops.transfer_to(x, DeviceRef.GPU()) + y).type) == "float32[2] gpu:0"
        graph.output(x)


def test_types_are_checked() -> None:
    with pytest.raises(TypeError, match="MG016"):
        TensorType("float32", [2], CPU)  # type: ignore[arg-type]  # that is what is tested
    with pytest.raises(TypeError, match="MG023"):
        TensorType(F32, [-1], CPU)
    with pytest.raises(TypeError, match="MG017"):
        TensorType(F32, [2], "cpu")
    with pytest.raises(TypeError, match="MG017"):
        Graph("g", input_types=[F32])  # type: ignore[list-item]  # that is what is tested
    with pytest.raises(NotImplementedError, match="load"):
        Graph("g", path="g.mlir")  # type: ignore[arg-type]  # that is what is tested


def test_stores_must_fit() -> None:
    types = [BufferType(F32, [3, 8], CPU), TensorType(F32, [2, 8], CPU), TensorType(I32, [3, 8], CPU)]
    with Graph("g", input_types=types) as graph:
        cache, x, i = graph.inputs[0].buffer, graph.inputs[1].tensor, graph.inputs[2].tensor
        error = refused(lambda: ops.buffer_store(cache, x))
        assert isinstance(error, TypeRuleError)
        assert error.code == "MG020"
        assert error.summary == "buffer_store: `source` is [2, 8], but `destination` is [3, 8] (axis 0)"
        assert error.details == (("destination", "buffer float32[3, 8] `cache`"), ("source", "float32[2, 8] `x`"))
        assert refused(lambda: ops.buffer_store(cache, i)).help == "cast it: source.cast(DType.float32)"
        assert refused(lambda: ops.buffer_store_slice(cache, x, [0])).code == "MG020"
        assert isinstance(refused(lambda: ops.buffer_store_slice(cache, x, [7])), GraphIndexError)
        assert refused(lambda: ops.buffer_store_slice(cache, x[0], [None, 0])).code == "MG019"
        graph.output()


def test_owned_buffers_are_static() -> None:
    with Graph("g") as graph:
        assert refused(lambda: ops.buffer_create(BufferType(F32, ["n"], CPU))).code == "MG015"
        assert refused(lambda: ops.buffer_create(TensorType(F32, [2], CPU))).code == "MG017"
        assert refused(lambda: ops.buffer_create(BufferType(I32, [2], CPU), 0.5)).code == "MG016"
        assert refused(lambda: ops.buffer_create(BufferType(F32, [2], CPU), np.ones(3))).code == "MG015"
        ops.buffer_create(BufferType(F32, [2], CPU), name="total")
        assert refused(lambda: ops.buffer_create(BufferType(F32, [2], CPU), name="total")).code == "MG006"
        graph.output()


def test_weights_have_one_type() -> None:
    with Graph("g") as graph:
        first = Weight("w", F32, [2, 2])
        ops.exp(first)
        assert graph.add_weight(first).type == first.type
        assert refused(lambda: ops.exp(Weight("w", F32, [3]))).code == "MG006"
        assert refused(lambda: ops.exp(Weight("v", F32, ["n"]))).code == "MG015"
        assert refused(lambda: ops.exp(Weight("2 w", F32, [1]))).code == "MG006"
        graph.output()


def test_broadcast_to_a_tensor_of_dims_is_not_supported() -> None:
    with tensors((F32, [1]), (I64, [1])) as graph:
        x, shape = (value.tensor for value in graph.inputs)
        assert isinstance(refused(lambda: ops.broadcast_to(x, shape, [3])), UnsupportedError)
        assert refused(lambda: ops.broadcast_to(x, [3], [4])).code == "MG015"
        graph.output(ops.broadcast_to(x, [3], [3]))


def test_a_refused_op_leaves_no_node() -> None:
    with tensors((F32, [2]), (I32, [3])) as graph:
        x, i = (value.tensor for value in graph.inputs)
        for call in (lambda: x + i, lambda: ops.exp(i), lambda: x.reshape([3]), lambda: ops.concat([x, i])):
            refused(call)
        graph.output(x)
    assert list(graph.nodes()) == []


def test_a_place_of_several_lines_has_its_first() -> None:
    with tensors((F32, [2]), (F32, [3])) as graph:
        x, y = (value.tensor for value in graph.inputs)
        line = inspect.currentframe().f_lineno + 2  # type: ignore[union-attr]  # CPython has frames
        with pytest.raises(ValueError, match="MG011") as caught:
            ops.add(
                x,
                y,
            )
        graph.output(x)
    assert isinstance(caught.value, TypeRuleError)
    assert caught.value.where is not None
    assert caught.value.where.line == line
    assert isinstance(GraphTypeError("", code="MG003"), TypeError)
