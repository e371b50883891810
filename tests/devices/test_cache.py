"""The disk cache of kernels."""

from __future__ import annotations

import threading

import pytest

from tensorx.errors import KernelError
from tensorx.kernels import cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TENSORX_CACHE_DIR", str(tmp_path))
    cache._checked.cache_clear()
    cache._prune.cache_clear()
    yield tmp_path / "kernels"
    cache._checked.cache_clear()
    cache._prune.cache_clear()


def fetch(*parts, value=b"binary"):
    """The bytes, and whether they were made just now."""
    made = []
    return cache.fetch(parts, lambda: made.append(1) or value), bool(made)


def test_made_once(folder):
    before = cache.counters.compiled, cache.counters.found
    assert fetch("source", "device") == (b"binary", True)
    assert fetch("source", "device") == (b"binary", False)
    assert fetch("source", "other device") == (b"binary", True)
    assert fetch("sourcedevice", "") == (b"binary", True)
    assert (cache.counters.compiled, cache.counters.found) == (before[0] + 3, before[1] + 1)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:-1] + b"?", lambda b: b + b"x", lambda b: b"X" + b[1:]]
)
def test_a_damaged_entry_is_rebuilt(folder, damage):
    fetch("source")
    (entry,) = folder.iterdir()
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    assert fetch("source") == (b"binary", True)
    assert entry.read_bytes() == good


def test_an_entry_under_another_name_is_not_taken(folder):
    fetch("a", value=b"A")
    (first,) = folder.iterdir()
    fetch("b", value=b"B")
    (second,) = set(folder.iterdir()) - {first}
    second.write_bytes(first.read_bytes())
    assert fetch("b", value=b"B") == (b"B", True)


def test_a_folder_that_others_can_write_is_left_alone(folder):
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert fetch("source")[1]
    assert fetch("source")[1]
    assert not list(folder.iterdir())


def test_a_folder_that_is_a_link_is_left_alone(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    assert fetch("source")[1]
    assert cache.folder() is None


def test_a_place_that_cannot_be_made(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TENSORX_CACHE_DIR", str(tmp_path / "file"))
    assert fetch("source") == (b"binary", True)
    assert fetch("source") == (b"binary", True)


def test_a_full_disk_loses_the_cache_only(folder, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.os, "replace", full)
    assert fetch("source") == (b"binary", True)
    assert not list(folder.iterdir())


def test_an_intact_entry_that_the_driver_refuses_is_made_anew(folder):
    fetch("source", value=b"old")

    def use(payload):
        if payload == b"old":
            raise KernelError("written by another driver")
        return payload.decode()

    assert cache.load(["source"], lambda: b"new", use) == "new"
    assert fetch("source") == (b"new", False)
    with pytest.raises(KernelError):
        cache.load(["other source"], lambda: b"old", use)


def test_errors_of_the_build_pass_through(folder):
    def refuse():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        cache.fetch(["source"], refuse)


def test_old_entries_go(folder, monkeypatch):
    for i in range(6):
        fetch(str(i), value=bytes(1000))
    monkeypatch.setattr(cache, "_KEEP", 3000)
    cache._prune.cache_clear()
    fetch("new", value=bytes(1000))
    assert len(list(folder.iterdir())) == 4


def test_threads(folder):
    wrong = []

    def work(i):
        for j in range(40):
            value = str(j).encode() * 100
            if cache.fetch([str(j)], lambda value=value: value) != value:
                wrong.append((i, j))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(list(folder.iterdir())) == 40
