"""Smoke run, under two seconds: does anything work at all? Run it first."""

from __future__ import annotations

import numpy as np

import tensorx


def test_a_line_is_fitted(device):
    """Forward, backward and an update by hand on every lane: y = 2x + 1."""
    x = tensorx.tensor(np.linspace(-1, 1, 16, dtype=np.float32), device=device)
    y = x * 2 + 1
    w = tensorx.zeros((), device=device, requires_grad=True)
    b = tensorx.zeros((), device=device, requires_grad=True)
    for _ in range(60):
        loss = ((x * w + b - y) ** 2).mean()
        loss.backward()
        with tensorx.no_grad():
            for parameter in (w, b):
                parameter -= 0.5 * parameter.grad
                parameter.grad = None
    assert abs(w.item() - 2) < 1e-3
    assert abs(b.item() - 1) < 1e-3


def test_device_round_trip(device):
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = tensorx.tensor(data, device=device)
    back = there.to("cpu")
    assert there.device == device
    np.testing.assert_array_equal(back.numpy(), data)


def test_shapes_without_memory():
    assert (tensorx.ones(3, 1, device="meta") + tensorx.ones(1, 4, device="meta")).shape == (3, 4)


def test_large_work_gives_what_small_work_gives(device):
    """Lanes switch with the size: NumPy's short way, kernels, and again without a compiler."""
    small = np.linspace(-3, 3, 48, dtype=np.float32)
    large = np.tile(small, 2048)
    for function in (tensorx.relu, lambda x: x + 1, lambda x: x * x):
        one, many = (function(tensorx.tensor(x, device=device)).to("cpu").numpy() for x in (small, large))
        np.testing.assert_array_equal(np.tile(one, 2048), many)
