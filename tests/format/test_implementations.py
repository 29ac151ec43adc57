"""protobuf has two implementations; the bytes, and what is refused, do not depend on which is used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
def test_the_other_implementation_passes_the_same_tests() -> None:
    files = [str(HERE / name) for name in ("test_encodings.py", "test_golden.py", "test_dims.py")]
    code = "import sys, pytest; from google.protobuf.internal import api_implementation as a; "
    code += "assert a.Type() == 'python'; sys.exit(pytest.main(['-q', *sys.argv[1:]]))"
    env = {**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}
    done = subprocess.run(
        [sys.executable, "-c", code, *files],
        env=env,
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
