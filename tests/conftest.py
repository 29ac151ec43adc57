"""What holds for all tests."""

from __future__ import annotations

import os

# Tests neither read nor fill the user's compile cache; those of the cache have a folder of their own.
os.environ["MAXG_CACHE"] = "off"
