"""Optimiser runs whose parameters are compared with recorded ones.

``run(tx, name, device, dtype)`` takes six steps with fixed gradients. golden_optim.json holds what PyTorch 2.13.0 (cpu
build) gives in float64; it was written by

    python tests/optim/optim_cases.py torch > tests/optim/golden_optim.json
"""

from __future__ import annotations

import importlib
import json
import sys

import numpy as np

STEPS = 6
OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "sgd dampening": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}),
    "sgd nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    "sgd decay": ("SGD", {"lr": 0.1, "weight_decay": 0.1}),
    "sgd maximize": ("SGD", {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.1, "maximize": True}),
    "adam": ("Adam", {"lr": 0.1}),
    "adam betas": ("Adam", {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3}),
    "adam decay": ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
    "adam amsgrad": ("Adam", {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1, "maximize": True}),
    "adam decoupled": ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "adamw": ("AdamW", {"lr": 0.1}),
    "adamw decay": ("AdamW", {"lr": 0.1, "weight_decay": 0.1}),
    "adamw amsgrad": ("AdamW", {"lr": 0.1, "amsgrad": True, "maximize": True}),
    "adamw eps": ("AdamW", {"lr": 0.1, "eps": 1.0}),
    "rmsprop": ("RMSprop", {"lr": 0.1}),
    "rmsprop centered": ("RMSprop", {"lr": 0.1, "centered": True, "momentum": 0.9, "alpha": 0.9, "weight_decay": 0.1}),
    "rmsprop maximize": ("RMSprop", {"lr": 0.1, "momentum": 0.5, "eps": 0.1, "maximize": True}),
    "adagrad": ("Adagrad", {"lr": 0.1}),
    "adagrad decay": ("Adagrad", {"lr": 0.1, "lr_decay": 0.5, "weight_decay": 0.1, "initial_accumulator_value": 0.3}),
    "adagrad maximize": ("Adagrad", {"lr": 0.1, "eps": 0.1, "maximize": True}),
    "adadelta": ("Adadelta", {}),
    "adadelta decay": ("Adadelta", {"lr": 0.1, "rho": 0.5, "eps": 0.1, "weight_decay": 0.1, "maximize": True}),
    "adamax": ("Adamax", {"lr": 0.1}),
    "adamax decay": ("Adamax", {"lr": 0.1, "betas": (0.5, 0.9), "weight_decay": 0.1, "maximize": True}),
    "nadam": ("NAdam", {"lr": 0.1}),
    "nadam decay": ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.1, "maximize": True}),
    "nadam decoupled": ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "radam": ("RAdam", {"lr": 0.1}),
    "radam decay": ("RAdam", {"lr": 0.1, "betas": (0.5, 0.99), "weight_decay": 0.1, "maximize": True}),
    "radam decoupled": ("RAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "rprop": ("Rprop", {"lr": 0.1}),
    "rprop limits": ("Rprop", {"lr": 0.1, "etas": (0.4, 1.5), "step_sizes": (0.08, 0.12), "maximize": True}),
    "asgd": ("ASGD", {"lr": 0.1}),
    "asgd average": ("ASGD", {"lr": 0.1, "lambd": 0.1, "t0": 2, "alpha": 0.5, "weight_decay": 0.1, "maximize": True}),
    "adafactor": ("Adafactor", {"lr": 0.1}),
    "adafactor clip": ("Adafactor", {"lr": 0.1, "d": 1.5, "eps": (1e-2, 0.5), "weight_decay": 0.1, "maximize": True}),
    "adafactor decay": ("Adafactor", {"lr": 1.0, "beta2_decay": -0.5}),
    "muon": ("Muon", {"lr": 0.1}),
    "muon plain": ("Muon", {"lr": 0.1, "nesterov": False, "momentum": 0.5, "weight_decay": 0.0, "ns_steps": 2}),
    "muon rms": ("Muon", {"lr": 0.1, "ns_coefficients": (3.4, -4.7, 2.0), "adjust_lr_fn": "match_rms_adamw"}),
}
SEARCHES = {
    "lbfgs": {"lr": 0.1},
    "lbfgs short": {"lr": 0.5, "max_iter": 5, "history_size": 2},
    "lbfgs wolfe": {"line_search_fn": "strong_wolfe", "max_iter": 4},
    "lbfgs wolfe short": {"line_search_fn": "strong_wolfe", "history_size": 3, "max_eval": 9, "lr": 0.01},
    "lbfgs coarse": {"line_search_fn": "strong_wolfe", "tolerance_change": 1e-2, "tolerance_grad": 1e-1},
}


def run(tx, name, device, dtype):
    """The parameters after each step."""
    kind, settings = OPTIMIZERS[name]
    random = np.random.RandomState(5)
    shapes = ((3, 2), (2, 4), (3, 3)) if kind == "Muon" else ((3, 2), (4,), ())
    params = [tx.nn.Parameter(tx.tensor(random.randn(*shape), dtype=dtype, device=device)) for shape in shapes]
    optimizer = getattr(tx.optim, kind)(params, **settings)
    history = []
    for step in range(STEPS):
        for i, p in enumerate(params):
            # The last parameter misses a step; gradients shrink, so that amsgrad's maximum matters.
            gradient = tx.tensor(random.randn(*p.shape) / (1 + step), dtype=dtype, device=device)
            p.grad = None if i == 2 and step == 1 else gradient
        optimizer.step()
        history.append([p.tolist() for p in params])
    return history


def minimise(tx, name, device, dtype):
    """The parameters after each step, and how often the function was evaluated: Rosenbrock's, in six variables."""
    x = tx.nn.Parameter(tx.tensor([[-1.2, 1.0], [0.5, 2.0]], dtype=dtype, device=device))
    y = tx.nn.Parameter(tx.tensor([0.0, -1.0], dtype=dtype, device=device))
    optimizer = tx.optim.LBFGS([x, y], **SEARCHES[name])

    def closure():
        optimizer.zero_grad()
        z = tx.cat([x.reshape(-1), y])
        loss = (10 * (z[1:] - z[:-1] ** 2) ** 2 + (1 - z[:-1]) ** 2).sum()
        loss.backward()
        return loss

    history = []
    for _ in range(STEPS):
        loss = float(optimizer.step(closure))
        history.append([loss, x.tolist(), y.tolist(), optimizer.state[x]["func_evals"], optimizer.state[x]["n_iter"]])
    return history


if __name__ == "__main__":
    library = importlib.import_module(sys.argv[1])
    found = {name: run(library, name, "cpu", library.float64) for name in OPTIMIZERS}
    found |= {name: minimise(library, name, "cpu", library.float64) for name in SEARCHES}
    print("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(history)}" for n, history in found.items()) + "\n}")
