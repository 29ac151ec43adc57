"""Writes train.npz and test.npz from scikit-learn's handwritten digits (8 by 8 pixels, 1,797 of them)."""

import numpy as np
from sklearn.datasets import load_digits

BATCH, EPOCHS, TEST = 64, 12, 360

digits = load_digits()
images = (digits.data / 16).astype(np.float32)
labels = digits.target.astype(np.int64)
rng = np.random.default_rng(0)
order = rng.permutation(len(labels))
test, train = order[:TEST], order[TEST:]

# Each step takes one minibatch: they are stacked on a leading axis, epoch after epoch in a new order.
batches = len(train) // BATCH
steps = np.concatenate([rng.permutation(train)[: batches * BATCH].reshape(batches, BATCH) for _ in range(EPOCHS)])
np.savez("train.npz", images=images[steps], labels=labels[steps])
# The test set goes through `predict` in pieces too.
pieces = test.reshape(4, -1)
np.savez("test.npz", images=images[pieces], labels=labels[pieces])
print(f"train.npz: {len(steps)} minibatches of {BATCH}; test.npz: {len(pieces)} pieces of {pieces.shape[1]}")
