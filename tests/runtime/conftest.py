"""Fixtures of the tests of the runtime."""

from __future__ import annotations

import pytest
from watching import Watch

from tensorx.devices import registry


@pytest.fixture
def other(device):
    """A device that is not the cpu: on the cpu's lanes one that runs nothing."""
    return registry.resolve("null") if device.type == "cpu" else device


@pytest.fixture
def watch(other, monkeypatch):
    """The other device's copies, watched."""
    runtime = other.runtime
    runtime.staging.settle()
    watch = Watch(runtime)
    monkeypatch.setattr(runtime, "copy_in_async", watch, raising=False)
    yield watch
    for mark, _, _ in watch.copies:
        mark.done = True
    runtime.staging.settle()
