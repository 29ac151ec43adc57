"""Voice activity in 16 kHz speech: Silero's network, written natively, which remembers what it has heard.

The state of its LSTM and the last 64 samples of sound lie in buffers, so that a caller gives bare chunks of 512 samples
(32 ms) and gets the probability of speech in each.
"""

from typing import Any

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, BufferValue, DeviceRef, Graph, TensorType, TensorValue, ops
from maxgraph.graph import ConvInputLayout as Input
from maxgraph.graph import FilterLayout as Filter
from maxgraph.graph.weights import SafetensorWeights, load_weights

CPU = DeviceRef.CPU()
F32 = DType.float32
CHUNK, CONTEXT, HIDDEN = 512, 64, 128


def convolution(x: TensorValue, weights: SafetensorWeights, stride: int = 1, pad: int = 0) -> TensorValue:
    """A convolution over time; `x` is [1, channels, 1, time], the filter [out, channels, width]."""
    w = weights.weight.allocate()
    out, channels, width = w.shape
    return ops.conv2d(
        x,
        w.reshape([out, channels, 1, width]),
        (1, stride),
        padding=(0, 0, pad, pad),
        bias=weights.bias.allocate() if weights.bias.exists() else None,
        input_layout=Input.NCHW,
        filter_layout=Filter.FCRS,
    )


def lstm(x: TensorValue, weights: SafetensorWeights, hidden: BufferValue, cell: BufferValue) -> TensorValue:
    """One step of an LSTM cell, whose state it changes; gives the new hidden state."""
    gates = x @ weights.weight_ih.allocate().T + weights.bias_ih.allocate()
    gates += hidden[...] @ weights.weight_hh.allocate().T + weights.bias_hh.allocate()
    i, f, g, o = ops.chunk(gates, 4, axis=1)
    cell[...] = ops.sigmoid(f) * cell[...] + ops.sigmoid(i) * ops.tanh(g)
    hidden[...] = ops.sigmoid(o) * ops.tanh(cell[...])
    return hidden[...]


def build(weights: str = "weights.safetensors") -> tuple[Graph, dict[str, Any]]:
    """The graph, and its weights from a file."""
    w = load_weights([weights])
    with Graph("voice_activity", input_types=[TensorType(F32, [CHUNK], CPU)], input_names=["chunk"]) as graph:
        context = ops.buffer_create(BufferType(F32, [CONTEXT], CPU), 0.0, name="context")
        hidden = ops.buffer_create(BufferType(F32, [1, HIDDEN], CPU), 0.0, name="hidden")
        cell = ops.buffer_create(BufferType(F32, [1, HIDDEN], CPU), 0.0, name="cell")

        sound = ops.concat([context[...], graph.inputs[0].tensor])
        context[...] = sound[-CONTEXT:]

        # A spectrogram: real and imaginary parts of 129 frequencies, in windows of 256 samples.
        x = ops.pad(sound, [0, CONTEXT], mode="reflect").reshape([1, 1, 1, CHUNK + 2 * CONTEXT])
        spectrum = convolution(x, w.stft_conv, stride=128)
        real, imaginary = ops.chunk(spectrum, 2, axis=1)
        x = ops.sqrt(real * real + imaginary * imaginary)

        x = ops.relu(convolution(x, w.conv1, pad=1))
        x = ops.relu(convolution(x, w.conv2, stride=2, pad=1))
        x = ops.relu(convolution(x, w.conv3, stride=2, pad=1))
        x = ops.relu(convolution(x, w.conv4, pad=1))

        h = ops.relu(lstm(x.reshape([1, HIDDEN]), w.lstm_cell, hidden, cell))
        score = convolution(h.reshape([1, HIDDEN, 1, 1]), w.final_conv)
        graph.output(probability=ops.sigmoid(score).reshape([]))
    return graph, w.allocated_weights
