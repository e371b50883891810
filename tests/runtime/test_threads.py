"""Eight threads on one device: every result is the serial one, bit for bit."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from together import together

import tensorx as tx
from tensorx import nn, optim
from tensorx.kernels import cache
from tensorx.ops import build, fused
from tensorx.ops.table import OPS

THREADS = 8


def at_once(work):
    """``work(i)`` in each of eight threads."""
    return together([functools.partial(work, i) for i in range(THREADS)])


def bits(t):
    return t.detach().cpu().numpy().tobytes()


def forward(device, i):
    """A little of everything, of sizes that differ from thread to thread."""
    g = tx.Generator().manual_seed(i)
    x = tx.randn(17 + i, 40, generator=g, device=device)
    out = []
    for _ in range(4):
        y = (x.tanh() * 2 + x.t().contiguous().t() / 3 - 1).exp()
        order = tx.randperm(x.shape[0], generator=g, device=device)
        out += [y, y.sum(1), tx.softmax(y, 0), x @ x.t(), y[order], y.sort(dim=1).values, y.cumsum(0), y.max(0).indices, (y > 1).nonzero()]
        x = x + y.mean()
    return [bits(t) for t in out]


def test_forward(device):
    expected = [forward(device, i) for i in range(THREADS)]
    assert at_once(lambda i: forward(device, i)) == expected


def test_backward_to_a_shared_leaf(device):
    rounds, w = 15, tx.zeros(50, 30, device=device, requires_grad=True)

    def work(i):
        for _ in range(rounds):
            c = tx.full((50, 30), float(i + 1), device=device)
            ((w * c).sum(0) * 2 + w.t().sum(1)).sum().backward()

    at_once(work)
    assert (w.grad.cpu().numpy() == rounds * sum(2 * (i + 1) + 1 for i in range(THREADS))).all()


def test_one_graph_walked_by_all(device):
    x = tx.arange(300.0, device=device).reshape(30, 10).requires_grad_()
    loss = ((x * x).sum(1) * 3).sum()
    grads = at_once(lambda i: [bits(tx.autograd.grad(loss, x, retain_graph=True)[0]) for _ in range(10)])
    assert {g for of_thread in grads for g in of_thread} == {(6 * np.arange(300, dtype=np.float32)).tobytes()}


def test_writes_in_place(device):
    rounds, shared = 40, tx.zeros(THREADS, 1000, device=device)
    version = shared._version

    def work(i):
        mine = shared[i]
        for _ in range(rounds):
            mine.add_(i + 1)
            shared[i, 3:5] = shared[i, :2] * 1

    at_once(work)
    assert (shared.cpu().numpy() == rounds * np.arange(1, THREADS + 1)[:, None]).all()
    assert shared._version == version + 2 * THREADS * rounds


def train(device, i):
    """A few steps of a small network; its weights."""
    g = tx.Generator().manual_seed(100 + i)
    model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 5)).to(device)
    with tx.no_grad():
        for p in model.parameters():
            p.copy_(tx.randn(p.shape, generator=g) * 0.3)
    optimiser = (optim.AdamW if i % 2 else optim.SGD)(model.parameters(), lr=0.05)
    for _ in range(6):
        x, y = tx.randn(12, 20, generator=g, device=device), tx.randint(0, 5, (12,), generator=g, device=device)
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimiser.step()
    return [bits(p) for p in model.parameters()]


def test_training(device):
    expected = [train(device, i) for i in range(THREADS)]
    assert at_once(lambda i: train(device, i)) == expected


def test_draws_from_one_generator_are_shared_out(device):
    rounds = 20
    tx.manual_seed(5)
    serial = sorted(bits(tx.rand(9, device=device)) for _ in range(THREADS * rounds))
    tx.manual_seed(5)
    drawn = at_once(lambda i: [bits(tx.rand(9, device=device)) for _ in range(rounds)])
    assert sorted(b for of_thread in drawn for b in of_thread) == serial


def test_bad_indices(device):
    """On the cpu the thread that made the call gets the error; elsewhere whoever waits next. No error is lost, none is invented."""
    rounds, table = 25, tx.arange(10.0, device=device)
    good, bad = tx.tensor([1, 9, 3], device=device), tx.tensor([1, 10, 3], device=device)

    def work(i):
        seen = 0
        for _ in range(rounds):
            try:
                assert table[bad if i % 2 else good].tolist()[0] == 1
            except IndexError as error:
                assert "index 10 is out of bounds for dimension 0 with size 10" in str(error)
                seen += 1
        return seen

    seen = at_once(work)
    if device.type == "cpu":
        assert seen == [rounds * (i % 2) for i in range(THREADS)]
    else:
        assert 1 <= sum(seen) <= rounds * THREADS // 2
    tx.synchronize(device)
    assert table[good].tolist() == [1, 9, 3]


def test_modes_are_each_threads_own(device):
    def work(i):
        x = tx.ones(3, device=device, requires_grad=True)
        for _ in range(20):
            with tx.no_grad() if i % 2 else tx.enable_grad():
                assert (x * 2).requires_grad == (i % 2 == 0)
        return tx.is_grad_enabled()

    assert at_once(work) == [True] * THREADS


@pytest.fixture
def nothing_known():
    """The plans of some rows forgotten for a while: the next call of each traces, renders and builds."""
    rows = [OPS[name] for name in ("tanh", "add", "mul", "sum", "softmax")]
    kept = [(op, dict(op.plans), dict(op.fast)) for op in rows], dict(build._kernels)
    for op in rows:
        op.forget()
        op.fast.clear()
    build.forget()
    yield
    for op, plans, fast in kept[0]:
        op.plans.update(plans)
        op.fast.update(fast)
    build._kernels.update(kept[1])


def test_first_calls_at_once(device, nothing_known):
    x = tx.linspace(-3, 3, 2000, device=device).reshape(50, 40)

    def work(i):
        w = tx.ones(40, device=device, requires_grad=True)
        y = tx.softmax((x * w).tanh() + 1, 1)
        y.sum().backward()
        return bits(y), bits(w.grad)

    assert len(set(at_once(work))) == 1


def test_a_kernel_is_built_once(device, need):
    need(compiler=True)

    def rule(p, *, lr):
        return (p + 3 * lr,)

    ps = [tx.zeros(40_000, device=device) for _ in range(THREADS)]
    before = cache.counters.compiled + cache.counters.found
    at_once(lambda i: fused.step(rule, [ps[i]], {"lr": float(i)}, [ps[i]]))
    assert [p[7].item() for p in ps] == [3.0 * i for i in range(THREADS)]
    built = cache.counters.compiled + cache.counters.found - before
    assert built == 1, f"{built} programs for the rule and none for the reads"
