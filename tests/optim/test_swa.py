"""Averaged models and SWALR; the rates are PyTorch 2.13's."""

from __future__ import annotations

import pytest

import tensorx as tx
from tensorx import nn
from tensorx.optim import SGD
from tensorx.optim.swa_utils import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
    update_bn,
)

DECAY = 0.75


class Model(nn.Module):
    """A parameter and buffers of both kinds that all are 0."""

    def __init__(self, device):
        super().__init__()
        self.p = nn.Parameter(tx.zeros(2, device=device))
        self.register_buffer("b", tx.zeros(1, device=device))
        self.register_buffer("n", tx.zeros((), dtype=tx.int64, device=device))

    def set(self, value):
        for t in (self.p, self.b, self.n):
            t.detach().fill_(value)

    def forward(self, x):
        return x * self.p


@pytest.mark.parametrize(
    ("options", "last"),
    [
        ({}, (1 + 2 + 6) / 3),
        ({"avg_fn": get_swa_avg_fn()}, 3),
        ({"multi_avg_fn": get_swa_multi_avg_fn()}, 3),
        ({"avg_fn": get_ema_avg_fn(DECAY)}, (1 * DECAY + 2 * (1 - DECAY)) * DECAY + 6 * (1 - DECAY)),
        ({"multi_avg_fn": get_ema_multi_avg_fn(DECAY)}, 2.4375),
        ({"avg_fn": lambda average, current, n: average + current + n}, 1 + 2 + 1 + 6 + 2),
    ],
)
@pytest.mark.parametrize("use_buffers", [False, True])
def test_averages(options, last, use_buffers, device):
    model = Model(device)
    averaged = AveragedModel(model, use_buffers=use_buffers, **options)
    for value in (1, 2, 6):
        model.set(value)
        averaged.update_parameters(model)
    assert averaged.module.p.tolist() == pytest.approx([last] * 2)
    assert averaged.module.b.item() == pytest.approx(last if use_buffers else 6)
    assert averaged.module.n.dtype is tx.int64
    assert averaged.n_averaged.item() == 3
    assert averaged(tx.ones(2, device=device)).tolist() == averaged.module.p.tolist()
    assert model.p.tolist() == [6.0, 6.0]
    assert averaged.module.p.requires_grad
    assert list(averaged.state_dict()) == ["n_averaged", "module.p", "module.b", "module.n"]


def test_the_copy_may_live_elsewhere(device):
    model = Model("cpu")
    averaged = AveragedModel(model, device=device)
    model.set(3)
    averaged.update_parameters(model)
    assert averaged.module.p.device == device
    assert averaged.n_averaged.device == device
    assert averaged.module.p.tolist() == [3.0, 3.0]


def test_wrong_arguments():
    with pytest.raises(AssertionError, match="Only one of"):
        AveragedModel(nn.Linear(1, 1), avg_fn=get_swa_avg_fn(), multi_avg_fn=get_swa_multi_avg_fn())
    for make in (get_ema_avg_fn, get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match="Invalid decay value 2"):
            make(2)
    for options, message in (
        ({"anneal_strategy": "x"}, "must be one of 'cos' or 'linear'"),
        ({"anneal_epochs": -1}, "equal or greater than 0"),
        ({"anneal_epochs": 1.5}, "equal or greater than 0"),
        ({"swa_lr": [0.1, 0.2]}, "same length"),
    ):
        with pytest.raises(ValueError, match=message):
            SWALR(SGD([nn.Parameter(tx.ones(1))]), **{"swa_lr": 0.1, **options})


@pytest.mark.parametrize(
    ("options", "rates"),
    [
        ({"anneal_epochs": 3}, [1.0, 0.775, 0.325, 0.1, 0.1, 0.1]),
        ({"anneal_epochs": 3, "anneal_strategy": "linear"}, [1.0, 0.7, 0.4, 0.1, 0.1, 0.1]),
        ({"anneal_epochs": 0}, [0.1, 0.1, 0.1, 0.1, 0.1, 0.1]),
    ],
)
def test_swalr(options, rates):
    optimizer = SGD([nn.Parameter(tx.ones(1))], lr=1.0)
    schedule = SWALR(optimizer, 0.1, **options)
    got = [optimizer.param_groups[0]["lr"]]
    for _ in range(5):
        optimizer.step()
        schedule.step()
        got.append(optimizer.param_groups[0]["lr"])
    assert got == pytest.approx(rates)
    assert set(schedule.state_dict()) >= {"_anneal_strategy", "anneal_epochs", "base_lrs", "last_epoch"}


def test_update_bn(device):
    model = nn.Sequential(nn.Linear(3, 2, device=device), nn.BatchNorm1d(2, momentum=0.25, device=device)).eval()
    loader = [(tx.randn(8, 3), "label"), [tx.randn(8, 3)], tx.randn(8, 3)]
    inputs = [batch[0] if isinstance(batch, (tuple, list)) else batch for batch in loader]
    with tx.no_grad():
        hidden = [model[0](x.to(device)) for x in inputs]
    model[1].running_mean.fill_(7)
    update_bn(loader, model, device)
    norm = model[1]
    mean = sum(h.mean(0) for h in hidden) / 3
    variance = sum(h.var(0) for h in hidden) / 3
    assert norm.running_mean.tolist() == pytest.approx(mean.tolist(), rel=1e-4, abs=1e-5)
    assert norm.running_var.tolist() == pytest.approx(variance.tolist(), rel=1e-4)
    assert norm.momentum == 0.25
    assert not model.training
    assert not norm.training
    assert int(norm.num_batches_tracked) == 3


def test_update_bn_without_any_does_nothing():
    batches = iter([tx.ones(2)])
    update_bn(batches, Model("cpu"))
    assert next(batches).tolist() == [1.0, 1.0]
