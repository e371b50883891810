"""A training loop leaves nothing behind that only the garbage collector could find.

Counted, not weighed: with the collector off, the library's live objects (tensors, storages, nodes) and the device's
bytes in use must not grow. The long form, in resident bytes over 10,000 steps, is ``python -m benchmarks memory``.
"""

from __future__ import annotations

import gc
from collections import Counter

import pytest

import tensorx
from tensorx import nn
from tensorx.nn import functional as F

WARM, STEPS = 5, 30


@pytest.fixture
def collector_off():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def network(device):
    tensorx.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 4)).to(device)
    optimiser = tensorx.optim.AdamW(model.parameters(), lr=1e-3)
    x = tensorx.randn(16, 8, device=device)
    y = tensorx.arange(16, device=device) % 4

    def step():
        optimiser.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimiser.step()

    return step


def in_place_on_a_view(device):
    """History rebased on every turn: nodes, views and hooks refer to each other."""
    w = tensorx.ones(4, 4, device=device, requires_grad=True)

    def step():
        base = w * 2
        base[1].mul_(3)
        base.register_hook(lambda g: g * 2)
        base.sum().backward()
        w.grad = None

    return step


def double_backward(device):
    w = tensorx.ones(4, device=device, requires_grad=True)

    def step():
        (g,) = tensorx.autograd.grad((w**3).sum(), w, create_graph=True)
        g.sum().backward()
        w.grad = None

    return step


def ours() -> Counter[str]:
    """Live objects of the library's classes."""
    names = (f"{type(found).__module__}.{type(found).__qualname__}" for found in gc.get_objects())
    return Counter(name for name in names if name.startswith(("tensorx.", "pyopencl.")))


@pytest.mark.parametrize("program", [network, in_place_on_a_view, double_backward])
def test_nothing_grows(program, device, collector_off):
    step = program(device)
    for _ in range(WARM):
        step()
    device.runtime.synchronize()
    objects, used = ours(), device.runtime.memory_stats()["used"]
    for _ in range(STEPS):
        step()
    device.runtime.synchronize()
    assert not ours() - objects
    assert device.runtime.memory_stats()["used"] == used
