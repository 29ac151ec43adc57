"""A file of more than two gigabytes costs its header to open, and its zeros no disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import maxgraph
from maxgraph.format import load

from .files import f32, with_weights

ROOT = Path(__file__).resolve().parents[2]
READ = """
import sys
from maxgraph.format import open_file
def count():
    return int(next(line for line in open("/proc/self/io") if line.startswith("rchar")).split()[1])
before = count()
opened = open_file(sys.argv[1])
print(count() - before, opened.file_length)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="counts bytes by /proc")
def test_over_two_gigabytes(tmp_path: Path) -> None:
    """Zeros with a number at the end: written sparse, opened without reading, used from the mapping."""
    count = (1 << 29) + 1000
    array = np.zeros(count, np.float32)
    array[-1] = 7
    path = tmp_path / "huge.maxg"
    maxgraph.save(with_weights(w=f32(count)), path, weights={"w": array})
    del array
    assert os.path.getsize(path) > 2 << 30
    assert os.stat(path).st_blocks * 512 < 64 << 20
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True, cwd=ROOT)
    read, length = done.stdout.split()
    assert int(read) < 64 << 10
    assert int(length) == os.path.getsize(path)
    data = load(path).weights["w"].data
    assert data is not None
    assert data.numpy()[-1] == 7
