"""What the compile cache saves: loading a graph in a new process, without it, on a miss and on a hit.

    python benchmarks/load.py [--rounds 7]

Each time is that of a process of its own, which has imported numpy and onnxruntime before the clock starts; a hit also
saves the import of `onnx`, so a last column has the same with `onnx` imported, too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import maxgraph
from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, TensorType, Weight, ops

CPU = DeviceRef.CPU()
SCRIPT = """
import sys, time
import numpy, onnxruntime
from maxgraph.format import load
from maxgraph.engine import InferenceSession
if sys.argv[2] == "onnx":
    import onnx
graph = load(sys.argv[1])
start = time.perf_counter()
InferenceSession().load(graph)
print(1000 * (time.perf_counter() - start))
"""


def counter() -> Graph:
    with Graph("counter", input_types=[BufferType(DType.float32, [4], CPU)]) as graph:
        state = graph.inputs[0].buffer
        old = state[...]
        state[...] = old + 1
        graph.output(old)
    return graph


def chain(nodes: int) -> Graph:
    types = [BufferType(DType.float32, [64], CPU), TensorType(DType.float32, [64], CPU)]
    with Graph(f"chain_{nodes}", input_types=types) as graph:
        state, x = graph.inputs[0].buffer, graph.inputs[1].tensor
        value = x
        for _ in range(nodes // 2):
            value = ops.tanh(value + x)
        state[...] = value
        graph.output(value)
    return graph


def folded(megabytes: int) -> Graph:
    """A weight that the optimiser transposes: its elements are in the entry."""
    width = 1024
    with Graph(f"folded_{megabytes}_mb", input_types=[TensorType(DType.float32, [1, width], CPU)]) as graph:
        weight = Weight("w", DType.float32, [megabytes * 256, width])
        graph.output(graph.inputs[0].tensor @ ops.transpose(weight, 0, 1) * ops.transpose(weight, 0, 1)[0])
    return graph


def measured(path: Path, cache: str, *, folder: str, imported: str = "") -> float:
    environment = {**os.environ, "MAXG_CACHE": cache, "MAXG_CACHE_DIR": folder}
    command = [sys.executable, "-c", SCRIPT, str(path), imported]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print(f"{'ms to load':<16}{'off':>8}{'miss':>8}{'hit':>8}    with onnx imported: {'off':>8}{'hit':>8}")
    with tempfile.TemporaryDirectory() as place:
        for graph in (counter(), chain(100), chain(1000), folded(16)):
            path = Path(place, f"{graph.name}.maxg")
            weights = {
                name: np.random.default_rng(0).standard_normal(info.type.shape.evaluate({}), np.float32)
                for name, info in graph.weights.items()
            }
            maxgraph.save(graph, path, weights=weights)
            warm = str(Path(place, f"{graph.name}.cache"))
            measured(path, "on", folder=warm)
            times: dict[str, list[float]] = {}
            for at in range(rounds):
                cold = str(Path(place, f"{graph.name}.{at}"))
                for name, cache, folder, imported in (
                    ("off", "off", warm, ""),
                    ("miss", "on", cold, ""),
                    ("hit", "on", warm, ""),
                    ("off, onnx", "off", warm, "onnx"),
                    ("hit, onnx", "on", warm, "onnx"),
                ):
                    times.setdefault(name, []).append(measured(path, cache, folder=folder, imported=imported))
            off, miss, hit, off_onnx, hit_onnx = (statistics.median(found) for found in times.values())
            print(f"{graph.name:<16}{off:>8.1f}{miss:>8.1f}{hit:>8.1f}{'':<24}{off_onnx:>8.1f}{hit_onnx:>8.1f}")


if __name__ == "__main__":
    main()
