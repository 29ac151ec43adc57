"""Metadata and producer: text for people, which never changes what a graph computes."""

from __future__ import annotations

from ..v1 import model_pb2
from .checks import check_sorted, text
from .errors import need
from .limits import Limits

__all__ = ["decode_metadata"]

_PRODUCER_LENGTH = 256


def decode_metadata(model: model_pb2.Model, limits: Limits) -> dict[str, str]:
    """The metadata by key.

    Raises:
        FormatError: They are not sorted, too many or too long, or the producer is malformed.
    """
    entries = model.metadata
    need(len(entries) <= limits.metadata, "MGM01", f"{len(entries)} entries of metadata, over {limits.metadata}")
    check_sorted([entry.key for entry in entries], "MGM01", "metadata")
    for entry in entries:
        need(entry.key != "", "MGM01", "a metadata key is empty")
        text(entry.key, limits, "MGM01", "a metadata key")
        text(entry.value, limits, "MGM01", "a metadata value")
    need(not model.sources, "MGM01", "the model records sources, which this version does not read")
    for part in (model.producer.name, model.producer.version):
        need(len(part) <= _PRODUCER_LENGTH and "\0" not in part, "MGM01", "a malformed producer")
    return {entry.key: entry.value for entry in entries}
