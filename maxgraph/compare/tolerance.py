"""How far apart two numbers may be and still count as equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["DEFAULT_TOLERANCES", "Tolerance", "Tolerances"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """``abs(actual - expected) <= atol + rtol * abs(expected)``."""

    rtol: float = 0.0
    atol: float = 0.0


#: Those of torch.testing. Every other dtype must be equal: ints, bools, and floats of 8 bits and fewer.
DEFAULT_TOLERANCES: dict[str, Tolerance] = {
    "float16": Tolerance(1e-3, 1e-5),
    "bfloat16": Tolerance(1.6e-2, 1e-5),
    "float32": Tolerance(1.3e-6, 1e-5),
    "float64": Tolerance(1e-7, 1e-7),
}


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What holds for each name and dtype: what is given for the name, then for all, then the dtype's default.

    Attributes:
        rtol, atol: For all names; None: the dtype's default.
        named_rtol, named_atol: By name of an output or a buffer.

    Example:
        >>> Tolerances(rtol=0.5, named_atol={"y": 0.25}).of("y", "int32")
        Tolerance(rtol=0.5, atol=0.25)
        >>> Tolerances().of("y", "float16")
        Tolerance(rtol=0.001, atol=1e-05)
    """

    rtol: float | None = None
    atol: float | None = None
    named_rtol: Mapping[str, float] = field(default_factory=dict)
    named_atol: Mapping[str, float] = field(default_factory=dict)

    def of(self, name: str, dtype: str) -> Tolerance:
        """The tolerance of one output or buffer."""
        default = DEFAULT_TOLERANCES.get(dtype, Tolerance())
        rtol = self.named_rtol.get(name, self.rtol)
        atol = self.named_atol.get(name, self.atol)
        return Tolerance(default.rtol if rtol is None else rtol, default.atol if atol is None else atol)
