"""The engine on an accelerator: the same results, with states and results that stay there."""

from __future__ import annotations

import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from maxgraph.driver import CPU, Buffer, Device
from maxgraph.driver.device_buffer import DeviceBuffer
from maxgraph.driver.device_memory import DeviceArray
from maxgraph.dtype import DType
from maxgraph.engine import InferenceSession, ort
from maxgraph.errors import (
    ExecutionError,
    InputError,
    MaxGraphError,
    StateInUseError,
    UnsupportedError,
)
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, Weight, ops

from .conftest import Load, StandIn

REF = DeviceRef.CPU()
MODES = ["auto", "copied"]


def running_sum(size: int = 4) -> Graph:
    """A buffer of the caller's or of a state's; the output is its old value."""
    types = [BufferType(DType.float32, [size], REF), TensorType(DType.float32, [size], REF)]
    with Graph("running", input_types=types, input_names=["total", "x"]) as graph:
        total = graph.inputs[0].buffer
        old = total[...]
        total[...] = old + graph.inputs[1].tensor
        graph.output(old=old)
    return graph


def cache_row() -> Graph:
    types = [
        BufferType(DType.float32, [8, 2], REF),
        TensorType(DType.float32, [2], REF),
        TensorType(DType.int64, [], REF),
    ]
    with Graph("append", input_types=types, input_names=["cache", "row", "at"]) as graph:
        cache, row, at = graph.inputs
        cache.buffer[at.tensor] = row.tensor
        graph.output(ops.sum(cache.buffer[...], axis=0))
    return graph


class Copies:
    """Counts whole copies between the host and the accelerator."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.to_host = self.from_host = self.there = 0
        real_to_host, real_copy = DeviceArray.to_host, DeviceArray.copy_from

        def to_host(memory: DeviceArray) -> Any:
            self.to_host += 1
            return real_to_host(memory)

        def copy_from(memory: DeviceArray, source: Any) -> None:
            if isinstance(source, DeviceArray):
                self.there += 1
            else:
                self.from_host += 1
            real_copy(memory, source)

        monkeypatch.setattr(DeviceArray, "to_host", to_host)
        monkeypatch.setattr(DeviceArray, "copy_from", copy_from)

    def take(self) -> tuple[int, int, int]:
        """To the host, from the host, on the accelerator; since the last time."""
        found = (self.to_host, self.from_host, self.there)
        self.to_host = self.from_host = self.there = 0
        return found


@pytest.mark.parametrize("buffers", MODES)
def test_a_state_stays_on_the_device(buffers: str, device: Device, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(running_sum(), buffers=buffers)
    state = model.new_state()
    x = Buffer.from_numpy(np.arange(4, dtype=np.float32)).to(device)
    model.execute(x, state=state)
    copies = Copies(monkeypatch)
    for _ in range(5):
        (old,) = model.execute(x, state=state)
        assert isinstance(old, DeviceBuffer)
        assert old.device == device
    assert copies.take() == (0, 0, 0)
    np.testing.assert_array_equal(old.to_numpy(), 5 * np.arange(4))
    np.testing.assert_array_equal(state.to_numpy("total"), 6 * np.arange(4))


@pytest.mark.parametrize("buffers", MODES)
def test_results_never_change_later(buffers: str, load: Load) -> None:
    model = load(running_sum(), buffers=buffers)
    state = model.new_state()
    results = [model.execute(np.ones(4, np.float32), state=state)[0] for _ in range(4)]
    assert [result.to_numpy()[0] for result in results] == [0, 1, 2, 3]


@pytest.mark.parametrize("buffers", MODES)
@pytest.mark.parametrize("where", ["host", "device", "buffer on the host"])
def test_a_callers_buffer_is_changed_where_it_is(buffers: str, where: str, device: Device, load: Load) -> None:
    model = load(running_sum(), buffers=buffers)
    array = np.ones(4, np.float32)
    total = {"host": array, "buffer on the host": Buffer.from_numpy(array)}.get(where)
    if total is None:
        total = Buffer.from_numpy(array).to(device)
        address = total.memory.address
    for _ in range(3):
        model.execute(total, np.full(4, 2, np.float32))
    if where == "device":
        assert total.memory.address == address
        assert array.tolist() == [1] * 4
        assert total.to_numpy().tolist() == [7] * 4
    else:
        assert array.tolist() == [7] * 4


def test_what_is_done_to_a_state_on_the_host_is_seen_on_the_device(load: Load, tmp_path: Any) -> None:
    model = load(running_sum())
    state = model.new_state()
    ones = np.ones(4, np.float32)
    model.execute(ones, state=state)
    state.set("total", np.arange(4, dtype=np.float32))
    model.execute(ones, state=state)
    assert state.to_numpy("total").tolist() == [1, 2, 3, 4]
    state.save(tmp_path / "s.safetensors")
    state.reset()
    model.execute(ones, state=state)
    assert state.to_numpy("total").tolist() == [1] * 4
    state.load(tmp_path / "s.safetensors")
    assert model.execute(ones, state=state)[0].to_numpy().tolist() == [1, 2, 3, 4]


def test_a_state_of_the_cpus_and_one_of_the_devices_are_exchanged(load: Load) -> None:
    graph = running_sum()
    here, there = InferenceSession().load(graph), load(graph)
    ones = np.ones(4, np.float32)
    for state in (here.new_state(), there.new_state()):
        for model in (here, there, there, here, there):
            model.execute(ones, state=state)
        assert state.to_numpy("total").tolist() == [5] * 4


def test_forks_and_checkpoints(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(running_sum())
    state = model.new_state()
    ones = Buffer.from_numpy(np.ones(4, np.float32)).to(model.devices[0])
    model.execute(ones, state=state)
    copies = Copies(monkeypatch)
    other = state.fork()
    model.execute(ones, state=other)
    assert copies.take() == (0, 0, 1)
    with pytest.raises(InputError), state.checkpoint():
        model.execute(model.execute(ones, state=state)[0], Buffer(DType.float32, [5]), state=state)
    model.execute(ones, state=other)
    assert (state.to_numpy("total")[0], other.to_numpy("total")[0]) == (1, 3)


@pytest.mark.parametrize("buffers", MODES)
def test_symbolic_sizes(buffers: str, device: Device, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    types = [BufferType(DType.float32, ["n"], REF), TensorType(DType.float32, ["n"], REF)]
    with Graph("symbolic", input_types=types, input_names=["s", "x"]) as graph:
        s = graph.inputs[0].buffer
        s[...] = s[...] + graph.inputs[1].tensor
        graph.output(s[...])
    model = load(graph, buffers=buffers)
    state = model.new_state()
    for size in (3, 3, 5):
        memory = np.zeros(size, np.float32)
        (result,) = model.execute(memory, np.ones(size, np.float32))
        assert result.to_numpy().tolist() == memory.tolist() == [1] * size
    x = DeviceBuffer.over(DeviceArray.of(np.ones(3, np.float32), device))
    model.execute(x, state=state)
    copies = Copies(monkeypatch)
    model.execute(x, state=state)
    assert copies.take() == (0, 0, 0)
    with pytest.raises(InputError):
        model.execute(np.ones(4, np.float32), state=state)
    assert state.to_numpy("s").tolist() == [2] * 3


@pytest.mark.parametrize("index", [8, -9, 2**40])
@pytest.mark.parametrize("where", ["host", "device"])
def test_indices_are_checked_before_anything_is_written(index: int, where: str, device: Device, load: Load) -> None:
    model = load(cache_row())
    cache = Buffer.from_numpy(np.ones((8, 2), np.float32)).to(device)
    at: Any = np.array(index)
    if where == "device":
        at = Buffer.from_numpy(at).to(device)
    with pytest.raises(ExecutionError):
        model.execute(cache, np.full(2, 5, np.float32), at)
    assert cache.to_numpy().tolist() == [[1, 1]] * 8


@pytest.mark.parametrize("buffers", MODES)
def test_slice_stores(buffers: str, device: Device, load: Load) -> None:
    model = load(cache_row(), buffers=buffers)
    cache = Buffer.zeros([8, 2], DType.float32, device)
    for at in (0, 7, -2):
        (total,) = model.execute(cache, np.full(2, 2, np.float32), at)
    assert total.to_numpy().tolist() == [[6, 6]]
    assert np.flatnonzero(cache.to_numpy()[:, 0]).tolist() == [0, 6, 7]


def test_owned_scratch_and_printed_values(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    with Graph("owned") as graph:
        steps = ops.buffer_create(BufferType(DType.int64, [], REF), 3, name="steps")
        scratch = ops.buffer_create(BufferType(DType.int64, [2], REF))
        scratch[0] = steps[...]
        steps[...] = steps[...] + 1
        ops.print(steps[...], "steps")
        graph.output(scratch[...], ops.constant([1, 2], DType.int64, REF))
    model = load(graph)
    state = model.new_state()
    for expected in (3, 4):
        held, constant = (buffer.to_numpy().tolist() for buffer in model.execute(state=state))
        assert (held, constant) == ([expected, 0], [1, 2])
        assert capsys.readouterr().out == f"steps: int64[] {expected + 1}\n"


def test_weights(load: Load) -> None:
    types = [TensorType(DType.float32, [3, 4], REF)]
    with Graph("weights", input_types=types, input_names=["x"]) as graph:
        graph.output(graph.inputs[0].tensor @ Weight("w", DType.float32, [4, 300]))
    w = np.random.default_rng(0).standard_normal((4, 300), np.float32)
    model = load(graph, weights_registry={"w": w})
    x = np.eye(3, 4, dtype=np.float32)
    (y,) = model.execute(x)
    np.testing.assert_allclose(y.to_numpy(), x @ w, rtol=1e-5)


def test_sizes_that_depend_on_data(device: Device, load: Load) -> None:
    """Where the number is an element of a tensor, a check inside the graph compares it, which CUDA cannot do."""
    with Graph("sizes", input_types=[TensorType(DType.int64, [], REF)], input_names=["n"]) as graph:
        graph.output(ops.range(0, graph.inputs[0].tensor, 1, "m", dtype=DType.int64, device=REF))
    if not isinstance(device, StandIn):
        with pytest.raises(UnsupportedError):
            load(graph)
        return
    model = load(graph)
    for n in (3, 0, 5):
        (found,) = model.execute(n)
        assert isinstance(found, DeviceBuffer)
        assert found.to_numpy().tolist() == list(range(n))


@pytest.mark.parametrize("dtype", [DType.bfloat16, DType.float16, DType.bool, DType.int8])
def test_elements_of_every_kind_come_back(dtype: DType, device: Device, load: Load) -> None:
    types = [BufferType(dtype, [2, 3], REF), TensorType(dtype, [2, 3], REF)]
    with Graph("kinds", input_types=types, input_names=["s", "x"]) as graph:
        s = graph.inputs[0].buffer
        old = s[...]
        s[...] = graph.inputs[1].tensor
        graph.output(old)
    model = load(graph)
    value = np.array([[0, 1, 1], [1, 0, 0]]).astype(dtype.to_numpy())
    s = Buffer.zeros([2, 3], dtype, device)
    assert s.dtype is dtype
    model.execute(s, value)
    (old,) = model.execute(s, Buffer.from_numpy(np.zeros_like(value)).to(device))
    assert old.to_numpy().dtype == dtype.to_numpy()
    assert (old.to_numpy() == value).all()
    assert not s.to_numpy().astype(np.float32).any()


def test_overlapping_arguments_are_refused(device: Device, load: Load) -> None:
    model = load(running_sum())
    memory = Buffer.zeros([4], DType.float32, device)
    with pytest.raises(InputError, match="overlap"):
        model.execute(memory, memory)
    types = [BufferType(DType.float32, [4], REF)] * 2
    with Graph("two", input_types=types, input_names=["a", "b"]) as graph:
        graph.inputs[0].buffer[...] = graph.inputs[1].buffer[...] + 1
        graph.output()
    with pytest.raises(InputError, match="overlap"):
        load(graph).execute(memory, memory)


def test_wrong_arguments_change_nothing(device: Device, load: Load) -> None:
    model = load(running_sum())
    total = Buffer.zeros([4], DType.float32, device)
    ones = Buffer.from_numpy(np.ones(4, np.float32)).to(device)
    for wrong in (Buffer.zeros([5], DType.float32, device), Buffer.zeros([4], DType.float64, device)):
        with pytest.raises(InputError):
            model.execute(total, wrong)
        with pytest.raises(InputError):
            model.execute(wrong, ones)
    with pytest.raises(InputError):
        model.execute(total)
    assert not total.to_numpy().any()


def test_memory_of_another_device_is_refused(device: Device, load: Load) -> None:
    model = load(running_sum())
    other = StandIn(7)
    with pytest.raises(InputError, match=r"lies on gpu:7, and graph `running` runs on gpu:0"):
        model.execute(DeviceBuffer.over(DeviceArray.of(np.zeros(4, np.float32), other)), np.zeros(4, np.float32))


@pytest.mark.parametrize("buffers", MODES)
def test_a_failed_execution_leaves_everything(
    buffers: str, device: Device, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(running_sum(), buffers=buffers)
    state = model.new_state()
    ones = np.ones(4, np.float32)
    model.execute(ones, state=state)
    total = Buffer.from_numpy(np.ones(4, np.float32)).to(device)

    def fail(*_: object) -> None:
        raise RuntimeError("text of onnxruntime")

    real = ort.OrtBinding.__init__

    def broken(binding: Any, *args: Any, **kwargs: Any) -> None:
        real(binding, *args, **kwargs)
        binding.run = fail

    with monkeypatch.context() as patch:
        patch.setattr(ort.OrtBinding, "__init__", broken)
        for call in (lambda: model.execute(ones, state=state), lambda: model.execute(total, ones)):
            with pytest.raises(MaxGraphError) as caught:
                call()
            assert "text of onnxruntime" not in str(caught.value)
    assert state.to_numpy("total").tolist() == total.to_numpy().tolist() == [1] * 4
    model.execute(ones, state=state)
    assert state.to_numpy("total").tolist() == [2] * 4


def test_states_in_threads(load: Load) -> None:
    model = load(running_sum(2000))
    states = [model.new_state() for _ in range(4)]
    ones = np.ones(2000, np.float32)

    def work(state: Any) -> None:
        for _ in range(100):
            model.execute(ones, state=state)

    threads = [threading.Thread(target=work, args=(state,)) for state in states]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((state.to_numpy("total") == 100).all() for state in states)
    with states[0].exclusive(), pytest.raises(StateInUseError):
        model.execute(ones, state=states[0])


# CUDA graphs ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def capturing(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the stand-in, the first run of each graph runs the model three times, as capturing does."""
    if not isinstance(device, StandIn):
        return
    captured: set[int] = set()
    real = ort.OrtBinding.__init__

    def init(binding: Any, session: Any, *, graph_id: int | None = None) -> None:
        real(binding, session, graph_id=graph_id)
        run = binding.run

        def runs() -> None:
            times = 1 if graph_id in captured else 3
            captured.add(graph_id)  # type: ignore[arg-type]
            for _ in range(times):
                run()

        binding.run = runs

    monkeypatch.setattr(ort.OrtBinding, "__init__", init)


@pytest.mark.parametrize("buffers", MODES)
@pytest.mark.usefixtures("capturing")
def test_capture_does_not_advance_the_state(buffers: str, device: Device, load: Load) -> None:
    model = load(running_sum(), buffers=buffers, cuda_graph=True)
    state, total = model.new_state(), Buffer.zeros([4], DType.float32, device)
    results = []
    for step in range(4):
        x = np.full(4, step, np.float32)
        results.append(model.execute(x, state=state)[0])
        results.append(model.execute(total, x)[0])
    sums = [0, 0, 0, 0, 1, 1, 3, 3]
    assert [result.to_numpy()[0] for result in results] == sums
    assert state.to_numpy("total").tolist() == total.to_numpy().tolist() == [6] * 4


@pytest.mark.usefixtures("capturing")
def test_graphs_of_many_buffers_are_given_back(device: Device, load: Load) -> None:
    model = load(running_sum(), cuda_graph=True)
    for _ in range(40):
        total = Buffer.zeros([4], DType.float32, device)
        for _ in range(2):
            model.execute(total, np.ones(4, np.float32))
        assert total.to_numpy().tolist() == [2] * 4
    assert len(model._executor._graphs) <= 16


@pytest.mark.usefixtures("capturing")
def test_what_cannot_be_captured_is_refused(load: Load) -> None:
    with Graph("printing", input_types=[TensorType(DType.float32, [2], REF)]) as graph:
        ops.print(graph.inputs[0].tensor, "x")
        graph.output(graph.inputs[0].tensor * 2)
    with pytest.raises(UnsupportedError, match="prints"):
        load(graph, cuda_graph=True)


# Buffers -------------------------------------------------------------------------------------------------------------


def test_a_buffer_on_the_device(device: Device) -> None:
    buffer = Buffer(DType.float32, [2, 3], device)
    assert isinstance(buffer, DeviceBuffer)
    assert (buffer.shape, buffer.rank, buffer.num_elements, buffer.element_size) == ((2, 3), 2, 6, 4)
    assert (buffer.dtype, buffer.strides, buffer.is_host, buffer.device) == (DType.float32, (3, 1), False, device)
    assert not buffer.to_numpy().any()
    buffer[1, 2] = 5
    assert buffer.to_numpy()[1, 2] == 5
    copy, home = buffer.copy(), buffer.to(CPU())
    buffer.inplace_copy_from(Buffer.from_numpy(np.ones((2, 3), np.float32)))
    assert copy.to_numpy()[1, 2] == home.to_numpy()[1, 2] == 5
    assert buffer.to_numpy().sum() == 6
    copy.inplace_copy_from(buffer)
    assert copy.to_numpy().sum() == 6
    assert buffer.to(device) is buffer
    assert type(home) is Buffer
    assert Buffer.scalar(3, DType.int64, device).item() == 3
    assert repr(buffer) == f"Buffer(float32[2, 3], {device})"
    assert np.asarray(buffer).sum() == 6
    with pytest.raises(InputError):
        buffer.inplace_copy_from(Buffer(DType.float32, [3, 2]))
    for part in (lambda: buffer[0], lambda: buffer.view(DType.int32)):
        with pytest.raises(UnsupportedError, match=r"buffer\.to"):
            part()


def test_a_forgotten_write_to_the_host_copy_is_an_error(device: Device) -> None:
    with pytest.raises(ValueError, match="read-only"):
        Buffer(DType.float32, [2], device)._array[0] = 1


@pytest.mark.parametrize("shape", [(), (0, 3), (5,)])
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.bool_), np.dtype(ml_dtypes.bfloat16)])
def test_memory_there_and_back(dtype: np.dtype[Any], shape: tuple[int, ...], device: Device) -> None:
    array = np.ones(shape).astype(dtype)
    memory = DeviceArray.of(array, device)
    for found in (memory.to_host(), memory.copy().to_host()):
        assert (found.dtype, found.shape) == (dtype, shape)
        assert (found == array).all()


def test_memory_is_shared_by_dlpack(device: Device, load: Load) -> None:
    """A buffer is another library's memory, and the other way round."""
    if isinstance(device, StandIn):
        theirs: Any = np.zeros(4, np.float32)
        buffer = DeviceBuffer.over(DeviceArray.from_dlpack(theirs, device))
        assert buffer.memory.address == theirs.ctypes.data
        load(running_sum()).execute(buffer, np.ones(4, np.float32))
        assert theirs.tolist() == [1] * 4
        assert np.from_dlpack(buffer).ctypes.data == theirs.ctypes.data
        with pytest.raises(InputError, match="cannot be shared"):
            DeviceArray.from_dlpack(np.zeros(8, np.float32)[::2], device)
        return
    torch = pytest.importorskip("torch", reason="torch with CUDA is needed")
    tensor = torch.zeros(4, device="cuda")
    model = load(running_sum())
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(10):
            tensor.add_(1)  # still queued when the model is called
            (old,) = model.execute(tensor, tensor.clone())
    torch.cuda.synchronize()
    assert tensor.tolist() == [2046.0] * 4
    assert torch.from_dlpack(old).device.type == "cuda"
    assert Buffer.from_dlpack(tensor).memory.address == tensor.data_ptr()
