"""Rows over several axes, and few long ones, as chains of launches: a row kernel's numbers, in few launches."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tensorx as tx
from tensorx.dtypes import float32
from tensorx.nn import functional as F
from tensorx.ops import expr as E
from tensorx.ops.rowprogram import RowProgram

X, Y = E.arg(0, float32), E.arg(1, float32)
COUNT = E.count(float32)
MEAN = E.row_sum(X) / COUNT
SPREAD = E.row_sum((X - MEAN) * (X - MEAN)) / COUNT

#: results that vary along the row first, then results of the row
PROGRAMS = {
    "norm": [(X - MEAN) * E.rsqrt(SPREAD + 0.1), MEAN, SPREAD],
    "two sums of one operand": [X * (E.row_sum(X) + E.row_max(X))],
    "a row's result of two sums": [X - Y, E.row_sum(X) * E.row_sum(Y) + E.row_max(X)],
    "count alone": [X / COUNT, E.row_sum(Y)],
    "second operand broadcast": [(X - MEAN) * Y, E.row_sum(X * Y)],
    "softmax": [E.exp(X - E.row_max(X)) / E.row_sum(E.exp(X - E.row_max(X)))],
    "rows alone": [E.row_max(X) - E.row_min(X), SPREAD],
}
CASES = [((4, 3, 5), (0, 2)), ((2, 3, 4, 5), (0, 2, 3)), ((1, 700), (1,)), ((6, 2), (0,)), ((3, 4), (0, 1))]


def program(name):
    results = PROGRAMS[name]
    elements = [name != "rows alone" and i == 0 for i in range(len(results))]
    return RowProgram("staged", results, [float32, float32], [float32] * len(results), (), elements)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape, reduced", CASES, ids=str)
def test_chain_agrees_with_numpy(name, shape, reduced, device):
    made = program(name)
    rng = np.random.default_rng(3)
    arrays = [rng.normal(size=shape), rng.normal(size=[1 if i else n for i, n in enumerate(shape)])]
    ins = [tx.tensor(a.astype(np.float32), device=device) for a in arrays]
    kept = tuple(n for i, n in enumerate(shape) if i not in reduced)
    outs = [tx.empty(shape if e else kept, device=device) for e in made.elements]
    made.staged.run(ins, [], shape, reduced, device, outs)
    host = [tx.tensor(a.astype(np.float32)) for a in arrays]
    want = made._run_numpy(host, [], shape, reduced, None)
    for got, expected in zip(outs, want, strict=True):
        np.testing.assert_allclose(got.cpu().numpy(), expected.numpy(), rtol=2e-5, atol=2e-5)


class Launches:
    """Counts the launches of a device while it is open."""

    def __init__(self, device, monkeypatch):
        self.count, runtime = 0, device.runtime
        launch = runtime.launch

        def counted(*args, **kwargs):
            self.count += 1
            return launch(*args, **kwargs)

        monkeypatch.setattr(runtime, "launch", counted, raising=False)


def test_batch_norm_takes_few_launches(device, monkeypatch, need):
    need(host_callable=False)  # there small work is NumPy calls, which are no launches
    x = tx.randn(2, 3, 4, 5, device=device).requires_grad_()
    w, b, mean, var = (tx.ones(3, device=device) for _ in range(4))
    w.requires_grad_()
    b.requires_grad_()

    def forward():
        return F.batch_norm(x, mean, var, w, b, training=True)

    g = tx.ones(2, 3, 4, 5, device=device)
    forward().backward(g)
    counter = Launches(device, monkeypatch)
    y = forward()
    assert counter.count == 4  # mean, variance, the map, the running statistics
    x.grad = w.grad = b.grad = None
    counter.count = 0
    y.backward(g)
    assert counter.count == 3  # the two sums, which are the parameters' gradients, and the map


def test_constant_rows_have_no_variance(device):
    x = tx.full((3, 2, 7), 0.1, device=device)
    y = F.batch_norm(x, None, None, training=True)
    assert math.isfinite(y.abs().max().item()) and y.abs().max().item() < 1e-3
