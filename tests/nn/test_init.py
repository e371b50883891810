"""Initial values: statistics, bounds, and the same bits on every device."""

from __future__ import annotations

import math

import pytest

import tensorx as tx
from tensorx import nn
from tensorx.nn import init


@pytest.mark.parametrize(
    ("fill", "std"),
    [
        (lambda t: init.normal_(t, 1.0, 2.0), 2.0),
        (lambda t: init.uniform_(t, -3.0, 3.0), math.sqrt(3.0)),
        (lambda t: init.xavier_uniform_(t, gain=2.0), 2 * math.sqrt(2 / 300)),
        (init.xavier_normal_, math.sqrt(2 / 300)),
        (lambda t: init.kaiming_uniform_(t, a=1.0), math.sqrt(1 / 200)),
        (lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"), math.sqrt(2 / 100)),
    ],
)
def test_spread(fill, std):
    tx.manual_seed(1)
    t = tx.empty(100, 200)
    assert fill(t) is t
    assert float(t.var().sqrt()) == pytest.approx(std, rel=0.03)


@pytest.mark.parametrize("bounds", [(-2.0, 2.0), (0.5, 1.0), (2.4, 4.0)])
def test_trunc_normal_stays_inside(device, bounds):
    tx.manual_seed(2)
    t = init.trunc_normal_(tx.empty(2000, device=device), 0.5, 1.0, *bounds).cpu()
    assert bounds[0] <= float(t.min()) <= float(t.max()) <= bounds[1]
    assert float(t.var().sqrt()) > 0.1


def test_constants():
    assert init.ones_(tx.empty(2)).tolist() == [1.0, 1.0]
    assert init.zeros_(tx.empty(2)).tolist() == [0.0, 0.0]
    assert init.constant_(tx.empty(2), 3).tolist() == [3.0, 3.0]
    assert init.eye_(tx.empty(2, 3)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_nothing_is_recorded():
    p = nn.Parameter(tx.empty(3, 3))
    init.kaiming_uniform_(p)
    assert p.grad_fn is None
    assert p.requires_grad


def test_gains():
    assert init.calculate_gain("linear") == 1
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("leaky_relu", 1) == 1
    with pytest.raises(ValueError, match="Unsupported"):
        init.calculate_gain("nope")
    with pytest.raises(ValueError, match="fewer than 2"):
        init._calculate_fan_in_and_fan_out(tx.empty(3))
    assert init._calculate_fan_in_and_fan_out(tx.empty(4, 3, 2, 5)) == (30, 40)


def test_one_seed_means_one_set_of_weights(device):
    def weights(where):
        tx.manual_seed(7)
        net = nn.Sequential(nn.Linear(5, 4, device=where), nn.Embedding(3, 4, device=where))
        init.trunc_normal_(net[0].bias)
        return [p.tolist() for p in net.parameters()]

    assert weights(device) == weights("cpu")
