"""What holds for every command: streams, exit codes, colour, help, and no traceback, ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import Maxg

MAXG = Path(sys.executable).with_name("maxg")


def test_an_unknown_command(maxg: Maxg) -> None:
    done = maxg("rum", "x")
    assert done.code == 2
    assert done.err.splitlines()[0] == "error[MG053]: there is no command `rum`; did you mean `run`?"


def test_no_command_shows_the_help(maxg: Maxg) -> None:
    done = maxg()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: maxg ")
    assert "error" not in done.err


@pytest.mark.parametrize("command", ["", "build", "run", "compare", "inspect", "cache", "ops", "explain", "doctor"])
def test_help_fits_a_screen_and_shows_examples_first(command: str, maxg: Maxg) -> None:
    done = maxg(*([command] if command else []), "--help")
    lines = done.out.splitlines()
    assert done.code == 0
    assert len(lines) <= 45
    assert all(len(line) <= 80 for line in lines)
    assert next(at for at, line in enumerate(lines) if line.startswith("  maxg ")) < lines.index("Options:")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (lambda d: d[:-1], "MGP06"),
        (lambda d: b"", "MGP01"),
        (lambda d: b"PK\x03\x04" + bytes(100), "MGP02"),
        (lambda d: d[:100] + bytes([d[100] ^ 4]) + d[101:], "MGH01"),
        (lambda d: d[:10] + b"\x05" + d[11:], "MGP04"),
    ],
    ids=["truncated", "empty", "foreign", "flipped", "newer"],
)
@pytest.mark.parametrize("command", ["run", "compare", "inspect"])
def test_a_wrong_file_has_its_code(command: str, data: object, code: str, maxg: Maxg, counter: Path) -> None:
    counter.write_bytes(data(counter.read_bytes()))  # type: ignore[operator]
    done = maxg(command, counter, *(["-i", "x=[1]", "--state-out", "s.safetensors"] if command == "run" else []))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error[{code}]: ")
    assert not Path("s.safetensors").exists()


def test_a_fault_of_ours_is_reported(maxg: Maxg, counter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("maxgraph.format.open_file", broken)
    done = maxg("inspect", counter)
    assert done.code == 101
    assert done.err.startswith("error[MG099]: this is a fault in maxg\n  report  ")
    report = Path(done.err.splitlines()[1].split()[-1])
    assert "RuntimeError: a fault" in report.read_text()
    report.unlink()


def test_colour_only_where_it_is_wanted(maxg: Maxg, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in maxg("inspect", "nope").err
    assert "\x1b[31m" in maxg("--color", "always", "inspect", "nope").err
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31m" in maxg("inspect", "nope").err
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in maxg("inspect", "nope").err


def test_a_broken_pipe_is_quiet(counter: Path) -> None:
    command = f"'{MAXG}' run '{counter}' -i x='[1]' --steps 5000 --json | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith('{"schema": "maxg.run/1", "step": 0')
    assert done.stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_interrupt_leaves_the_state_file_whole(counter: Path, tmp_path: Path) -> None:
    state = tmp_path / "s.safetensors"
    state.write_bytes(b"kept")
    command = [
        str(MAXG),
        "run",
        str(counter),
        "-i",
        "x=[1]",
        "--steps",
        "100000000",
        "--json",
        "--state-out",
        str(state),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.strip() == "interrupted"
    assert state.read_bytes() == b"kept"
