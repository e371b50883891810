"""Built kernels on disk, so that a program compiles once and not once a run.

The folder is used only when it is ours alone (mode 0700): a binary is loaded into the process, and some drivers
crash on a damaged one. So each entry carries a checksum, appears by an atomic rename, and is rebuilt without a word
when it cannot be read. Losing the cache loses time and nothing else.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tensorx.errors import KernelError

T = TypeVar("T")

_MAGIC = b"tensorx kernel 1\n"
_DIGEST = 32  # bytes of a SHA-256
_KEEP = 1 << 30  # bytes; above it the oldest half goes, looked at once a process


@dataclass
class Counters:
    """Programs compiled and programs found on disk by this process."""

    compiled: int = 0
    found: int = 0


counters = Counters()
_lock = threading.RLock()  # the collector may run finalizers that build


def _after_fork() -> None:
    """Another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def wanted_folder(room: str = "kernels") -> Path:
    """Where the cache would be: below TENSORX_CACHE_DIR, else XDG_CACHE_HOME/tensorx, else ~/.cache/tensorx."""
    base = os.environ.get("TENSORX_CACHE_DIR")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tensorx")
    return Path(base, room)


def folder(room: str = "kernels") -> Path | None:
    """The folder in use, made if need be; None (no cache) when it cannot be made or others could write to it."""
    return _checked(wanted_folder(room))


@functools.cache
def _checked(path: Path) -> Path | None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = os.lstat(path)
    except OSError:
        return None
    mine = not hasattr(os, "getuid") or (info.st_uid == os.getuid() and not info.st_mode & 0o077)
    return path if stat.S_ISDIR(info.st_mode) and mine else None


def fetch(key_parts: Sequence[str], make: Callable[[], bytes]) -> bytes:
    """The bytes that ``make`` gave for these key parts, in this process or an earlier one.

    The key must hold all that the bytes depend on: source text and the device's fingerprint. Errors of ``make`` pass
    through; errors of the disk never do.
    """
    return load(key_parts, make, lambda payload: payload)


def load(key_parts: Sequence[str], make: Callable[[], bytes], use: Callable[[bytes], T]) -> T:
    """``use`` of what :func:`fetch` gives. An entry from the disk that ``use`` refuses (KernelError) is made anew."""
    key = _key(key_parts)
    place = folder()
    payload = _read(place / key.hex(), key) if place else None
    if payload is not None:
        with contextlib.suppress(KernelError):  # intact, but the driver that wrote it is another one now
            result = use(payload)
            with _lock:
                counters.found += 1
            return result
    payload = make()
    with _lock:
        counters.compiled += 1
    if place:
        with contextlib.suppress(OSError):  # full or read-only disk
            _write(place, key, payload)
    return use(payload)


def recall(room: str, key_parts: Sequence[str]) -> bytes | None:
    """What :func:`keep` put into ``room`` under these key parts; None for nothing, or for a damaged file."""
    key, place = _key(key_parts), folder(room)
    return _read(place / key.hex(), key) if place else None


def keep(room: str, key_parts: Sequence[str], payload: bytes) -> bool:
    """Put ``payload`` into ``room``, beside the kernels, in one atomic step. False where nothing can be kept."""
    key, place = _key(key_parts), folder(room)
    if place is None:
        return False
    try:
        _write(place, key, payload)
    except OSError:  # full or read-only disk
        return False
    return True


def _key(key_parts: Sequence[str]) -> bytes:
    return hashlib.sha256(b"\0".join(part.encode() for part in key_parts)).digest()


def _checksum(key: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(key + payload).digest()


def _read(path: Path, key: bytes) -> bytes | None:
    """The payload, or None when there is no such entry or it is not exactly what was written under this key."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST
    payload = data[start:]
    good = data.startswith(_MAGIC) and data[len(_MAGIC) : start] == _checksum(key, payload)
    return payload if good else None


def _write(place: Path, key: bytes, payload: bytes) -> None:
    _prune(place)
    handle, temporary = tempfile.mkstemp(dir=place, prefix="new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + _checksum(key, payload) + payload)
        os.replace(temporary, place / key.hex())
    except OSError:
        os.unlink(temporary)
        raise


@functools.cache
def _prune(place: Path) -> None:
    """Keep the folder below _KEEP bytes."""
    entries = [(info.st_mtime, info.st_size, entry.path) for entry in os.scandir(place) if (info := _info(entry))]
    if sum(size for _, size, _ in entries) > _KEEP:
        for _, _, path in sorted(entries)[: len(entries) // 2]:
            with contextlib.suppress(OSError):  # another process was first
                os.unlink(path)


def _info(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # another process removed it
        return None
