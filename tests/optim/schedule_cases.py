"""Schedules whose rates are compared with recorded ones.

``run(tx, name)`` gives the rates (and momenta) of both groups before and after each of some steps, those after a
restart from saved states, and the names in the state_dict. golden_schedules.json holds what PyTorch 2.13.0 gives; it
was written by

    python tests/optim/schedule_cases.py torch > tests/optim/golden_schedules.json
"""

from __future__ import annotations

import copy
import importlib
import json
import sys
import warnings

STEPS = 14
METRICS = [5.0, 4.0, 4.0, 4.0, 4.0, 3.9999, 3.0, 3.0, 3.5, 3.5, 3.5, 2.0, 2.0, 2.0]

SCHEDULES = {
    "lambda": lambda s, o, e: s.LambdaLR(o, [lambda i: 0.95**i, lambda i: i // 3], e),
    "multiplicative": lambda s, o, e: s.MultiplicativeLR(o, lambda i: 0.9 + 0.01 * i, last_epoch=e),
    "step": lambda s, o, e: s.StepLR(o, 3, last_epoch=e),
    "multistep": lambda s, o, e: s.MultiStepLR(o, [2, 5, 5, 9], gamma=0.5, last_epoch=e),
    "constant": lambda s, o, e: s.ConstantLR(o, last_epoch=e),
    "constant long": lambda s, o, e: s.ConstantLR(o, factor=0.25, total_iters=9, last_epoch=e),
    "linear": lambda s, o, e: s.LinearLR(o, last_epoch=e),
    "linear down": lambda s, o, e: s.LinearLR(o, 0.9, 0.1, total_iters=10, last_epoch=e),
    "exponential": lambda s, o, e: s.ExponentialLR(o, 0.9, e),
    "polynomial": lambda s, o, e: s.PolynomialLR(o, 7, 2.0, e),
    "cosine": lambda s, o, e: s.CosineAnnealingLR(o, 5, 0.01, e),
    "cosine long": lambda s, o, e: s.CosineAnnealingLR(o, T_max=20, last_epoch=e),
    "restarts": lambda s, o, e: s.CosineAnnealingWarmRestarts(o, 3, last_epoch=e),
    "restarts longer": lambda s, o, e: s.CosineAnnealingWarmRestarts(o, 2, 2, 0.05, e),
    "cyclic": lambda s, o, e: s.CyclicLR(o, 0.1, [1.0, 2.0], 3, last_epoch=e),
    "cyclic 2": lambda s, o, e: s.CyclicLR(o, 0.1, 1.0, 2, 3, mode="triangular2", base_momentum=0.5, last_epoch=e),
    "cyclic exp": lambda s, o, e: s.CyclicLR(o, 0.1, 1.0, 2, mode="exp_range", gamma=0.9, last_epoch=e),
    "cyclic own": lambda s, o, e: s.CyclicLR(
        o, 0.1, 1.0, 2, None, "", 1.0, lambda x: 1 / x if x else 1.0, "iterations", cycle_momentum=False, last_epoch=e
    ),
    "one cycle": lambda s, o, e: s.OneCycleLR(o, 1.0, total_steps=20, last_epoch=e),
    "one cycle linear": lambda s, o, e: s.OneCycleLR(
        o, [1.0, 2.0], None, 4, 5, anneal_strategy="linear", pct_start=0.25, div_factor=10.0, last_epoch=e
    ),
    "one cycle three": lambda s, o, e: s.OneCycleLR(
        o, 1.0, 18, three_phase=True, final_div_factor=10.0, max_momentum=0.9, base_momentum=0.6, last_epoch=e
    ),
    "sequential": lambda s, o, e: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.ExponentialLR(o, 0.8), s.CosineAnnealingLR(o, 5)], [4, 8]
    ),
    "sequential restarts": lambda s, o, e: s.SequentialLR(
        o, [s.PolynomialLR(o, 4), s.CosineAnnealingWarmRestarts(o, 4)], [3]
    ),
    "chained": lambda s, o, e: s.ChainedScheduler([s.ConstantLR(o, 0.1, 4), s.ExponentialLR(o, 0.9), s.StepLR(o, 3)]),
    "plateau": lambda s, o, e: s.ReduceLROnPlateau(o, patience=1),
    "plateau max": lambda s, o, e: s.ReduceLROnPlateau(
        o, mode="max", factor=0.5, patience=0, threshold=0.5, threshold_mode="abs", cooldown=2, min_lr=[0.3, 0.01]
    ),
}
# PyTorch's restarts with T_mult > 1 do not go on from an epoch where they were left.
RESUMED = [n for n in SCHEDULES if not n.startswith(("sequential", "chained", "plateau", "restarts longer"))]


def optimizer(tx, kind="SGD"):
    groups = [{"params": [tx.nn.Parameter(tx.ones(1))]}, {"params": [tx.nn.Parameter(tx.ones(1))], "lr": 0.25}]
    return tx.optim.SGD(groups, lr=1.0, momentum=0.9) if kind == "SGD" else tx.optim.AdamW(groups, lr=1.0)


def settings(opt):
    return [[float(g["lr"]), float(g["momentum"] if "momentum" in g else g["betas"][0])] for g in opt.param_groups]


def advance(name, opt, schedule, steps):
    history = [settings(opt)]
    for i in range(steps):
        opt.step()
        schedule.step(METRICS[i]) if name.startswith("plateau") else schedule.step()
        history.append(settings(opt))
    return history


def names(state):
    return {k: [names(part) for part in v] if k == "_schedulers" else None for k, v in sorted(state.items())}


def run(tx, name):
    """Rates and momenta with SGD and AdamW, of a run that goes on from states, and of one that does from an epoch."""
    make, schedules = SCHEDULES[name], tx.optim.lr_scheduler
    out = {}
    for kind in ("SGD", "AdamW"):
        opt = optimizer(tx, kind)
        schedule = make(schedules, opt, -1)
        out[kind] = advance(name, opt, schedule, STEPS)
        assert [float(lr) for lr in schedule.get_last_lr()] == [lr for lr, _ in out[kind][-1]]
    out["state"] = names(schedule.state_dict())
    first = optimizer(tx)
    before = make(schedules, first, -1)
    advance(name, first, before, 4)
    saved = copy.deepcopy((first.state_dict(), before.state_dict()))
    second = optimizer(tx)
    after = make(schedules, second, -1)
    second.load_state_dict(saved[0])
    after.load_state_dict(saved[1])
    out["loaded"] = advance(name, second, after, 6)
    if name in RESUMED:
        third = optimizer(tx)
        third.load_state_dict(saved[0])
        out["resumed"] = advance(name, third, make(schedules, third, 4), 6)
        fourth = optimizer(tx)
        schedule = make(schedules, fourth, -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out["epochs"] = []
            for epoch in (1, 7, 3, 12):
                schedule.step(epoch)
                out["epochs"].append(settings(fourth))
    return out


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    library = importlib.import_module(sys.argv[1])
    print("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(run(library, n))}" for n in SCHEDULES) + "\n}")
