"""Real models and recordings, which do not come with the project: tests that need them are skipped where they are not.

``MAXG_MODELS`` names their folder; else it is ``../shared/models``. ``MAXG_REQUIRE=models`` makes a failure of a skip.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["MODELS", "need_models"]

MODELS = Path(os.environ.get("MAXG_MODELS", Path(__file__).resolve().parents[2] / "shared" / "models"))


def need_models(*names: str) -> None:
    """Skips the test where a file is missing."""
    missing = [name for name in names if not (MODELS / name).exists()]
    if missing and "models" in os.environ.get("MAXG_REQUIRE", "").split(","):
        pytest.fail(f"{', '.join(missing)} must be in {MODELS}")
    if missing:
        pytest.skip(f"{', '.join(missing)} not in {MODELS}; MAXG_MODELS names another folder")
