"""The receiving team: a wheel in an environment of its own runs a file whose build script is not there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path) -> str:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_wheel_elsewhere_gives_the_same_results(tmp_path: Path) -> None:
    # The source as it would be released: a build in the tree itself would leave folders behind.
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("maxgraph", "cli"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, source, cwd=tmp_path)
    (wheel,) = tmp_path.glob("maxg-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    # The packages are listed by hand, for one is installed under another name: a new one is easily forgotten.
    folders = {"maxgraph": "maxgraph", "maxgraph_cli": "cli"}
    wanted = {
        f"{package}/{path.relative_to(ROOT / folder).as_posix()}"
        for package, folder in folders.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == wanted
    assert "maxgraph/py.typed" in names
    assert "maxgraph_cli/commands/run.py" in names
    assert not [n for n in names if n.startswith(("cli/", "tests/", "samples/"))]

    # What the first team makes: a file. Nothing else goes over.
    shutil.copytree(ROOT / "samples" / "counter", tmp_path / "first")
    maxg = Path(sys.executable).with_name("maxg")
    run(maxg, "build", "build.py", "-o", "counter.maxg", cwd=tmp_path / "first")
    receiving = tmp_path / "receiving"
    receiving.mkdir()
    shutil.copy(tmp_path / "first" / "counter.maxg", receiving)
    expected = run(maxg, "run", "counter.maxg", "--steps", "3", "--json", "--show-state", cwd=tmp_path / "first")

    # The second team's environment: the wheel and what it depends on.
    run(sys.executable, "-m", "venv", receiving / "env", cwd=receiving)
    python = receiving / "env" / "bin" / "python"
    run(python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", wheel, cwd=receiving)
    where = run(python, "-c", "import maxgraph; print(maxgraph.__file__)", cwd=receiving).strip()
    assert where.startswith(str(receiving))
    command = receiving / "env" / "bin" / "maxg"
    actual = run(command, "run", "counter.maxg", "--steps", "3", "--json", "--show-state", cwd=receiving)
    assert actual == expected
    assert json.loads(actual.splitlines()[-1])["state"] == {"state": [3.0, 3.0, 3.0, 3.0]}
    assert "in place" in run(command, "inspect", "counter.maxg", "--show", "plan", cwd=receiving)
