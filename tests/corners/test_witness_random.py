"""RANDOM: one seed gives the recorded bits on every device, and the numbers have the statistics they should have."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import tensorx

BITS = json.loads((Path(__file__).parents[1] / "data" / "random_bits.json").read_text())


def draws(device):
    """Draws of every random row with one seed, in a fixed order: name -> tensor."""
    generator = tensorx.Generator().manual_seed(2026)
    like = {"device": device, "generator": generator}
    half = tensorx.full((4000,), 0.3, device=device)
    tensorx.manual_seed(2026)
    ones = tensorx.ones(40, 100, device=device)
    return {
        "rand": tensorx.rand(4000, **like),
        "rand_f16": tensorx.rand(4000, dtype=tensorx.float16, **like),
        "randn": tensorx.randn(4000, **like),
        "randint": tensorx.randint(-5, 1000, (4000,), **like),
        "bernoulli": tensorx.bernoulli(half, generator=generator),
        "randperm": tensorx.randperm(3000, **like),
        "normal_": tensorx.empty(4000, device=device).normal_(2.0, 0.5, generator=generator),
        "uniform_": tensorx.empty(4000, dtype=tensorx.bfloat16, device=device).uniform_(-1, 3, generator=generator),
        "exponential_": tensorx.empty(4000, device=device).exponential_(2.0, generator=generator),
        "random_": tensorx.empty(4000, dtype=tensorx.uint8, device=device).random_(0, 9, generator=generator),
        "randn_f16": tensorx.randn(4000, dtype=tensorx.float16, **like),
        "randint_i32": tensorx.randint(0, 7, (4000,), dtype=tensorx.int32, **like),
        "dropout": tensorx.nn.functional.dropout(ones, 0.3),
        "dropout2d": tensorx.nn.functional.dropout2d(ones.view(4, 100, 2, 5), 0.5),
        "alpha_dropout": tensorx.nn.functional.alpha_dropout(ones, 0.2, training=True),
    }


def test_recorded_bits(device):
    """Of numbers, masks of dropout and permutations."""
    found, drawn = {}, draws(device)
    if device.runtime.capabilities.supports("f64"):
        source = tensorx.Generator().manual_seed(2026)
        drawn["rand_f64"] = tensorx.rand(4000, dtype=tensorx.float64, device=device, generator=source)
    for name, x in drawn.items():
        host = np.ascontiguousarray(x.cpu().numpy())
        first = host.reshape(-1)[:4].astype(np.float64).tolist()
        found[name] = {"first": first, "crc32": zlib.crc32(host.tobytes())}
    assert found == {name: bits for name, bits in BITS.items() if name in drawn}


@pytest.mark.parametrize("name", ["rand", "randn", "bernoulli", "normal_", "uniform_", "exponential_", "randint"])
def test_moments(name, device):
    """Within five standard errors of mean and variance."""
    mean, variance = {
        "rand": (0.5, 1 / 12),
        "randn": (0, 1),
        "bernoulli": (0.3, 0.21),
        "normal_": (2, 0.25),
        "uniform_": (1, 16 / 12),
        "exponential_": (0.5, 0.25),
        "randint": (497, (1005**2 - 1) / 12),
    }[name]
    x = draws(device)[name].cpu().float().numpy().astype(np.float64)
    assert abs(x.mean() - mean) < 5 * (variance / x.size) ** 0.5 + 0.005 * (name == "uniform_")
    spread = ((x - mean) ** 2).mean()
    kurtosis = ((x - mean) ** 4).mean()
    assert abs(spread - variance) < 5 * ((kurtosis - variance**2) / x.size) ** 0.5 + 0.01 * (name == "uniform_")


def test_permutations(device):
    p = draws(device)["randperm"]
    assert sorted(p.tolist()) == list(range(3000)) and p.dtype is tensorx.int64
    assert tensorx.randperm(0, device=device).numel() == 0
    first = [tensorx.randperm(4, device=device)[0].item() for _ in range(64)]
    assert set(first) == {0, 1, 2, 3}


def test_draws_are_independent_of_shape_and_device_state(device):
    def draw(*shape):
        return tensorx.randn(*shape, device=device, generator=tensorx.Generator().manual_seed(5)).flatten().tolist()

    assert draw(60) == draw(3, 4, 5) == draw(60)
    a, b = (tensorx.rand(8, device=device, generator=g) for g in [tensorx.Generator().manual_seed(5)] * 2)
    assert a.tolist() != b.tolist()


def test_probabilities_at_the_ends(device):
    p = tensorx.tensor([0.0, 1.0], device=device).expand(500, 2)
    assert tensorx.bernoulli(p).sum(0).tolist() == [0.0, 500.0]
    assert (tensorx.rand(20_000, device=device, dtype=tensorx.float16) < 1).all().item()
    with pytest.raises(RuntimeError, match="std"):
        tensorx.normal(0.0, -1.0, (2,), device=device)
