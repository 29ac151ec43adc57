"""Random changes of a header message that keep it a message: what a forger would try, and random bytes never reach."""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

__all__ = ["mutate"]

_NUMBERS = (*range(5), 7, 8, 31, 32, 33, 63, 64, 255, 1024, 2**31 - 1, 2**32 - 1, 2**40, 2**62, 2**63 - 1, 2**64 - 1)
_TEXTS = ("", "x", "n", "a", "0", "../x", "*/_ORT_MEM_ADDR_/*", "\x1b[31m", "a" * 300, "maxg", "axis", "é", "a\0b")
_FLOATS = (0.0, -0.0, 1.5, float("inf"), float("nan"), 5e-324)
_BOUNDS = {
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_SINT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_ENUM: (0, 2**31 - 1),
}


def mutate(model: Message, rng: random.Random) -> None:
    """Changes one to three fields somewhere in the message."""
    for _ in range(rng.randint(1, 3)):
        messages = _messages(model)
        message = rng.choice([m for m in messages if m.DESCRIPTOR.fields])
        field = rng.choice(list(message.DESCRIPTOR.fields))
        if field.is_repeated:
            _change_list(getattr(message, field.name), field, messages, rng)
        elif rng.random() < 0.1:
            message.ClearField(field.name)
        elif field.message_type is not None:
            same = [m for m in messages if m.DESCRIPTOR is field.message_type]
            getattr(message, field.name).CopyFrom(rng.choice(same) if same else field.message_type._concrete_class())
        else:
            setattr(message, field.name, _scalar(field, getattr(message, field.name), rng))


def _messages(model: Message) -> list[Message]:
    found = [model]
    for message in found:
        for field, value in message.ListFields():
            if field.message_type is not None:
                found += value if field.is_repeated else [value]
    return found


def _change_list(values: Any, field: FieldDescriptor, messages: list[Message], rng: random.Random) -> None:
    count = len(values)
    match rng.randrange(4):
        case 0 if count:
            del values[rng.randrange(count)]
        case 1 if count > 1:
            a, b = rng.sample(range(count), 2)
            items = [_copy(v) for v in values]
            items[a], items[b] = items[b], items[a]
            del values[:]
            values.extend(items)
        case 2 if field.message_type is not None:
            same = [m for m in messages if m.DESCRIPTOR is field.message_type]
            values.append(rng.choice(same) if same else field.message_type._concrete_class())
        case 2:
            values.append(_scalar(field, values[0] if count else None, rng))
        case _ if count and field.message_type is None:
            at = rng.randrange(count)
            values[at] = _scalar(field, values[at], rng)


def _copy(value: Any) -> Any:
    if isinstance(value, Message):
        copy = type(value)()
        copy.CopyFrom(value)
        return copy
    return value


def _scalar(field: FieldDescriptor, old: Any, rng: random.Random) -> Any:
    if field.type == FieldDescriptor.TYPE_BOOL:
        return not old
    if field.type == FieldDescriptor.TYPE_DOUBLE:
        return rng.choice(_FLOATS)
    if field.type == FieldDescriptor.TYPE_STRING:
        return rng.choice((*_TEXTS, (old or "") + "x"))
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.choice((b"", b"\0", b"\xff" * 32, (old or b"")[:-1], (old or b"") + b"\1", b"\2" * len(old or b"")))
    low, high = _BOUNDS[field.type]
    value = rng.choice((rng.choice(_NUMBERS), (old or 0) + 1, (old or 0) - 1, -(old or 0), -rng.choice(_NUMBERS)))
    return min(max(value, low), high)
