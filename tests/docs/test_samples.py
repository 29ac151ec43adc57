"""Every sample's README is run as it stands: its commands, and what it says that they print."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models import MODELS, need_models

ROOT = Path(__file__).resolve().parents[2]
#: Files that a sample's README asks for.
NEEDED = {"silero_vad": ("silero_vad_16k_op15.onnx", "speech_16k.wav", "silero_reference.npz")}
SAMPLES = sorted(path.parent for path in (ROOT / "samples").glob("*/README.md"))


def blocks(readme: Path) -> Iterator[tuple[list[str], list[str]]]:
    """The commands of each shell block, and the lines of the text block after it, if there is one."""
    found = re.findall(r"```(\w+)\n(.*?)```", readme.read_text(), re.S)
    for at, (kind, body) in enumerate(found):
        if kind == "sh":
            printed = found[at + 1][1] if at + 1 < len(found) and found[at + 1][0] == "text" else ""
            yield body.strip().splitlines(), printed.splitlines()


def run(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    path = sys.executable if program == "python" else str(Path(sys.executable).with_name(program))
    done = subprocess.run([path, *arguments], cwd=folder, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_samples_readme_says_what_happens(sample: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sample, tmp_path / sample.name, ignore=shutil.ignore_patterns("__pycache__")))
    if sample.name in NEEDED:
        need_models(*NEEDED[sample.name])
        (folder / "models").symlink_to(MODELS)
    ran = 0
    for commands, printed in blocks(sample / "README.md"):
        lines = iter("".join(run(command, folder) for command in commands).splitlines())
        for line in printed:
            assert line in lines, f"{commands}: {line!r} is missing, or out of order"
        ran += len(commands)
    assert ran >= 3


def test_the_digits_are_learned(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ROOT / "samples" / "digits", tmp_path / "digits"))
    for commands, _ in blocks(folder / "README.md"):
        for command in commands:
            is_prediction = command.startswith("maxg run predict")
            printed = run(command + (" --json" if is_prediction else ""), folder)
            if is_prediction:
                steps = [json.loads(line) for line in printed.splitlines()]
                accuracy = [step["outputs"]["accuracy"] for step in steps if "outputs" in step]
    least = json.loads((folder / "expected.json").read_text())["accuracy"]["at_least"]
    assert len(accuracy) == 4
    assert min(accuracy) > least


def test_the_readmes_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    script = tmp_path / "example.py"
    script.write_text(code)
    out = run(f"python {script}", tmp_path)
    assert out.strip() == code.strip().splitlines()[-1].removeprefix("# ")
