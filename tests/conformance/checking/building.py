"""Kernels of many calls built as one program: each call runs first on a twin without hardware, which notes launches."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import masking
import pytest

from checking import fitting
from tensorx.devices import registry
from tensorx.devices.null import Null
from tensorx.ops import build

CHUNK = 32  # kernels a program: enough to share the cost of a compiler's start


class Twin(Null):
    """A device with given capabilities, whose memory is zero and whose kernels do nothing.

    ``seen`` holds what was done on it since it was emptied.
    """

    def __init__(self, caps: Any) -> None:
        super().__init__(0, caps.dialect)
        self.capabilities = dataclasses.replace(caps, host_callable=False)
        self.seen: list[Any] = []
        self.misfits: list[str] = []

    def launch(self, kernel: Any, grid: Any, args: Sequence[Any]) -> None:
        """Nothing runs; ``kernel`` is the spec (see `collecting`). What the device could not run is noted."""
        self.seen.append((kernel, grid, [a for a in args if isinstance(a, int | float)]))
        self.misfits += fitting.of(kernel, grid, self.capabilities)

    def copy_out(self, buffer: Any, byte_offset: int, array: Any) -> None:
        """Zeros; an op that reads them may go on as it would not with its real values."""
        if _inside_an_op():
            self.seen.append(READ)
        super().copy_out(buffer, byte_offset, array)


READ = "values were read back"


def _inside_an_op() -> bool:
    """Whether the library called, and not a check that wants to see a result."""
    frame = sys._getframe(2)
    while frame is not None and not frame.f_globals["__name__"].startswith("checking."):
        if frame.f_globals["__name__"].startswith(("tensorx.ops.", "tensorx.autograd.")):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


@functools.cache
def twin_of(caps: Any) -> Any:
    """The twin's name: a device that the registry does not list."""
    name = registry._intern("null", 1000 + len(_twins))
    _twins.append(name)
    object.__setattr__(name, "runtime", Twin(caps))
    return name


_twins: list[Any] = []


@contextlib.contextmanager
def collecting(twin: Any) -> Iterator[list[Any]]:
    """The specs that calls on ``twin`` ask for; what was seen there before is forgotten."""
    twin.runtime.seen.clear()
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


def prime(device: Any, calls: Sequence[Callable[[Any], Any]], caps: Any = None) -> None:
    """Build what ``calls`` (functions of a device) will launch on ``device``; what they raise is not our business.

    A call may have an attribute ``launches``: a shorter call that launches the same. AssertionError for launches that
    the device (or one of capabilities ``caps``) could not run.
    """
    if not device.runtime.capabilities.compiler:
        return
    twin = twin_of(caps or device.runtime.capabilities)
    with collecting(twin) as specs:
        for call in calls:
            with contextlib.suppress(Exception):
                getattr(call, "launches", call)(twin)
    missing = [s for s in specs if (device.runtime, s) not in build._kernels]
    for i in range(0, len(missing), CHUNK):
        build.program(device, missing[i : i + CHUNK])
    misfits, twin.runtime.misfits = twin.runtime.misfits, []
    assert not misfits, f"{device} could not run:\n" + "\n".join(dict.fromkeys(misfits))


def trace(step: Callable[[Any], Any], caps: Any) -> list[Any]:
    """All that a step does on a device with these capabilities: kernels by their text, geometry, numbers, errors."""
    twin = twin_of(caps)
    found: list[Any] = []
    with collecting(twin):
        try:
            getattr(step, "launches", step)(twin)
        except Exception as error:
            found.append((type(error), str(error).replace(str(twin), "device")))
    for entry in twin.runtime.seen:
        found.append(entry if entry == READ else (_text(entry[0], caps), *entry[1:]))
    return found


@functools.lru_cache(maxsize=1 << 16)
def _text(spec: Any, caps: Any) -> int:
    return hash(importlib.import_module("tensorx.kernels.generator").render([spec], caps).text)


def changes(step: Callable[[Any], Any], device: Any) -> bool:
    """Whether the mask makes a step do anything else than without it (True without a mask, or if that is not known)."""
    weak = device.runtime.capabilities
    strong = masking.before(weak)
    if strong == weak:
        return True
    done = trace(step, weak)
    return READ in done or done != trace(step, strong)
