"""What `make demo` runs: builds and runs the counter and the digits samples through the command."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMANDS = {
    "counter": (
        "maxg build build.py -o counter.maxg",
        "maxg inspect counter.maxg --show plan",
        "maxg run counter.maxg --steps 3 --state-out state.safetensors",
        "maxg run counter.maxg --steps 2 --state-in state.safetensors",
    ),
    "digits": (
        "python prepare_data.py",
        "maxg build build.py:train -o train.maxg",
        "maxg build build.py:predict -o predict.maxg",
        "maxg inspect train.maxg --show plan",
        "maxg run train.maxg -i train.npz --scan images --scan labels --state-out trained.safetensors",
        "maxg run predict.maxg -i test.npz --scan images --scan labels --state-in trained.safetensors --any-program "
        "--output-name accuracy",
    ),
}


def run(command: str, folder: Path) -> None:
    """Shows a command and what it prints."""
    print(f"\n$ {command}", flush=True)
    program, *arguments = command.split()
    path = sys.executable if program == "python" else str(Path(sys.executable).with_name(program))
    subprocess.run([path, *arguments], cwd=folder, check=True)


def main() -> None:
    """Runs all commands, each sample in a copy of its folder."""
    with tempfile.TemporaryDirectory() as scratch:
        for sample, commands in COMMANDS.items():
            print(f"\n== {sample} ==")
            folder = Path(shutil.copytree(HERE / sample, Path(scratch) / sample))
            for command in commands:
                run(command, folder)


if __name__ == "__main__":
    main()
