"""Schedules; the rates are PyTorch 2.13's, to six digits."""

from __future__ import annotations

import pytest

import tensorx as tx
from tensorx import nn
from tensorx.optim import SGD
from tensorx.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LRScheduler, StepLR

COSINE = [1.0, 0.868198, 0.55, 0.231802, 0.1, 0.231802, 0.55, 0.868198, 1.0, 0.868198]


def optimizer(lr=1.0):
    return SGD([nn.Parameter(tx.ones(1))], lr=lr)


def rates(make, n, lr=1.0):
    opt = optimizer(lr)
    schedule = make(opt)
    out = [opt.param_groups[0]["lr"]]
    for _ in range(n):
        opt.step()
        schedule.step()
        out.append(opt.param_groups[0]["lr"])
    assert schedule.get_last_lr() == [out[-1]]
    return [round(float(r), 6) for r in out]


def test_lambda():
    assert rates(lambda o: LambdaLR(o, lambda epoch: 0.5**epoch), 3) == [1.0, 0.5, 0.25, 0.125]


def test_step():
    assert rates(lambda o: StepLR(o, 2, gamma=0.1), 5) == [1.0, 1.0, 0.1, 0.1, 0.01, 0.01]


def test_cosine():
    assert rates(lambda o: CosineAnnealingLR(o, 4, eta_min=0.1), 9) == COSINE


def test_order_warning():
    schedule = StepLR(optimizer(), 1)
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
        schedule.step()


def test_state_round_trip():
    opt = optimizer()
    schedule = CosineAnnealingLR(opt, 4, eta_min=0.1)
    for _ in range(3):
        opt.step()
        schedule.step()
    again = CosineAnnealingLR(optimizer(), 4)
    again.load_state_dict(schedule.state_dict())
    assert again.last_epoch == 3
    assert again.eta_min == 0.1


def test_one_function_for_each_group():
    opt = SGD([{"params": [nn.Parameter(tx.ones(1))]}, {"params": [nn.Parameter(tx.ones(1))]}], lr=1.0)
    LambdaLR(opt, [lambda e: 0.5, lambda e: 0.25])
    assert [g["lr"] for g in opt.param_groups] == [0.5, 0.25]
    with pytest.raises(ValueError, match="Expected 2"):
        LambdaLR(opt, [lambda e: 1.0])


def test_needs_an_optimizer():
    with pytest.raises(TypeError, match="not an Optimizer"):
        LRScheduler(3)
    with pytest.raises(KeyError, match="initial_lr"):
        StepLR(optimizer(), 1, last_epoch=2)
