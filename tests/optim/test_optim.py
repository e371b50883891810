"""Optimisers against recorded values, and what the base class does."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from optim_cases import OPTIMIZERS, run

import tensorx as tx
from tensorx import nn
from tensorx.optim import SGD, Adam, AdamW

GOLDEN = json.loads(Path(__file__).with_name("golden_optim.json").read_text())


def flat(history):
    return np.concatenate([np.ravel(value) for step in history for value in step])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_golden(name, device):
    np.testing.assert_allclose(flat(run(tx, name, device, tx.float32)), flat(GOLDEN[name]), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_golden_in_double(name, device, need):
    need("f64")
    np.testing.assert_allclose(flat(run(tx, name, device, tx.float64)), flat(GOLDEN[name]), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("code", ["f16", "bf16"])
def test_narrow_parameters(device, code):
    dtype = {"f16": tx.float16, "bf16": tx.bfloat16}[code]
    got = flat(run(tx, "adamw", device, dtype))
    np.testing.assert_allclose(got, flat(GOLDEN["adamw"]), atol=0.1)


def one(value=1.0, grad=1.0):
    p = nn.Parameter(tx.tensor([value]))
    p.grad = tx.tensor([grad])
    return p


def test_step_is_in_place():
    p = one()
    address, version = p.data_ptr(), p._version
    SGD([p], lr=0.5).step()
    assert p.tolist() == [0.5]
    assert p.data_ptr() == address
    assert p._version > version


def test_parameters_without_gradient_stay():
    p = nn.Parameter(tx.ones(1))
    optimizer = AdamW([p])
    optimizer.step()
    assert p.tolist() == [1.0]
    assert not optimizer.state[p]


def test_closure():
    p = one()
    optimizer = SGD([p], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1.0
    assert p.tolist() == pytest.approx([0.8])


def test_zero_grad():
    p = one()
    optimizer = SGD([p], lr=0.1)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0.0]
    optimizer.zero_grad()
    assert p.grad is None


def test_groups():
    a, b = one(), one()
    optimizer = SGD([{"params": [a], "lr": 1.0}, {"params": b}], lr=0.25)
    optimizer.step()
    assert a.tolist() == [0.0]
    assert b.tolist() == [0.75]
    c = one()
    optimizer.add_param_group({"params": [c], "lr": 0.5})
    optimizer.step()
    assert c.tolist() == [0.5]
    assert repr(optimizer).startswith("SGD (\nParameter Group 0\n    dampening: 0\n")


def test_named_parameters():
    optimizer = SGD(nn.Linear(1, 1).named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda p: SGD([], 0.1), ValueError),
        (lambda p: SGD(p, 0.1), TypeError),
        (lambda p: SGD([p * 2], 0.1), ValueError),
        (lambda p: SGD([p, p], 0.1), ValueError),
        (lambda p: SGD([{"params": [p]}, {"params": [p]}], 0.1), ValueError),
        (lambda p: SGD([3.0], 0.1), TypeError),
        (lambda p: SGD([{"params": {p}}], 0.1), TypeError),
        (lambda p: SGD([p], -0.1), ValueError),
        (lambda p: SGD([p], 0.1, nesterov=True), ValueError),
        (lambda p: Adam([p], betas=(1.0, 0.9)), ValueError),
        (lambda p: AdamW([p], eps=-1.0), ValueError),
    ],
)
def test_wrong_arguments(make, error):
    with pytest.raises(error):
        make(nn.Parameter(tx.ones(1)))


@pytest.mark.parametrize("make", [lambda p: SGD(p, 0.1, momentum=0.9), lambda p: AdamW(p, 0.1, amsgrad=True)])
def test_state_round_trip(make, device):
    def fresh():
        return nn.Parameter(tx.tensor([1.0, 2.0], device=device))

    def train(p, optimizer, steps):
        for i in range(steps):
            p.grad = tx.tensor([0.5, -1.0 - i], device=device)
            optimizer.step()

    p = fresh()
    optimizer = make([p])
    train(p, optimizer, 3)
    saved = pickle.loads(pickle.dumps(optimizer.state_dict()))
    q = nn.Parameter(p.detach().clone())
    other = make([q])
    other.load_state_dict(saved)
    train(p, optimizer, 2)
    train(q, other, 2)
    assert p.tolist() == q.tolist()
    assert all(t.device == q.device for t in other.state[q].values() if isinstance(t, tx.Tensor))


def test_state_dict_has_pytorchs_form():
    p = one()
    optimizer = Adam([p], lr=0.1)
    optimizer.step()
    state = optimizer.state_dict()
    assert state["param_groups"][0]["params"] == [0]
    assert set(state["state"][0]) == {"step", "exp_avg", "exp_avg_sq"}
    assert state["state"][0]["step"].tolist() == 1.0
    with pytest.raises(ValueError, match="doesn't match the size"):
        Adam([one(), one()]).load_state_dict(state)
    with pytest.raises(ValueError, match="different number"):
        Adam([{"params": [one()]}, {"params": [one()]}]).load_state_dict(state)


def test_loading_casts_to_the_parameter():
    p = one()
    optimizer = Adam([p])
    optimizer.step()
    q = nn.Parameter(tx.ones(1, dtype=tx.float16))
    other = Adam([q])
    other.load_state_dict(optimizer.state_dict())
    assert other.state[q]["exp_avg"].dtype is tx.float16


def test_deepcopy_and_pickle():
    optimizer = SGD([one()], lr=0.5, momentum=0.9)
    optimizer.step()
    for again in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        p = again.param_groups[0]["params"][0]
        p.grad = tx.tensor([1.0])
        again.step()
        assert p.tolist() == pytest.approx([0.5 - 0.5 * 1.9])


def test_hooks():
    optimizer = SGD([one()], lr=0.5)
    seen = []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("pre"))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("post"))
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert seen == ["pre", "post", "pre"]


def test_own_optimizer():
    class Plain(tx.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @tx.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=-group["lr"])

    p = one()
    seen = []
    optimizer = Plain([p], 0.5)
    optimizer.register_step_post_hook(lambda *args: seen.append(1))
    optimizer.step()
    assert p.tolist() == [0.5]
    assert seen == [1]


def test_tensor_learning_rate():
    p = one()
    lr = tx.tensor(0.5)
    optimizer = SGD([p], lr=lr)
    optimizer.step()
    lr.fill_(0.25)
    optimizer.step()
    assert p.tolist() == [0.25]


def test_an_own_optimizers_counts_stay_as_they_are():
    class Counting(tx.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {})

        def step(self):
            for p in self.param_groups[0]["params"]:
                state = self.state[p]
                state["step"] = state.get("step", 0) + 1
                state["half"] = tx.ones(1)

    p = nn.Parameter(tx.ones(1, dtype=tx.float16))
    optimizer = Counting([p])
    optimizer.step()
    saved = optimizer.state_dict()
    assert saved["state"][0]["step"] == 1
    other = Counting([p])
    other.load_state_dict(saved)
    other.step()
    assert other.state[p]["step"] == 2
    assert type(other.state[p]["step"]) is int
    other.load_state_dict({**saved, "state": {0: {"step": tx.tensor(3.0), "half": tx.ones(1)}}})
    assert other.state[p]["step"].dtype is tx.float32
    assert other.state[p]["half"].dtype is tx.float16
