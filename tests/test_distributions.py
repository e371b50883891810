"""Draws of the distributions: their moments, their gradients, the same on every device."""

from __future__ import annotations

import math

import pytest

import tensorx as tx
from tensorx import distributions as D

N = 20_000
# name -> (distribution made on the default device, whether its moments exist)
CASES = {
    "Normal": lambda: D.Normal(tx.tensor([0.0, 2.0]), tx.tensor([1.0, 0.5])),
    "LogNormal": lambda: D.LogNormal(tx.tensor([0.0]), tx.tensor([0.25])),
    "Laplace": lambda: D.Laplace(tx.tensor([0.0, 2.0]), tx.tensor([1.0, 0.5])),
    "Gumbel": lambda: D.Gumbel(tx.tensor([0.0, 2.0]), tx.tensor([1.0, 0.5])),
    "Uniform": lambda: D.Uniform(tx.tensor([0.0, -3.0]), tx.tensor([1.0, 5.0])),
    "Exponential": lambda: D.Exponential(tx.tensor([1.0, 4.0])),
    "Bernoulli": lambda: D.Bernoulli(tx.tensor([0.25, 0.9])),
    "Geometric": lambda: D.Geometric(tx.tensor([0.25, 0.9])),
    "OneHotCategorical": lambda: D.OneHotCategorical(tx.tensor([1.0, 2.0, 5.0])),
    "MultivariateNormal": lambda: D.MultivariateNormal(tx.tensor([1.0, -1.0]), tx.tensor([[2.0, 0.5], [0.5, 1.0]])),
    "Independent": lambda: D.Independent(D.Normal(tx.tensor([0.0, 2.0]), tx.tensor([1.0, 0.5])), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_draws_have_the_moments(name, device):
    """Within five standard errors (kurtosis makes that of the variance larger: eight)."""
    tx.manual_seed(1)
    with device:
        d = CASES[name]()
        x = d.sample((N,))
        mean, variance = d.mean.tolist(), d.variance.tolist()
    assert tuple(x.shape) == (N, *d.batch_shape, *d.event_shape)
    assert x.device is device
    assert not x.requires_grad
    for i, (m, v) in enumerate(zip(mean, variance, strict=True)):
        assert abs(x[:, i].mean().item() - m) < 5 * math.sqrt(v / N)
        assert abs(x[:, i].var().item() - v) < 8 * v * math.sqrt(9 / N)


def test_classes_come_with_their_probabilities(device):
    tx.manual_seed(1)
    with device:
        x = D.Categorical(tx.tensor([1.0, 2.0, 5.0])).sample((N,))
        counts = [(x == i).sum().item() / N for i in range(3)]
    assert counts == pytest.approx([0.125, 0.25, 0.625], abs=0.02)


def test_densities_integrate_to_one(device):
    with device:
        x = tx.linspace(-40.0, 40.0, 80_001)
        for d in (D.Normal(0.5, 2.0), D.Laplace(0.5, 2.0), D.Gumbel(0.5, 2.0)):
            assert d.log_prob(x).exp().sum().item() * 0.001 == pytest.approx(1.0, abs=1e-3)


def test_gradients_reach_the_parameters(device):
    with device:
        for make in (D.Normal, D.Laplace, D.Cauchy, D.Gumbel, D.LogNormal):
            loc, scale = tx.zeros(3, requires_grad=True), tx.ones(3, requires_grad=True)
            make(loc, scale).rsample((4,)).sum().backward()
            assert loc.grad.isfinite().all()
            assert scale.grad.isfinite().all()
        tril = tx.eye(2).requires_grad_()
        D.MultivariateNormal(tx.zeros(2), scale_tril=tril).rsample((4,)).sum().backward()
        assert tril.grad.isfinite().all()


def test_one_seed_gives_the_same_draws_everywhere(device):
    def draws(where):
        tx.manual_seed(5)
        with tx.device(where):
            return [d().sample((3,)).cpu() for d in CASES.values()]

    for here, there in zip(draws(device), draws("cpu"), strict=True):
        assert tx.allclose(here, there, rtol=1e-5, atol=1e-6)


def test_a_policy_gradient_learns(device):
    """REINFORCE on two arms: the better one is chosen in the end."""
    tx.manual_seed(0)
    with device:
        logits = tx.zeros(2, requires_grad=True)
        optimizer = tx.optim.SGD([logits], lr=0.5)
        for _ in range(40):
            policy = D.Categorical(logits=logits)
            action = policy.sample((16,))
            reward = (action == 1).float()
            loss = -(policy.log_prob(action) * (reward - reward.mean())).mean() - 0.001 * policy.entropy()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert D.Categorical(logits=logits).probs[1].item() > 0.8
