"""How large a file may be. Every bound exists so that a small file cannot cost much."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT_LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that the reader holds to; see docs/format.md.

    The header's bound follows from a measurement: a parsed message takes up to 40 times its bytes, so 16 MiB stay below
    0.7 GB.
    """

    header_bytes: int = 16 << 20
    file_bytes: int = 1 << 46
    nodes: int = 1_000_000
    values: int = 4_000_000
    list_items: int = 1 << 16
    blobs: int = 1 << 18
    rank: int = 32
    elements: int = 1 << 46
    block_depth: int = 64
    string_bytes: int = 64 << 10
    literal_bytes: int = 1024
    dim_terms: int = 64
    dim_degree: int = 8
    metadata: int = 1024


DEFAULT_LIMITS = Limits()
