"""From the header's bytes to its message: known features only, and the only bytes that the message may have."""

from __future__ import annotations

import hashlib

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from ..v1 import model_pb2
from . import features
from .checks import check_sorted
from .errors import escaped, fail
from .preamble import Preamble

__all__ = ["parse_header", "program_hash"]


def parse_header(header: bytes, preamble: Preamble) -> model_pb2.Model:
    """The message.

    Raises:
        FormatError: The bytes are damaged, malformed, not canonical, or need a feature that is not known.
    """
    if hashlib.sha256(header).digest() != preamble.header_sha256:
        fail("MGH01", "the header does not match its digest: the file is damaged", "copy or download it again")
    model = model_pb2.Model()
    try:
        model.ParseFromString(header)
    except (DecodeError, UnicodeDecodeError):
        fail("MGH02", "the header is no message of this format")
    _check_features(model)  # before unknown fields: it explains them better
    _check_canonical(model, header)
    return model


def _check_features(model: model_pb2.Model) -> None:
    check_sorted(list(model.required_features), "MGH03", "required features")
    for feature in model.required_features:
        if feature not in features.KNOWN:
            fail(
                "MGH04",
                f"the model needs feature `{escaped(feature)}`, which this maxgraph does not know",
                "upgrade with `pip install --upgrade maxg`",
            )


def _check_canonical(model: model_pb2.Model, header: bytes) -> None:
    """Raises unless the bytes are those that protobuf writes for the message without its unknown fields."""
    bare = model_pb2.Model()
    bare.CopyFrom(model)
    bare.DiscardUnknownFields()
    if bare.SerializeToString(deterministic=True) == header:
        return
    pending: list[Message] = [model]
    while pending:  # only to name the reason
        message = pending.pop()
        if len(UnknownFieldSet(message)):
            fail("MGH05", f"an unknown field in {message.DESCRIPTOR.name}")
        for field, value in message.ListFields():
            if field.message_type is not None:
                pending += value if field.is_repeated else [value]
    fail("MGH06", "the header is not in canonical form")


def program_hash(model: model_pb2.Model) -> str:
    """The hash of what the graph computes, in hexadecimal.

    Producer, debug information and metadata are left out, and so are the elements of weights: a program that was
    trained on keeps its hash.
    """
    bare = model_pb2.Model()
    bare.CopyFrom(model)
    for field in ("producer", "debug_info", "metadata", "sources", "blobs"):
        bare.ClearField(field)
    for weight in bare.weights:
        weight.ClearField("blob")
    for graph in bare.graphs:
        for block in graph.blocks:
            for node in block.nodes:
                node.ClearField("location")
    return hashlib.sha256(bare.SerializeToString(deterministic=True)).hexdigest()
