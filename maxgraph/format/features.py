"""What a reader must know to read a file right."""

from __future__ import annotations

__all__ = ["CONTROL_FLOW", "DIM_EXPR", "DIM_FLOORDIV", "EXTERNAL_WEIGHTS", "FIRST_VERSION", "KNOWN", "STATES"]

STATES = "states"
EXTERNAL_WEIGHTS = "external_weights"
DIM_EXPR = "dim_expr"
DIM_FLOORDIV = "dim_floordiv"
CONTROL_FLOW = "control_flow"
#: The features that this version reads, and the container version that introduced each.
FIRST_VERSION = {CONTROL_FLOW: "1.0", STATES: "1.0", EXTERNAL_WEIGHTS: "1.0", DIM_EXPR: "1.0", DIM_FLOORDIV: "1.0"}
KNOWN = frozenset(FIRST_VERSION)
