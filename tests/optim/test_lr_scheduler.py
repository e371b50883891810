"""Schedules; the rates are PyTorch 2.13's, to six digits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from schedule_cases import SCHEDULES, run

import tensorx as tx
from tensorx import nn
from tensorx.optim import SGD
from tensorx.optim import lr_scheduler as schedules
from tensorx.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LRScheduler, StepLR

GOLDEN = json.loads(Path(__file__).with_name("golden_schedules.json").read_text())
COSINE = [1.0, 0.868198, 0.55, 0.231802, 0.1, 0.231802, 0.55, 0.868198, 1.0, 0.868198]


@pytest.mark.parametrize("name", SCHEDULES)
def test_golden(name):
    got, want = run(tx, name), GOLDEN[name]
    assert got.pop("state") == want["state"]
    assert got.keys() == want.keys() - {"state"}
    for what, history in got.items():
        np.testing.assert_allclose(history, want[what], rtol=1e-12, atol=1e-15, err_msg=f"{name}: {what}")


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


def test_a_sequence_in_a_sequence():
    """PyTorch's takes one epoch too few of the first part."""

    def parts(o):
        return [schedules.ConstantLR(o, 0.5, 3), schedules.StepLR(o, 2, 0.5), LambdaLR(o, lambda i: 0.5**i)]

    def nested(o):
        first, second, third = parts(o)
        return schedules.SequentialLR(o, [schedules.SequentialLR(o, [first, second], [3]), third], [6])

    assert rates(nested, 9) == rates(lambda o: schedules.SequentialLR(o, parts(o), [3, 6]), 9)


def test_restarts_go_on_where_they_were():
    schedule = schedules.CosineAnnealingWarmRestarts(optimizer(), 2, 2)
    for epoch in range(1, 12):
        schedule.optimizer.step()
        schedule.step()
        again = optimizer()
        again.param_groups[0]["initial_lr"] = 1.0
        other = schedules.CosineAnnealingWarmRestarts(again, 2, 2, last_epoch=epoch - 1)
        assert (other.T_cur, other.T_i, other.get_last_lr()) == (schedule.T_cur, schedule.T_i, schedule.get_last_lr())


def test_restarts_take_fractions():
    schedule = schedules.CosineAnnealingWarmRestarts(optimizer(), 3, 2)
    placed = []
    for epoch in (0, 0.5, 1.5, 3.25, 7.75):
        schedule.step(epoch)
        placed.append((schedule.T_cur, schedule.T_i, schedule.last_epoch, round(schedule.get_last_lr()[0], 6)))
    assert placed == [
        (0, 3, 0, 1.0),
        (0.5, 3, 0, 0.933013),
        (1.5, 3, 1, 0.5),
        (0.25, 6, 3, 0.995722),
        (4.75, 6, 7, 0.103323),
    ]
    with pytest.raises(ValueError, match="non-negative epoch"):
        schedule.step(-1)


def test_tensor_rates_keep_their_place():
    lr = tx.tensor(1.0, dtype=tx.float64)
    opt = optimizer(lr)
    schedule = schedules.ChainedScheduler([schedules.ExponentialLR(opt, 0.5), schedules.StepLR(opt, 1, 0.5)])
    opt.step()
    schedule.step()
    assert opt.param_groups[0]["lr"] is lr
    assert lr.item() == 0.25
    assert schedule.get_last_lr()[0] is not lr
    plateau = schedules.ReduceLROnPlateau(opt, factor=0.5, patience=0)
    plateau.step(tx.tensor(1.0))
    plateau.step(tx.tensor(1.0))
    assert opt.param_groups[0]["lr"] is lr
    assert lr.item() == 0.125


def test_warnings_of_use():
    opt = optimizer()
    schedule = StepLR(opt, 1)
    with pytest.warns(UserWarning, match="get_last_lr"):
        schedule.get_lr()
    opt.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        schedule.step(3)
    assert schedule.get_last_lr() == [pytest.approx(1e-3)]


class Falling:
    def __init__(self, rate):
        self.rate = rate

    def __call__(self, epoch):
        return self.rate**epoch


@pytest.mark.parametrize(
    "make",
    [
        schedules.LambdaLR,
        schedules.MultiplicativeLR,
        lambda o, f: schedules.CyclicLR(o, 0.1, 1.0, scale_fn=f, cycle_momentum=False),
    ],
)
def test_callable_objects_are_saved(make):
    mine, theirs = Falling(0.5), Falling(0.25)
    schedule = make(optimizer(), mine)
    make(optimizer(), theirs).load_state_dict(schedule.state_dict())
    assert theirs.rate == 0.5
    plain = make(optimizer(), lambda e: 1.0)
    plain.load_state_dict(plain.state_dict())


def test_cyclic_needs_momentum():
    adagrad = tx.optim.Adagrad([nn.Parameter(tx.ones(1))])
    for make in (lambda: schedules.CyclicLR(adagrad, 0.1, 1.0), lambda: schedules.OneCycleLR(adagrad, 1.0, 3)):
        with pytest.raises(ValueError, match="must support momentum or beta1"):
            make()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda s, o: s.SequentialLR(o, [], []), ValueError, "at least one scheduler"),
        (lambda s, o: s.SequentialLR(o, [s.ConstantLR(o)], [3]), ValueError, "number of milestone"),
        (lambda s, o: s.SequentialLR(o, [s.ConstantLR(optimizer())], []), ValueError, "same optimizer"),
        (lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []), ValueError, "ReduceLROnPlateau"),
        (lambda s, o: s.SequentialLR(o, [3], []), TypeError, "`optimizer` as its attribute"),
        (lambda s, o: s.ChainedScheduler([]), ValueError, "at least one scheduler"),
        (lambda s, o: s.ChainedScheduler([s.ConstantLR(o)], optimizer()), ValueError, "same optimizer"),
        (lambda s, o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]), ValueError, "ReduceLROnPlateau"),
        (lambda s, o: s.ConstantLR(o, 2.0), ValueError, "between 0 and 1"),
        (lambda s, o: s.LinearLR(o, 0), ValueError, "greater than 0"),
        (lambda s, o: s.LinearLR(o, 0.5, 2), ValueError, "between 0 and 1"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), ValueError, "positive integer T_0"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 0), ValueError, "integer T_mult"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 1, "x"), ValueError, "eta_min"),
        (lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="x"), ValueError, "mode is invalid"),
        (lambda s, o: s.CyclicLR(o, [0.1, 0.2], 1.0), ValueError, "same length"),
        (lambda s, o: s.OneCycleLR(o, 1.0), ValueError, "must define either total_steps"),
        (lambda s, o: s.OneCycleLR(o, 1.0, -1), ValueError, "positive integer total_steps"),
        (lambda s, o: s.OneCycleLR(o, 1.0, epochs=0, steps_per_epoch=3), ValueError, "positive integer epochs"),
        (lambda s, o: s.OneCycleLR(o, 1.0, 3, pct_start=2), ValueError, "between 0 and 1 pct_start"),
        (lambda s, o: s.OneCycleLR(o, 1.0, 3, anneal_strategy="x"), ValueError, "anneal_strategy"),
        (lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor should be"),
        (lambda s, o: s.ReduceLROnPlateau(o, mode="x"), ValueError, "mode x is unknown"),
        (lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="x"), ValueError, "threshold mode x is unknown"),
        (lambda s, o: s.ReduceLROnPlateau(o, min_lr=[1, 2]), ValueError, "expected 1 min_lrs"),
        (lambda s, o: s.ReduceLROnPlateau(3), TypeError, "not an Optimizer"),
        (lambda s, o: s.MultiplicativeLR(o, []), ValueError, "Expected 1 lr_lambdas"),
        (lambda s, o: s.OneCycleLR(o, 1.0, 3, last_epoch=2), KeyError, "initial_lr"),
    ],
)
def test_wrong_arguments(make, error, message):
    opt = SGD([nn.Parameter(tx.ones(1))], lr=1.0, momentum=0.9)
    with pytest.raises(error, match=message):
        make(schedules, opt)


def test_one_cycle_ends():
    opt = SGD([nn.Parameter(tx.ones(1))], lr=1.0, momentum=0.9)
    schedule = schedules.OneCycleLR(opt, 1.0, 3)
    for _ in range(3):
        opt.step()
        schedule.step()
    with pytest.raises(ValueError, match="Tried to step 4 times"):
        schedule.step()


def test_plateau_with_groups_that_came_later():
    opt = optimizer()
    fixed = schedules.ReduceLROnPlateau(opt, patience=0, min_lr=[0.5])
    free = schedules.ReduceLROnPlateau(opt, patience=0)
    opt.add_param_group({"params": [nn.Parameter(tx.ones(1))], "lr": 2.0})
    free.step(1.0)
    free.step(1.0)
    assert free.get_last_lr() == [pytest.approx(0.1), pytest.approx(0.2)]
    fixed.step(1.0)
    with pytest.raises(RuntimeError, match="param groups"):
        fixed.step(1.0)
