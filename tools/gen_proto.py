"""Writes the Python code of the schema, or checks that what is checked in is what the pinned generator makes.

Usage: python tools/gen_proto.py [--check]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

GENERATOR = "1.76.0"
ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "proto"
PACKAGE = Path("maxgraph/v1")


def generate(target: Path) -> None:
    """Writes the code under `target`."""
    sources = sorted(str(path.relative_to(SCHEMA)) for path in (SCHEMA / PACKAGE).glob("*.proto"))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "grpc_tools.protoc",
            f"--proto_path={SCHEMA}",
            f"--python_out={target}",
            f"--pyi_out={target}",
            *sources,
        ],
        check=True,
    )


def differences() -> list[str]:
    """The generated files that are missing, stale or too many."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh = {p.name: p.read_bytes() for p in (Path(folder) / PACKAGE).iterdir()}
    there = {p.name: p.read_bytes() for p in (ROOT / PACKAGE).glob("*_pb2.py*")}
    return sorted(name for name in fresh.keys() | there.keys() if fresh.get(name) != there.get(name))


def main() -> int:
    """Runs the command."""
    try:
        found = version("grpcio-tools")
    except PackageNotFoundError:
        found = "none"
    if found != GENERATOR:
        print(f"error: grpcio-tools {GENERATOR} is needed, found {found}", file=sys.stderr)
        return 2
    if "--check" not in sys.argv[1:]:
        generate(ROOT)
        return 0
    stale = differences()
    for name in stale:
        print(f"error: {PACKAGE / name} is not what the schema gives; run `make proto`", file=sys.stderr)
    buf = Path(sys.executable).with_name("buf")
    if not buf.exists():
        print("error: buf is needed; it comes with the package buf-bin", file=sys.stderr)
        return 2
    checks = (["lint"], ["format", "--diff", "--exit-code"])
    failed = [args for args in checks if subprocess.run([str(buf), *args, str(SCHEMA)], check=False).returncode]
    return 1 if stale or failed else 0


if __name__ == "__main__":
    sys.exit(main())
