"""Tensors that move: between each pair of devices, in every dtype and layout, bit for bit."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from together import together

import tensorx as tx
from tensorx import dtypes, nn
from tensorx.devices import registry
from tensorx.errors import DeviceError, DTypeError

KINDS = ("cpu", "opencl:pocl", "opencl:intel", "sycl", "null")


@functools.cache
def present():
    """Every device of this process that has memory."""
    found = []
    for name in KINDS:
        try:
            found.append(registry.resolve(name))
        except DeviceError:
            continue
    return list(dict.fromkeys(found))


def bits(dtype, *shape):
    """Values of every pattern of bits (NaNs, infinities and subnormal numbers among them), in host memory."""
    count = int(np.prod(shape))
    raw = np.random.RandomState(count + dtype.itemsize).randint(0, 256, count * dtype.itemsize).astype(np.uint8)
    return (raw % 2 if dtype is dtypes.bool_ else raw).view(dtype.np).reshape(shape)


#: name -> shape of the memory, and the view of it (of an array as of a tensor)
LAYOUTS = {
    "contiguous": ((3, 5), lambda x: x),
    "transposed": ((3, 5), lambda x: x.T),
    "permuted": ((2, 3, 4), lambda x: x.transpose(0, 2, 1) if isinstance(x, np.ndarray) else x.permute(0, 2, 1)),
    "stepped": ((4, 9), lambda x: x[::2, 1::3]),
    "offset": ((4, 5), lambda x: x[1:, 2:]),
    "expanded": ((4, 1), lambda x: np.broadcast_to(x, (4, 3)) if isinstance(x, np.ndarray) else x.expand(4, 3)),
    "one element": ((3, 2), lambda x: x[1, 1, ...]),
    "empty": ((0, 4), lambda x: x),
    "empty part": ((3, 4), lambda x: x[:, 2:2]),
    "zero-dim": ((), lambda x: x),
}


def put(host, dtype, device):
    """Bits of the host on a device, by `copy_in` alone."""
    out = tx.empty(host.shape, dtype=dtype, device=device)
    if host.size:
        device.runtime.copy_in(out._storage.handle(), 0, np.ascontiguousarray(host).reshape(-1).view(np.uint8))
    return out


def fetch(t):
    """A contiguous tensor's bits, by `copy_out` alone."""
    host = np.empty(t.numel() * t.element_size(), np.uint8)
    if host.size:
        t.device.runtime.copy_out(t._storage.handle(), t.storage_offset() * t.element_size(), host)
    return host.tobytes()


KEEP_STRIDES = ("contiguous", "transposed", "permuted")


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.name)
def test_pairs(device, dtype):
    """Also from and to devices that are no lane. What a device cannot hold is refused by name."""
    everywhere = list(dict.fromkeys([device, *present()]))
    lacking = [d for d in everywhere if not d.runtime.capabilities.supports(dtype.code)]
    for target in lacking:
        if target.type == "cpu":
            continue  # the source's device
        with pytest.raises(DTypeError, match=dtype.name):
            tx.zeros(2, dtype=dtype, device="cpu").to(target)
    if device in lacking:
        return
    holds = [d for d in everywhere if d not in lacking]
    for name, target in itertools.product(LAYOUTS, holds):
        shape, view = LAYOUTS[name]
        memory = bits(dtype, *shape)
        source, want = view(put(memory, dtype, device)), np.ascontiguousarray(view(memory))
        for early in (False, True):
            moved = source.to(target, non_blocking=early)
            assert (moved.device, moved.dtype, tuple(moved.shape)) == (target, dtype, view(memory).shape)
            if target is device:
                assert moved is source
            elif name in KEEP_STRIDES:
                assert moved.stride() == source.stride()
                moved = moved.as_strided((moved.numel(),), (1,), 0)
                want = np.ascontiguousarray(memory)
            else:
                assert moved.is_contiguous()
            assert target is device or fetch(moved) == want.tobytes()
            want = np.ascontiguousarray(view(memory))


@pytest.mark.parametrize("name", LAYOUTS)
def test_copies_into_views(device, name):
    """``copy_`` from each device into each layout, and nothing beside it is written."""
    shape, view = LAYOUTS[name]
    if name == "expanded":
        return  # elements that share memory: a RuntimeError of every in-place call
    for source in present():
        memory = bits(dtypes.int32, *shape)
        target = put(memory, dtypes.int32, device)
        wanted = memory.copy()
        values = np.asarray(bits(dtypes.int16, *view(memory).shape))
        view(wanted)[...] = values
        for early in (False, True):
            view(target).copy_(put(values, dtypes.int16, source), non_blocking=early)
        assert fetch(target) == wanted.tobytes()


def test_to_meta_and_back(device):
    x = tx.ones(3, 4, device=device).t()
    there = x.to("meta", non_blocking=True)
    assert (there.device.type, tuple(there.shape), there.stride()) == ("meta", (4, 3), (1, 4))
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        there.to(device)


def test_flags_by_position(device):
    """``to(device, dtype, non_blocking, copy)``, ``to(dtype, non_blocking, copy)``, ``to(other, non_blocking, copy)``."""
    x = tx.ones(2, device=device)
    assert x.to(device, tx.float32, True) is x and x.to(tx.float32, True) is x and x.to(x, True) is x
    for moved in (x.to(device, tx.float32, False, True), x.to(tx.float32, True, True), x.to(x, False, True)):
        assert moved is not x and moved.tolist() == [1.0, 1.0]
    layer = nn.Linear(2, 2)
    weight = layer.weight.tolist()
    assert layer.to(device, non_blocking=True).weight.tolist() == weight


def test_gradients_come_back(device):
    x = tx.arange(6.0).view(2, 3).requires_grad_()
    for target in present():
        if "null" in (target.type, device.type):
            continue
        x.grad = None
        (x.to(device, non_blocking=True).t().to(target, non_blocking=True) * 2).sum().backward()
        assert x.grad.device.type == "cpu" and x.grad.tolist() == [[2.0] * 3] * 2


def curve(device, steps):
    """A generator of losses: one training step each, batches moved from the host early."""
    source = tx.Generator().manual_seed(11)
    model = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Dropout(0.0), nn.Linear(24, 3))
    for p in model.parameters():
        with tx.no_grad():
            p.uniform_(-0.3, 0.3, generator=source)
    model.to(device, non_blocking=True)
    optimiser = tx.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(steps):
        x = tx.randn(16, 12, generator=source, device="cpu")
        y = x[:, :3].argmax(1)
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimiser.step()
        yield loss.item()


STEPS = 12


@functools.cache
def alone(device):
    return list(curve(device, STEPS))


def companions(device):
    """Devices to train beside."""
    return [d for d in present() if d.type != "null" and d is not device] or [device]


def test_devices_train_in_turns(device):
    """Each gives the losses that it gives alone, bit for bit."""
    others = companions(device)
    places = [device, *others]
    expected = {d: alone(d) for d in others} | {device: list(curve(device, STEPS))}  # a lane's cpu is not everybody's
    turns = zip(*[curve(d, STEPS) for d in places], strict=True)
    found = list(zip(*turns, strict=True))
    for d, losses in zip(places, found, strict=True):
        assert list(losses) == expected[d], str(d)
        assert losses[-1] < losses[0]


def test_devices_train_in_threads(device):
    other = companions(device)[0]
    expected = [list(curve(device, STEPS)), alone(other)]
    assert together([lambda: list(curve(device, STEPS)), lambda: list(curve(other, STEPS))]) == expected
