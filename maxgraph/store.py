"""A folder of entries that may be lost at any time: what is dear to compute is kept there, and never trusted blindly.

An entry is one file, named after its key::

    magic (8 bytes) | SHA-256 of all that follows (32) | length of the facts (4) | facts, JSON | body

It appears whole or not at all, because it is written beside its place and then moved there. One that is damaged, cut
short or stands under another name is as good as none. So no lock is needed: the worst that two processes can do to each
other is to compute the same thing twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["DEFAULT_LIMIT", "Entry", "Store"]

_MAGIC = b"MAXGKEPT"
_HEAD = len(_MAGIC) + 32 + 4
_SUFFIX = ".entry"
_NAME = re.compile(r"[0-9a-f]{64}\.entry", re.ASCII)
_TEMPORARY = re.compile(r"\.[0-9a-f]{64}\.[0-9a-f]{12}\.tmp", re.ASCII)
#: Facts are a few names; more is no entry of ours.
_FACTS_BYTES = 1 << 16
#: So long after its last change a temporary file belongs to a process that is gone.
_ABANDONED_SECONDS = 3600
#: Entries that are kept at most; looking through the folder takes time in proportion.
_ENTRIES = 4096
#: So many entries are written between two looks at the folder's size.
_WRITES_PER_LOOK = 64

DEFAULT_LIMIT = 1 << 30


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, as its head tells; its body has not been looked at.

    Attributes:
        key: What it is found by, in hexadecimal.
        facts: What its writer said about it, for people.
        num_bytes: The size of its file.
        used: When it was last read or written, in seconds since 1970.
    """

    key: str
    facts: Mapping[str, Any]
    num_bytes: int
    used: float


class Store:
    """Entries by key.

    Nothing here raises because of the folder or of what is in it: an entry that cannot be had is None, and one that
    cannot be written is not there.

    Args:
        folder: Where the entries are; made when it is needed, for this user alone.
        limit: Bytes that all entries may take; those that were not used for longest have to go.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store, key = Store(folder), hashlib.sha256(b"question").hexdigest()
        ...     before = store.get(key)
        ...     store.put(key, {"kind": "example"}, [b"42"])
        ...     before, store.get(key), len(store.entries())
        True
        (None, b'42', 1)
    """

    def __init__(self, folder: str, limit: int = DEFAULT_LIMIT) -> None:
        self.folder = folder
        self.limit = limit
        self._until_look = 0

    def problem(self) -> str | None:
        """Why the folder cannot be used; None if it can. It is made if it is not there."""
        if not os.path.isabs(self.folder):  # the system knows no home, and this would be a place under any folder
            return "it is not an absolute path"
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        except (OSError, ValueError) as error:
            return f"it cannot be made: {getattr(error, 'strerror', None) or error}"
        return self._suspicion() or (None if os.access(self.folder, os.W_OK | os.X_OK) else "it cannot be written to")

    def _suspicion(self) -> str | None:
        """Why nothing in the folder is to be believed: others may have written it."""
        if not os.path.isabs(self.folder):
            return "it is not an absolute path"
        try:
            found = os.stat(self.folder)
        except (OSError, ValueError):
            return "it is not there"
        if not stat.S_ISDIR(found.st_mode):
            return "it is not a folder"
        if os.name == "posix":  # elsewhere the user's own folders are closed to others by default
            if found.st_uid != os.geteuid():
                return "it belongs to another user"
            if found.st_mode & 0o022:
                return "others may write to it (chmod go-w mends that)"
        return None

    def get(self, key: str) -> bytes | None:
        """The body of an entry, whose digest was checked; None if there is no such entry."""
        if self._suspicion() is not None:
            return None
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                head = file.read(_HEAD)
                digest, length = _parse_head(head)
                if length is None:
                    return None
                described = file.read(length)
                body = file.read()
        except OSError:
            return None
        hasher = hashlib.sha256(head[-4:] + described)
        hasher.update(body)
        facts = _parse_facts(described)
        if hasher.digest() != digest or facts is None or facts.get("key") != key:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return body

    def put(self, key: str, facts: Mapping[str, Any], body: Iterable[bytes | memoryview]) -> bool:
        """Writes an entry, in place of the old one. Says whether it is there."""
        if self.problem() is not None:
            return False
        described = json.dumps({**facts, "key": key}).encode()
        parts = [len(described).to_bytes(4, "little"), described, *body]
        size = len(_MAGIC) + 32 + sum(len(part) for part in parts)
        if len(described) > _FACTS_BYTES or size > self.limit:
            return False
        hasher = hashlib.sha256()
        for part in parts:
            hasher.update(part)
        path = self._path(key)
        temporary = os.path.join(self.folder, f".{key}.{secrets.token_hex(6)}.tmp")
        try:
            with open(temporary, "xb") as file:
                file.write(_MAGIC + hasher.digest())
                file.writelines(parts)
            os.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            return False
        self._until_look -= 1
        if self._until_look < 0 or size > self.limit // _WRITES_PER_LOOK:
            self._until_look = _WRITES_PER_LOOK
            self._shrink()
        return True

    def drop(self, key: str) -> None:
        """Removes an entry, if it is there."""
        with contextlib.suppress(OSError):
            os.unlink(self._path(key))

    def entries(self) -> list[Entry]:
        """All entries, the one used last first."""
        found = []
        for item in self._files(_NAME):
            try:
                with open(item.path, "rb") as file:
                    _, length = _parse_head(file.read(_HEAD))
                    facts = None if length is None else _parse_facts(file.read(length))
                state = item.stat()
            except OSError:
                continue  # another process has removed it
            key = item.name.removesuffix(_SUFFIX)
            if facts is not None and facts.get("key") == key:
                found.append(Entry(key, facts, state.st_size, state.st_mtime))
        return sorted(found, key=lambda entry: (-entry.used, entry.key))

    def clear(self, older_than: float | None = None) -> tuple[int, int]:
        """Removes entries, and what else of ours is in the folder.

        Args:
            older_than: Only what was not used for so many seconds.

        Returns:
            How many files were removed, and their bytes.
        """
        now, count, freed = time.time(), 0, 0
        for item in [*self._files(_NAME), *self._files(_TEMPORARY)]:
            with contextlib.suppress(OSError):
                state = item.stat()
                if older_than is None or now - state.st_mtime > older_than:
                    os.unlink(item.path)
                    count, freed = count + 1, freed + state.st_size
        return count, freed

    def _shrink(self) -> None:
        """Removes what nobody owns any more, then those entries that were not used for longest."""
        now = time.time()
        for item in self._files(_TEMPORARY):
            with contextlib.suppress(OSError):
                if now - item.stat().st_mtime > _ABANDONED_SECONDS:
                    os.unlink(item.path)
        files = []
        for item in self._files(_NAME):
            with contextlib.suppress(OSError):
                state = item.stat()
                files.append((state.st_mtime, state.st_size, item.path))
        files.sort(reverse=True)
        total = 0
        for at, (_, size, path) in enumerate(files):
            total += size
            if total > self.limit or at >= _ENTRIES:
                with contextlib.suppress(OSError):
                    os.unlink(path)

    def _files(self, pattern: re.Pattern[str]) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(self.folder) as found:
                yield from [item for item in found if pattern.fullmatch(item.name)]
        except (OSError, ValueError):
            return

    def _path(self, key: str) -> str:
        if not _NAME.fullmatch(key + _SUFFIX):
            raise ValueError(f"a key is 64 hexadecimal digits, not {key!r}")
        return os.path.join(self.folder, key + _SUFFIX)


def _parse_head(head: bytes) -> tuple[bytes, int | None]:
    """The digest and the length of the facts; None as the length if this is no entry."""
    if len(head) != _HEAD or not head.startswith(_MAGIC):
        return b"", None
    length = int.from_bytes(head[-4:], "little")
    return head[len(_MAGIC) : -4], length if length <= _FACTS_BYTES else None


def _parse_facts(text: bytes) -> dict[str, Any] | None:
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) else None
