"""The store: entries are found whole or not at all, and the folder never grows beyond its limit."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from maxgraph import store as module
from maxgraph.store import Store
from maxgraph.user_store import parse_size


def key_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


KEY = key_of("one")


def path_of(store: Store, key: str = KEY) -> Path:
    return Path(store.folder, f"{key}.entry")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "cache"))


def test_what_is_put_is_found(store: Store) -> None:
    assert store.get(KEY) is None
    assert store.put(KEY, {"name": "g"}, [b"ab", memoryview(b"cd")])
    assert store.get(KEY) == b"abcd"
    (entry,) = store.entries()
    assert (entry.key, entry.facts["name"], entry.num_bytes) == (KEY, "g", path_of(store).stat().st_size)
    assert store.put(KEY, {}, [b"new"])
    assert store.get(KEY) == b"new"
    store.drop(KEY)
    store.drop(KEY)
    assert store.get(KEY) is None


def test_every_damaged_byte_and_every_length_is_noticed(store: Store) -> None:
    store.put(KEY, {"name": "g"}, [b"body of the entry"])
    whole = path_of(store).read_bytes()
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    for wrong in [*damaged, *(whole[:at] for at in range(len(whole))), whole + b"\0"]:
        path_of(store).write_bytes(wrong)
        assert store.get(KEY) is None
        store.entries()
    path_of(store).write_bytes(whole)
    assert store.get(KEY) == b"body of the entry"


def test_an_entry_under_another_name_is_none(store: Store) -> None:
    store.put(KEY, {}, [b"body"])
    path_of(store).rename(path_of(store, key_of("other")))
    assert store.get(key_of("other")) is None
    assert store.entries() == []


@pytest.mark.parametrize("facts", [b"[" * 30000, b'{"key": ', b"[]", b"\xff"], ids=["deep", "cut", "list", "binary"])
def test_facts_that_are_none(store: Store, facts: bytes) -> None:
    store.put(KEY, {}, [b"body"])
    rest = len(facts).to_bytes(4, "little") + facts
    path_of(store).write_bytes(b"MAXGKEPT" + hashlib.sha256(rest).digest() + rest)
    assert store.get(KEY) is None
    assert store.entries() == []


def test_those_used_last_stay(tmp_path: Path) -> None:
    store = Store(str(tmp_path), limit=4000)
    for at in range(4):
        store.put(key_of(str(at)), {"at": at}, [bytes(800)])
        os.utime(path_of(store, key_of(str(at))), (at, at))
    assert store.get(key_of("0")) is not None  # used now
    store.put(key_of("4"), {"at": 4}, [bytes(800)])
    assert [entry.facts["at"] for entry in store.entries()].count(1) == 0
    assert {entry.facts["at"] for entry in store.entries()} == {0, 2, 3, 4}
    assert sum(entry.num_bytes for entry in store.entries()) <= 4000


def test_an_entry_over_the_limit_is_not_kept(tmp_path: Path) -> None:
    store = Store(str(tmp_path), limit=1000)
    assert not store.put(KEY, {}, [bytes(1001)])
    assert os.listdir(tmp_path) == []


def test_the_number_of_entries_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ENTRIES", 10)
    store = Store(str(tmp_path))
    for at in range(200):
        store.put(key_of(str(at)), {}, [b"x"])
    assert len(os.listdir(tmp_path)) <= 10 + module._WRITES_PER_LOOK


def test_clear_takes_only_what_is_its_own(store: Store) -> None:
    store.put(KEY, {}, [b"body"])
    store.put(key_of("old"), {}, [b"body"])
    long_ago = time.time() - 1000
    os.utime(path_of(store, key_of("old")), (long_ago, long_ago))
    foreign = Path(store.folder, "notes.txt")
    foreign.write_text("mine")
    left = Path(store.folder, f".{KEY}.{'0' * 12}.tmp")
    left.write_bytes(b"half")
    assert store.clear(older_than=500)[0] == 1
    assert store.get(KEY) == b"body"
    assert store.clear()[0] == 2
    assert os.listdir(store.folder) == ["notes.txt"]
    assert store.clear() == (0, 0)


def test_what_a_killed_process_left_is_removed(store: Store) -> None:
    store.put(KEY, {}, [b"body"])
    left = Path(store.folder, f".{KEY}.{'0' * 12}.tmp")
    left.write_bytes(b"half")
    fresh = Store(store.folder)
    fresh.put(key_of("a"), {}, [b"body"])
    assert left.exists()  # its writer may still be at work
    os.utime(left, (0, 0))
    Store(store.folder).put(key_of("b"), {}, [b"body"])
    assert not left.exists()


@pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")
def test_a_folder_that_others_can_write_to_is_not_used(store: Store) -> None:
    assert store.put(KEY, {}, [b"body"])
    assert stat.S_IMODE(os.stat(store.folder).st_mode) == 0o700
    os.chmod(store.folder, 0o770)
    assert "others may write" in (store.problem() or "")
    assert store.get(KEY) is None
    assert not store.put(KEY, {}, [b"body"])


@pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")
def test_a_folder_of_another_user_is_not_used(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.put(KEY, {}, [b"body"])
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert store.problem() == "it belongs to another user"
    assert store.get(KEY) is None


def test_a_place_where_no_folder_can_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "below", tmp_path / "nul\0", "~/.cache/maxgraph", ""):
        store = Store(str(folder))
        assert store.problem() is not None
        assert store.get(KEY) is None
        assert not store.put(KEY, {}, [b"body"])
        assert (store.entries(), store.clear()) == ([], (0, 0))


def test_a_disk_that_is_full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not store.put(KEY, {}, [b"body"])
    assert os.listdir(store.folder) == []


def test_two_processes_at_once(store: Store) -> None:
    """Each writes, reads and clears; whatever is read is whole."""
    script = (
        "import sys\nfrom maxgraph.store import Store\n"
        f"store = Store({store.folder!r}, limit=20_000)\n"
        "for at in range(300):\n"
        "    key = f'{at % 7:064x}'\n"
        "    store.put(key, {}, [bytes([at % 7]) * 5000])\n"
        "    found = store.get(key)\n"
        "    assert found is None or found == bytes([at % 7]) * 5000\n"
        "    if at % 50 == int(sys.argv[1]):\n"
        "        store.clear()\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(at)], stderr=subprocess.PIPE, text=True) for at in (0, 25)
    ]
    assert [(p.communicate()[1], p.returncode) for p in running] == [("", 0), ("", 0)]


def test_facts_stay_readable_as_json(store: Store) -> None:
    store.put(KEY, {"name": "a\nb \u2028"}, [b""])
    (entry,) = store.entries()
    assert json.loads(json.dumps(entry.facts))["name"] == "a\nb \u2028"


@pytest.mark.parametrize("key", ["", "../x", "A" * 64, "0" * 63])
def test_a_key_that_is_no_digest(store: Store, key: str) -> None:
    with pytest.raises(ValueError, match="64 hexadecimal"):
        store.put(key, {}, [b""])


@pytest.mark.parametrize(("text", "size"), [("0", 0), ("1k", 1024), ("3 MB", 3 << 20), ("-1", None), ("1.5G", None)])
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size
