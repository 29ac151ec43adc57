"""Weights by name, chunks of sound and the probabilities to expect, from Silero's own files.

The weights are taken from the ONNX model whose probabilities are the reference, and given the names that build.py uses.
"""

import sys
import wave
from pathlib import Path

import numpy as np
import onnx
from safetensors.numpy import save_file

CHUNK = 512
NAMES = {
    "stft_conv.weight": "model.stft.forward_basis_buffer",
    **{
        f"conv{at + 1}.{kind}": f"model.encoder.{at}.reparam_conv.{kind}"
        for at in range(4)
        for kind in ("weight", "bias")
    },
    **{f"lstm_cell.{kind}": f"model.decoder.rnn.{kind}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")},
    **{f"final_conv.{kind}": f"model.decoder.decoder.2.{kind}" for kind in ("weight", "bias")},
}


def main(models: Path) -> None:
    """Writes weights.safetensors, chunks.npz and expected.npz."""
    network = onnx.load(models / "silero_vad_16k_op15.onnx")
    found = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in network.graph.initializer}
    save_file({name: found[theirs] for name, theirs in NAMES.items()}, "weights.safetensors")
    reference = np.load(models / "silero_reference.npz")["probability"]
    with wave.open(str(models / "speech_16k.wav")) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768
    np.savez("chunks.npz", chunk=samples[: len(reference) * CHUNK].reshape(-1, CHUNK))
    np.savez("expected.npz", probability=reference)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
