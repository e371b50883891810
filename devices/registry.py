"""Device strings, and the backends behind them (imported on first use).

Strings: ``cpu``, ``opencl``, ``opencl:0``, ``opencl:pocl`` (also intel, amd, nvidia, rusticl, and ``pocl@3.1`` for a
driver whose version starts so: resolved to an index when parsed), ``meta``, ``null``, ``auto`` (a real GPU if there
is one, else cpu). ``TENSORX_DEVICE`` names the default device, ``TENSORX_VISIBLE_DEVICES`` (such as
``opencl:1,opencl:pocl``) hides all other non-cpu devices; indices do not shift when others are hidden.
"""

from __future__ import annotations

import importlib
import os
import threading
from typing import Any, Self, cast

from tensorx.devices.base import Backend, Device
from tensorx.errors import BackendUnavailable, DeviceError

#: A backend costs one line here.
BACKENDS = {
    "cpu": "tensorx.devices.cpu",
    "opencl": "tensorx.devices.opencl",
    "cuda": "tensorx.devices.cuda",
    "sycl": "tensorx.devices.sycl",
    "null": "tensorx.devices.null",
    "meta": "tensorx.devices.meta",
}
#: Where "auto" looks for a real GPU, best first.
AUTO_ORDER = ("cuda", "sycl", "opencl")
#: Kinds that TENSORX_VISIBLE_DEVICES never hides: they are no hardware of their own.
_ALWAYS = frozenset(("cpu", "null", "meta"))
#: Kinds of which there is one device, named without an index.
_SINGLE = frozenset(("cpu", "meta"))

_lock = threading.RLock()
_interned: dict[tuple[str, int | None], device] = {}
_backends: dict[str, Backend] = {}


def _after_fork() -> None:
    """Another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class device:
    """A device's name: ``device("opencl:0")``, ``device("opencl", 0)``; look-alike of ``torch.device``. Interned, so
    ``is`` is equality.

    Also a context manager that sets the default device. Raises DeviceError for a string that names nothing,
    BackendUnavailable for a backend that cannot be used here.

    >>> device("cpu") is device("cpu"), device("opencl:1")
    (True, device(type='opencl', index=1))
    >>> str(device("meta"))
    'meta'
    """

    __slots__ = ("__weakref__", "index", "runtime", "type")
    type: str
    index: int | None
    runtime: Device | None  # the opened Device; None until open() was called

    def __new__(cls, type: Any, index: int | None = None) -> Self:
        if type.__class__ is cls and index is None:
            return type
        return cast("Self", _parse(type, index))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"device: attribute {name!r} must not be changed; a device is immutable")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return (
            f"device(type={self.type!r})" if self.index is None else f"device(type={self.type!r}, index={self.index})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (_intern, (self.type, self.index))

    def __copy__(self) -> device:
        return self

    def __deepcopy__(self, memo: Any) -> device:
        return self

    def __enter__(self) -> Self:
        _default.stack.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _default.stack.pop()


class _Default(threading.local):
    """``with device(...)`` is per thread; ``set_default`` is for all threads, as in PyTorch."""

    def __init__(self) -> None:
        self.stack: list[device] = []


_default = _Default()
_process_default: device | None = None


def _intern(kind: str, index: int | None) -> device:
    found = _interned.get((kind, index))
    if found is None:
        with _lock:
            found = _interned.get((kind, index))
            if found is None:
                found = object.__new__(device)
                for name, value in (("type", kind), ("index", index), ("runtime", None)):
                    object.__setattr__(found, name, value)
                _interned[kind, index] = found
    return found


def _parse(spec: Any, index: int | None) -> device:
    if isinstance(spec, int) and not isinstance(spec, bool) and index is None:
        kind = auto().type
        if kind == "cpu":
            raise DeviceError(f"device: an index must name an accelerator; got {spec}, and there is none here")
        return _checked(kind, spec)
    if not isinstance(spec, str):
        raise TypeError(f"device: argument 'type' must be a string, an int or a device; got {spec.__class__.__name__}")
    kind, colon, tail = spec.partition(":")
    if index is not None:
        if colon:
            raise DeviceError(
                f"device: argument 'type' must not include an index when 'index' is given; got {spec!r} and {index!r}"
            )
        tail = str(index)
    if kind == "auto" and not colon and index is None:
        return auto()
    if kind not in BACKENDS:
        raise DeviceError(
            f"device: argument 'type' must start with one of {', '.join(BACKENDS)} or be 'auto'; got {spec!r}"
        )
    if not colon and index is None:
        return _intern(kind, None)
    if tail.isdecimal() and tail.isascii():
        return _checked(kind, int(tail))
    return _intern(kind, _resolve_alias(kind, tail, spec))


def _checked(kind: str, index: int) -> device:
    if kind in _SINGLE and index != 0:
        raise DeviceError(f"device: the index of {kind!r} must be 0 or absent; got {index}")
    return _intern(kind, index)


def _resolve_alias(kind: str, alias: str, spec: str) -> int:
    back = backend(kind)
    if alias.partition("@")[0] not in back.aliases:
        names = f", or one of {', '.join(back.aliases)}" if back.aliases else ""
        raise DeviceError(f"device: what follows the colon must be an index{names}; got {spec!r}")
    _require(back)
    found = back.match(alias)
    if found is None:
        have = "; ".join(f"{d.kind}:{d.index} = {d.name} ({d.driver})" for d in back.devices()) or "none"
        raise BackendUnavailable(
            f"device: {spec!r} must match an installed platform or device; there are: {have}. "
            "Hint: python -m tensorx devices"
        )
    return found


def backend(kind: str) -> Backend:
    """The backend of a kind, imported on first use."""
    found = _backends.get(kind)
    if found is None:
        found = _backends[kind] = importlib.import_module(BACKENDS[kind]).BACKEND
    return found


def _require(back: Backend) -> None:
    reason = back.available()
    if reason:
        raise BackendUnavailable(f"device: backend {back.name!r} is not available here: {reason}")


def visible(dev: Device) -> bool:
    """Whether TENSORX_VISIBLE_DEVICES (unset: everything) lets ``dev`` be used."""
    text = os.environ.get("TENSORX_VISIBLE_DEVICES")
    if text is None or dev.kind in _ALWAYS:
        return True
    for word in filter(None, (w.strip() for w in text.split(","))):
        kind, colon, tail = word.partition(":")
        if kind not in BACKENDS:
            raise DeviceError(f"TENSORX_VISIBLE_DEVICES: each word must be a device string; got {word!r}")
        if kind != dev.kind:
            continue
        if not colon or tail == str(dev.index) or (not tail.isdecimal() and backend(kind).match(tail) == dev.index):
            return True
    return False


def open(dev: device) -> Device:
    """The running Device behind a name, opened once. Without an index: the first visible device of the kind."""
    if dev.runtime is not None:
        return dev.runtime
    with _lock:
        back = backend(dev.type)
        _require(back)
        all_devices = back.devices()
        usable = [d for d in all_devices if visible(d)]
        wanted = [d for d in usable if dev.index is None or d.index == dev.index]
        if not wanted:
            hidden = " (hidden by TENSORX_VISIBLE_DEVICES)" if len(usable) < len(all_devices) else ""
            have = ", ".join(f"{d.kind}:{d.index}" for d in usable) or "none"
            raise BackendUnavailable(
                f"device: {str(dev)!r} must be one of the visible devices: {have}{hidden}. "
                "Hint: python -m tensorx devices"
            )
        wanted[0].open()
        if os.environ.get("TENSORX_SYNC", "0") != "0" and not wanted[0].synchronous:
            wanted[0].make_synchronous()
        object.__setattr__(dev, "runtime", wanted[0])
        return wanted[0]


def resolve(spec: Any = None) -> device:
    """The opened device that a tensor carries: None gives the default; ``opencl`` gives ``opencl:0``; ``cpu:0``
    gives ``cpu``.

    >>> resolve("cpu:0")
    device(type='cpu')
    """
    dev = default() if spec is None else device(spec)
    if dev.runtime is None or (dev.index is None) != (dev.type in _SINGLE):
        running = open(dev)
        dev = _intern(dev.type, None if dev.type in _SINGLE else running.index)
        object.__setattr__(dev, "runtime", running)
    return dev


def default() -> device:
    """The default device: of the innermost ``with device(...)``, else of :func:`set_default`, else TENSORX_DEVICE,
    else cpu.
    """
    if _default.stack:
        return _default.stack[-1]
    return _process_default or set_default(None)


def set_default(spec: Any) -> device:
    """Set the default device of the process; None returns to TENSORX_DEVICE or cpu."""
    global _process_default
    _process_default = device(os.environ.get("TENSORX_DEVICE") or "cpu" if spec is None else spec)
    return _process_default


def auto() -> device:
    """The first visible device that is a real GPU, in the order CUDA, SYCL, OpenCL; else cpu (never OpenCL on the
    same CPU).
    """
    for kind in AUTO_ORDER:
        if backend(kind).available():
            continue
        for dev in backend(kind).devices():
            if not dev.capabilities.cpu_like and dev.capabilities.long_loops and visible(dev):
                return _intern(kind, dev.index)
    return _intern("cpu", None)
