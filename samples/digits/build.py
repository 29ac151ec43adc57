"""A classifier of handwritten digits that is trained inside the graph, and the graph that only predicts.

The weights are buffers. `train` takes one minibatch a step: it computes the loss, its gradient by hand, and stores the
weights after one step of gradient descent with momentum. `predict` has the same buffers and only loads them, so the
state that training leaves is its state.
"""

import numpy as np

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, BufferValue, DeviceRef, Graph, TensorType, TensorValue, ops

CPU = DeviceRef.CPU()
PIXELS, HIDDEN, CLASSES = 64, 48, 10
BATCH = 64
LEARNING_RATE, MOMENTUM = 0.1, 0.9


def parameters() -> list[BufferValue]:
    """The weights of two dense layers, in memory that the model owns; He's initialisation, from a fixed seed."""
    rng = np.random.default_rng(0)
    first = (rng.standard_normal((PIXELS, HIDDEN)) * np.sqrt(2 / PIXELS)).astype(np.float32)
    second = (rng.standard_normal((HIDDEN, CLASSES)) * np.sqrt(2 / HIDDEN)).astype(np.float32)
    initial = {"w1": first, "b1": np.zeros(HIDDEN, np.float32), "w2": second, "b2": np.zeros(CLASSES, np.float32)}
    return [
        ops.buffer_create(BufferType(DType.float32, array.shape, CPU), array, name=name)
        for name, array in initial.items()
    ]


def velocities() -> list[BufferValue]:
    """The momentum of each weight."""
    shapes = {"v_w1": [PIXELS, HIDDEN], "v_b1": [HIDDEN], "v_w2": [HIDDEN, CLASSES], "v_b2": [CLASSES]}
    return [ops.buffer_create(BufferType(DType.float32, shape, CPU), 0.0, name=name) for name, shape in shapes.items()]


def one_hot(labels: TensorValue) -> TensorValue:
    """A row of zeros with a one at the label, for each label."""
    classes = ops.range(0, CLASSES, dtype=DType.int64, device=CPU)
    return (labels.reshape([*labels.shape, 1]) == classes).cast(DType.float32)


def correct(scores: TensorValue, labels: TensorValue) -> TensorValue:
    """The share of rows whose largest score is at the label."""
    predicted = ops.argmax(scores).reshape(labels.shape)
    return ops.mean((predicted == labels).cast(DType.float32), axis=0).reshape([])


def train() -> Graph:
    """One step of training on one minibatch."""
    types = [TensorType(DType.float32, [BATCH, PIXELS], CPU), TensorType(DType.int64, [BATCH], CPU)]
    with Graph("digits_train", input_types=types, input_names=["images", "labels"]) as graph:
        images, labels = (value.tensor for value in graph.inputs)
        buffers = parameters()
        w1, b1, w2, b2 = (buffer[...] for buffer in buffers)

        hidden = ops.relu(images @ w1 + b1)
        scores = hidden @ w2 + b2
        log_p = ops.logsoftmax(scores)
        target = one_hot(labels)
        loss = -ops.mean(ops.sum(target * log_p).reshape([BATCH]), axis=0).reshape([])

        # d loss / d scores of softmax and cross-entropy is (p - target) / batch.
        d_scores = (ops.exp(log_p) - target) / BATCH
        d_hidden = (d_scores @ w2.T) * (hidden > 0).cast(DType.float32)
        gradients = [
            images.T @ d_hidden,
            ops.sum(d_hidden, axis=0).reshape([HIDDEN]),
            hidden.T @ d_scores,
            ops.sum(d_scores, axis=0).reshape([CLASSES]),
        ]
        for buffer, velocity, gradient in zip(buffers, velocities(), gradients, strict=True):
            velocity[...] = velocity[...] * MOMENTUM + gradient
            buffer[...] = buffer[...] - velocity[...] * LEARNING_RATE
        graph.output(loss=loss, accuracy=correct(scores, labels))
    return graph


def predict() -> Graph:
    """The digits that a batch of images shows, and how many agree with the labels."""
    types = [TensorType(DType.float32, ["n", PIXELS], CPU), TensorType(DType.int64, ["n"], CPU)]
    with Graph("digits_predict", input_types=types, input_names=["images", "labels"]) as graph:
        images, labels = (value.tensor for value in graph.inputs)
        w1, b1, w2, b2 = (buffer[...] for buffer in parameters())
        velocities()  # the trained state holds them too
        scores = ops.relu(images @ w1 + b1) @ w2 + b2
        graph.output(digits=ops.argmax(scores).reshape(["n"]), accuracy=correct(scores, labels))
    return graph
