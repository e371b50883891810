"""From a kernel spec to a kernel on a device: render, look in the disk cache, build, load."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from tensorx.devices import registry
from tensorx.devices.base import Device
from tensorx.kernels.spec import KernelSpec
from tensorx.locks import Lock

_lock = Lock()
#: By the opened device, not by its name: its capabilities are frozen, and the kernels are rendered for these.
_kernels: dict[tuple[Device, KernelSpec], Any] = {}
_watchers: list[list[Any]] = []


def kernel(device: registry.device, spec: KernelSpec) -> Any:
    """The loaded kernel of ``spec`` on ``device``; built once a process, and once a machine while the disk cache lives."""
    runtime = device.runtime or registry.open(device)
    found = _kernels.get((runtime, spec))
    if found is None:
        with _lock.mutex:
            if (runtime, spec) not in _kernels:
                program(device, [spec])
            found = _kernels[runtime, spec]
    return found


def program(device: registry.device, specs: Sequence[KernelSpec]) -> None:
    """Build several kernels as one program: a step's kernels, or a row's dtype variants, cost one compile."""
    runtime = registry.open(device)
    generator = importlib.import_module("tensorx.kernels.generator")
    cache = importlib.import_module("tensorx.kernels.cache")
    source = generator.render(list(specs), runtime.capabilities)
    for sources in _watchers:
        sources.append(source)
    key = (source.text, runtime.fingerprint)
    loaded = cache.load(key, lambda: runtime.build(source), lambda blob: runtime.load(blob, source))
    for spec in specs:
        _kernels[runtime, spec] = loaded[spec.entry]


@contextlib.contextmanager
def watching() -> Iterator[list[Any]]:
    """Collects the `Source` of every program that is built meanwhile."""
    sources: list[Any] = []
    _watchers.append(sources)
    try:
        yield sources
    finally:
        _watchers.remove(sources)


def forget() -> None:
    """Drop the loaded kernels (tests that count builds)."""
    _kernels.clear()
