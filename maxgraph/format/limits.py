"""How large a file may be. Every bound exists so that a small file cannot cost much."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.ir import BLOCK_DEPTH

__all__ = ["DEFAULT_LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that the reader holds to, and so the writer.

    The header's bound follows from a measurement: a parsed message takes up to 40 times its bytes, so 16 MiB stay below
    0.7 GB.

    Attributes:
        block_depth: Blocks inside one another, the body left out.
        dim_terms: Terms of one dim expression.
        dim_degree: Factors of one term.
        dim_size: Factors of one expression, floor divisions written out. A division that names another twice doubles
            its size, so without this bound forty divisions would be a terabyte of text.
        dim_depth: Floor divisions inside one another.
        shape_terms: Terms of the product of a shape's dims, which is what it costs to count the elements; and of all
            different symbolic dims of a node's operands, which is what it costs to join them.
    """

    header_bytes: int = 16 << 20
    file_bytes: int = 1 << 46
    nodes: int = 1_000_000
    values: int = 4_000_000
    list_items: int = 1 << 16
    blobs: int = 1 << 18
    external_files: int = 1024
    block_depth: int = BLOCK_DEPTH
    rank: int = 32
    elements: int = 1 << 46
    string_bytes: int = 64 << 10
    literal_bytes: int = 1024
    metadata: int = 1024
    dim_terms: int = 64
    dim_degree: int = 8
    dim_size: int = 512
    dim_depth: int = 16
    shape_terms: int = 256


DEFAULT_LIMITS = Limits()
