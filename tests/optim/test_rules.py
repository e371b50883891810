"""What holds for every optimiser over an update rule: complex parameters, differentiable steps, state, arguments."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from optim_cases import OPTIMIZERS

import tensorx as tx
from tensorx import nn, optim

#: One setting of each class that goes through most of its rule.
SETTINGS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "RMSprop": {"centered": True, "momentum": 0.5},
    "Adagrad": {"lr": 0.1, "initial_accumulator_value": 0.1},
    "Adadelta": {"eps": 0.1},
    "Adamax": {"lr": 0.1},
    "NAdam": {"lr": 0.1},
    "RAdam": {"lr": 0.1},
    "Rprop": {},
    "ASGD": {"lr": 0.1, "t0": 1},
}


def test_every_class_with_a_rule_is_here():
    names = {kind for kind, _ in OPTIMIZERS.values()}
    assert names >= set(SETTINGS)


def train(p, optimizer, gradients):
    for g in gradients:
        p.grad = tx.tensor(g, dtype=p.dtype, device=p.device)
        optimizer.step()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_complex_parameter_is_a_pair_of_real_ones(name, device, need):
    need("c64")
    random = np.random.RandomState(0)
    start, *gradients = (random.randn(4, 3, 2)).astype(np.float32)
    p = nn.Parameter(tx.tensor(start.copy().view(np.complex64)[..., 0], device=device))
    q = nn.Parameter(tx.tensor(start, device=device))
    train(p, getattr(optim, name)([p], **SETTINGS[name]), [g.copy().view(np.complex64)[..., 0] for g in gradients])
    train(q, getattr(optim, name)([q], **SETTINGS[name]), gradients)
    assert p.is_complex()
    assert tx.view_as_real(p.detach()).tolist() == q.tolist()
    assert q.tolist() != start.tolist()


@pytest.mark.parametrize("name", SETTINGS)
def test_differentiable_steps(name):
    """The parameter after three steps, as a function of where it began and of the gradients."""
    signs = [[1.0, -1.0, 1.0], [1.5, -0.5, 2.0], [1.0, -2.0, 1.5]]  # no sign changes: Rprop's rule is smooth there

    def end(start, gradient):
        p = start.clone()
        optimizer = getattr(optim, name)([p], differentiable=True, **SETTINGS[name])
        for s in signs:
            p.grad = gradient * tx.tensor(s, dtype=tx.float64)
            optimizer.step()
        return p

    start = tx.tensor([1.0, 2.0, -3.0], dtype=tx.float64, requires_grad=True)
    gradient = tx.tensor([0.5, 0.75, 1.25], dtype=tx.float64, requires_grad=True)
    assert tx.autograd.gradcheck(end, (start, gradient))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_leaf_cannot_take_a_recorded_step(name):
    p = nn.Parameter(tx.ones(2))
    p.grad = tx.ones(2)
    with pytest.raises(RuntimeError, match="leaf"):
        getattr(optim, name)([p], differentiable=True).step()
    with pytest.raises(ValueError, match="non-leaf"):
        getattr(optim, name)([p * 2])


@pytest.mark.parametrize("name", SETTINGS)
def test_a_saved_run_goes_on_as_it_would(name, device):
    gradients = np.random.RandomState(1).randn(6, 4).astype(np.float32)
    p = nn.Parameter(tx.ones(4, device=device))
    optimizer = getattr(optim, name)([p], **SETTINGS[name])
    train(p, optimizer, gradients[:3])
    state = copy.deepcopy(optimizer.state_dict())
    q = nn.Parameter(p.detach().clone())
    other = getattr(optim, name)([q], **SETTINGS[name])
    other.load_state_dict(state)
    assert other.state_dict()["state"].keys() == state["state"].keys()
    train(p, optimizer, gradients[3:])
    train(q, other, gradients[3:])
    assert p.tolist() == q.tolist()


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_matrix_rules_go_on_as_they_would(name, device):
    gradients = np.random.RandomState(1).randn(6, 4, 3).astype(np.float32)
    p = nn.Parameter(tx.ones(4, 3, device=device))
    optimizer = getattr(optim, name)([p], lr=0.1)
    train(p, optimizer, gradients[:3])
    q = nn.Parameter(p.detach().clone())
    other = getattr(optim, name)([q])
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    train(p, optimizer, gradients[3:])
    train(q, other, gradients[3:])
    assert p.tolist() == q.tolist()


def test_adafactor_shapes(device):
    ps = [nn.Parameter(tx.ones(n, device=device)) for n in ((), (3,), (0,), (2, 3, 4), (2, 0))]
    optimizer = optim.Adafactor(ps, lr=0.5)
    for p in ps:
        p.grad = tx.ones_like(p.detach())
    optimizer.step()
    assert ps[0].item() == pytest.approx(0.5)
    assert {k: v.shape for k, v in optimizer.state[ps[3]].items() if k != "step"} == {
        "row_var": (2, 3, 1),
        "col_var": (2, 1, 4),
    }
    assert ps[3].sum().item() == pytest.approx(12.0, rel=1e-5)


def test_muon_wants_matrices():
    matrix, vector = nn.Parameter(tx.ones(2, 2)), nn.Parameter(tx.ones(2))
    with pytest.raises(ValueError, match="only supports 2D parameters"):
        optim.Muon([matrix, vector])
    optimizer = optim.Muon([matrix])
    with pytest.raises(ValueError, match="only supports 2D parameters"):
        optimizer.add_param_group({"params": vector})
    assert len(optimizer.param_groups) == 1
    matrix.grad = tx.ones(2, 2)
    for options, message in (({"ns_steps": 100}, "less than 100"), ({"ns_coefficients": (1.0, 2.0)}, "3 values")):
        with pytest.raises(ValueError, match=message):
            optim.Muon([matrix], **options).step()
    for name in ("Muon", "Adafactor"):
        p = nn.Parameter(tx.ones(2, 2, dtype=tx.complex64))
        p.grad = tx.ones(2, 2, dtype=tx.complex64)
        with pytest.raises(RuntimeError, match="does not support complex"):
            getattr(optim, name)([p]).step()


@pytest.mark.parametrize("name", SETTINGS)
def test_options_and_shapes(name, device):
    make = getattr(optim, name)
    options = {"foreach": False, "maximize": False}
    ps = [nn.Parameter(tx.ones(n, device=device)) for n in ((), (0,), (2, 0, 3), (3, 2))]
    strided = nn.Parameter(tx.ones((2, 3), device=device).t())
    optimizer = make([*ps, strided], **options)
    for p in (*ps, strided):
        p.grad = tx.ones_like(p.detach())
    optimizer.step()
    assert strided.tolist() == ps[3].tolist() != [[1.0, 1.0]] * 3
    with pytest.raises(ValueError, match="learning rate"):
        make([strided], lr=-1.0)
    with pytest.raises(ValueError, match="1-element"):
        make([strided], lr=tx.ones(2))


STATE = {
    "SGD": {"momentum_buffer"},
    "Adam": {"step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
    "AdamW": {"step", "exp_avg", "exp_avg_sq"},
    "RMSprop": {"step", "square_avg", "momentum_buffer", "grad_avg"},
    "Adagrad": {"step", "sum"},
    "Adadelta": {"step", "square_avg", "acc_delta"},
    "Adamax": {"step", "exp_avg", "exp_inf"},
    "NAdam": {"step", "mu_product", "exp_avg", "exp_avg_sq"},
    "RAdam": {"step", "exp_avg", "exp_avg_sq"},
    "Rprop": {"step", "prev", "step_size"},
    "ASGD": {"step", "eta", "mu", "ax"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_state_dicts_have_pytorchs_layout(name):
    p = nn.Parameter(tx.ones(2))
    optimizer = getattr(optim, name)([p], **SETTINGS[name])
    train(p, optimizer, [[1.0, 2.0]])
    state = optimizer.state_dict()["state"][0]
    assert set(state) == STATE[name]
    assert all(isinstance(value, tx.Tensor) for value in state.values())
    assert all(value.shape == (() if key in optimizer.numbers else (2,)) for key, value in state.items())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: optim.RMSprop(p, alpha=-1.0), "Invalid alpha value: -1.0"),
        (lambda p: optim.RMSprop(p, momentum=-1.0), "Invalid momentum value: -1.0"),
        (lambda p: optim.Adagrad(p, lr_decay=-1.0), "Invalid lr_decay value: -1.0"),
        (lambda p: optim.Adagrad(p, initial_accumulator_value=-1.0), "Invalid initial_accumulator_value value: -1.0"),
        (lambda p: optim.Adadelta(p, rho=1.5), "Invalid rho value: 1.5"),
        (lambda p: optim.Adamax(p, betas=(0.9, 1.0)), "Invalid beta parameter at index 1: 1.0"),
        (lambda p: optim.NAdam(p, momentum_decay=-1.0), "Invalid momentum_decay value: -1.0"),
        (lambda p: optim.RAdam(p, eps=-1.0), "Invalid epsilon value: -1.0"),
        (lambda p: optim.Rprop(p, etas=(1.0, 1.2)), "Invalid eta values: 1.0, 1.2"),
        (lambda p: optim.Adafactor(p, beta2_decay=0.5), "beta2_decay should be <= 0 but is: 0.5"),
        (lambda p: optim.Adafactor(p, eps=(None, -1.0)), "epsilon2 should be >= 0 but is: -1.0"),
        (lambda p: optim.Adafactor(p, d=0.5), "Clipping threshold d should be >= 1 but is: 0.5"),
        (lambda p: optim.Muon(p, lr=-1.0), "Learning rate should be >= 0 but is: -1.0"),
        (lambda p: optim.Muon(p, adjust_lr_fn="x"), "Adjust learning rate function x is not supported"),
        (lambda p: optim.LBFGS([{"params": p}, {"params": []}]), "per-parameter options"),
        (lambda p: optim.ASGD(p, weight_decay=-1.0), "Invalid weight_decay value: -1.0"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make([nn.Parameter(tx.ones(1))])


def test_sparse_adam_says_what_to_use():
    with pytest.raises(NotImplementedError, match="use Adam"):
        optim.SparseAdam([nn.Parameter(tx.ones(1))])


def test_adagrad_has_its_state_before_the_first_step():
    p, q = nn.Parameter(tx.ones(2)), nn.Parameter(tx.ones(2))
    optimizer = optim.Adagrad([p], initial_accumulator_value=0.5)
    assert optimizer.state_dict()["state"][0]["sum"].tolist() == [0.5, 0.5]
    optimizer.add_param_group({"params": [q], "initial_accumulator_value": 1.0})
    assert optimizer.state[q]["sum"].tolist() == [1.0, 1.0]
