"""Kernels of many calls built as one program: each call runs first on a twin without hardware, which notes launches."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tensorx.devices import registry
from tensorx.devices.null import Null
from tensorx.ops import build

CHUNK = 32  # kernels a program: enough to share the cost of a compiler's start


class Twin(Null):
    """A device with the capabilities of another one, whose memory is zero and whose kernels do nothing."""

    def __init__(self, runtime: Any) -> None:
        super().__init__(0, runtime.capabilities.dialect)
        self.capabilities = dataclasses.replace(runtime.capabilities, host_callable=False)

    def launch(self, kernel: Any, grid: Any, args: Sequence[Any]) -> None:
        """Nothing runs."""


@functools.cache
def twin_of(runtime: Any) -> Any:
    """The twin's name: a device that the registry does not list."""
    name = registry._intern("null", 1000 + len(_twins))
    _twins.append(name)
    object.__setattr__(name, "runtime", Twin(runtime))
    return name


_twins: list[Any] = []


@contextlib.contextmanager
def collecting(twin: Any) -> Iterator[list[Any]]:
    """The specs that calls on ``twin`` ask for."""
    specs: dict[Any, None] = {}
    usual = build.kernel

    def kernel(device: Any, spec: Any) -> Any:
        if device is not twin:
            return usual(device, spec)
        specs[spec] = None
        return spec

    found: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "kernel", kernel)
        yield found
    found += specs


def prime(device: Any, calls: Sequence[Callable[[Any], Any]]) -> None:
    """Build what ``calls`` (functions of a device) will launch on ``device``; what they raise is not our business.

    A call may have an attribute ``launches``: a shorter call that launches the same.
    """
    if not device.runtime.capabilities.compiler:
        return
    twin = twin_of(device.runtime)
    with collecting(twin) as specs:
        for call in calls:
            with contextlib.suppress(Exception):
                getattr(call, "launches", call)(twin)
    missing = [s for s in specs if (device.runtime, s) not in build._kernels]
    for i in range(0, len(missing), CHUNK):
        build.program(device, missing[i : i + CHUNK])
