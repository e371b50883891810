"""Memory is flat without the cyclic collector: no cycle holds a tensor, no cache grows with sizes, numbers or steps."""

from __future__ import annotations

import functools
import gc
import sys
import weakref

import pytest

import tensorx as tx
from tensorx import nn, optim
from tensorx.ops import build, fused
from tensorx.ops.recipes import Recipes
from tensorx.ops.table import OPS

F = nn.functional


@pytest.fixture
def uncollected():
    """The collector off; what is alive of it afterwards is looked at by hand."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def trainer(device):
    """One training step as a function: dropout, a write to a view, an index, a fused optimiser."""
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.2), nn.LayerNorm(32), nn.Linear(32, 4)).to(device)
    optimiser = optim.AdamW(model.parameters(), lr=1e-3)
    x, y = tx.randn(8, 16, device=device), tx.randint(0, 4, (8,), device=device)

    def step():
        optimiser.zero_grad()
        h = x * 1.0
        h[0] = h[1] * 2
        h[:, 1:3].mul_(1.5)
        loss = F.cross_entropy(model(h), y)
        loss.backward()
        optimiser.step()
        return loss.item()

    return step


def test_training(device, uncollected):
    step = trainer(device)

    def measure(count):
        for _ in range(count):
            step()
        return len(gc.get_objects()), sys.getallocatedblocks()

    measure(30)
    for size in range(1, 21):  # the interpreter's free lists of small tuples, filled: they would grow for 300 steps
        full = [tuple(range(300, 300 + size)) for _ in range(2100)]
        del full
    first, second = measure(80), measure(80)
    assert second[0] - first[0] <= 30
    assert second[1] - first[1] <= 80
    used = device.runtime.memory_stats()["used"]
    measure(20)
    assert device.runtime.memory_stats()["used"] == used


def bounded_caches():
    """Every lru_cache of the library by name: (entries, bound)."""
    found = {}
    for o in gc.get_objects():
        if isinstance(o, functools._lru_cache_wrapper) and (o.__module__ or "").startswith("tensorx"):
            info = o.cache_info()
            found[f"{o.__module__}.{o.__name__}"] = (info.currsize, info.maxsize)
    return found


def varied(device, k, w):
    """Sizes, numbers, offsets and steps that no other ``k`` has."""
    n = 3 + k
    x = tx.randn(n, 12, device=device)
    y = (x @ w).tanh() * (0.5 + k * 1e-3) + k
    z = (tx.softmax(y, 1) + y.sum(0) / n - y.mean()).clamp(-float(k), k + 0.5)
    z[k % n].mul_(1 + k)
    z[: 1 + k % n, k % 3 :] = float(k)
    taken = y[tx.randint(0, n, (1 + k % 13,), device=device)]
    joined = F.dropout(tx.cat([taken, z.reshape(-1, 7)[k % 2 :: 1 + k % 3]]), 0.1 + k / 1000)
    tx.arange(k + 1, device=device), tx.full((1 + k,), k, device=device), y.cumsum(0), y.sort(0), (y > k).nonzero()
    (joined.sum() + (y ** (1 + k % 7)).sum()).backward()
    w.grad = None


def test_caches_do_not_depend_on_sizes_or_numbers(device):
    w = tx.randn(12, 7, device=device, requires_grad=True)
    for k in range(60, 80):
        varied(device, k, w)
    plans = {op.name: (len(op.plans), len(op.fast)) for op in OPS.values()}
    kernels, caches = len(build._kernels), bounded_caches()
    for k in range(80, 140):
        varied(device, k, w)
    grown = {op.name: (len(op.plans), len(op.fast)) for op in OPS.values() if (len(op.plans), len(op.fast)) != plans[op.name]}
    assert not grown
    assert len(build._kernels) == kernels
    growing = {name: size for name, size in bounded_caches().items() if size[0] > caches.get(name, (0,))[0]}
    assert all(bound is not None and bound <= 8192 for _, bound in growing.values()), growing


def test_plans_are_bounded(device, monkeypatch):
    """Rules made anew for every step: the oldest plans go, results stay right."""
    monkeypatch.setattr(Recipes, "most", 20)
    row, p = OPS["_step"], tx.zeros(3, device=device)
    kept = dict(row.plans)
    for k in range(30):
        fused.step(lambda p, *, lr: (p + lr,), [p], {"lr": float(k)}, [p])
        assert len(row.plans) <= max(20, len(kept))
    assert p.tolist() == [435, 435, 435]
    row.plans.clear()
    row.plans.update(kept)


class Square(tx.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.note = [x.shape]
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


def views(x):
    y = x * 2
    v = y[1:].view(-1)[2:]
    v.mul_(3)
    y[0] = v[:3].sum()
    y.sum().backward()
    return y, v


def function(x):
    y = Square.apply(x)
    Square.apply(y).sum().backward()
    return (y,)


def hooks(x):
    y = x * 2
    y.register_hook(lambda g: g * y.detach().mean())
    y.retain_grad()
    x.register_post_accumulate_grad_hook(lambda leaf: None)
    y.grad_fn.register_prehook(lambda grads: grads)
    (y * y).sum().backward()
    return (y,)


def twice(x):
    g, = tx.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (g * g).sum().backward()
    return (g,)


def never_run(x):
    y = (x.exp() @ x.t()).softmax(1)
    y[0].add_(1)
    return (y.sum(),)


def module_hooks(x):
    layer = nn.Linear(x.shape[1], 3).to(x.device)
    layer.register_forward_hook(lambda module, args, out: out * 1)
    layer.register_full_backward_hook(lambda module, gi, go: None)
    y = layer(x)
    y.sum().backward()
    return (y,)


def fails(x):
    y = x * 2
    for wrong in (lambda: y + tx.ones(17, device=x.device), lambda: y.add_("text"), lambda: y @ y, y.backward, lambda: y[99]):
        with pytest.raises((RuntimeError, TypeError, IndexError)):
            wrong()
    return (y,)


def saved_hooks(x):
    with tx.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x.exp() * x
    y.sum().backward()
    return (y,)


@pytest.mark.parametrize("work", [views, function, twice, never_run, module_hooks, fails, saved_hooks])
def test_no_cycles(device, uncollected, work):
    """All that a piece of work made dies when its results do."""
    for again in range(2):
        x = tx.ones(4, 6, device=device, requires_grad=True)
        made = work(x)
        refs = [weakref.ref(t) for t in made] + [weakref.ref(t._storage) for t in made] + [weakref.ref(t.grad_fn) for t in made if t.grad_fn] + [weakref.ref(x)]
        del made, x
        alive = [r() for r in refs if r() is not None]
        assert not alive or again == 0


def test_a_hook_that_names_its_tensor_is_collected(device):
    """A cycle of the user's own making: the collector takes it."""
    x = tx.ones(4, 6, device=device, requires_grad=True)
    (y,) = hooks(x)
    ref = weakref.ref(y)
    del y, x
    gc.collect()
    assert ref() is None
