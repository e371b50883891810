"""Random rows and generators: one seed gives one stream, draws differ, lanes agree, distributions are what they say."""

from __future__ import annotations

import numpy as np
import pytest
from checking import randoms
from checking.checks import run

import tensorx
from tensorx.ops.table import OPS


@pytest.fixture(params=[op for op in OPS.values() if randoms.is_random(op)], ids=lambda op: op.name)
def op(request):
    """Each random row."""
    return request.param


def test_the_keys_decide_the_bits(op, device):
    run(randoms.keys(op, device), device)


def test_generators_move_on():
    randoms.generator(tensorx.Generator)


def test_draws_of_a_generator_do_not_overlap(device):
    """A draw reserves what it uses: the next one, of any size, shares no number with it."""
    source = tensorx.Generator().manual_seed(3)
    first, second = (tensorx.rand(n, generator=source, device=device).tolist() for n in (64, 33))
    assert not set(first) & set(second)


@pytest.mark.parametrize("code", ["float16", "bfloat16", "float32"])
def test_uniform_numbers(device, code):
    """In [0, 1), also in half precision, with the right mean and variance."""
    x = tensorx.rand(20000, generator=tensorx.Generator().manual_seed(1), device=device, dtype=getattr(tensorx, code))
    values = np.asarray(x.to("cpu").float().numpy(), np.float64)
    assert values.min() >= 0 and values.max() < 1
    assert abs(values.mean() - 0.5) < 0.01 and abs(values.var() - 1 / 12) < 0.002


def test_cauchy_log_normal_and_geometric_numbers(device):
    """Quantiles of the first (it has no moments), moments of the logarithm of the second, mean and variance of the
    third."""
    source = tensorx.Generator().manual_seed(5)
    x = tensorx.empty(40000, device=device)
    cauchy = x.cauchy_(1.0, 2.0, generator=source).cpu().numpy().astype(np.float64)
    assert np.allclose(np.quantile(cauchy, [0.1, 0.25, 0.5, 0.75, 0.9]), [-5.155, -1, 1, 3, 7.155], atol=0.3)
    logs = np.log(x.log_normal_(0.5, 0.25, generator=source).cpu().numpy().astype(np.float64))
    assert np.allclose([logs.mean(), logs.std()], [0.5, 0.25], atol=0.01)
    trials = x.geometric_(0.3, generator=source).cpu().numpy().astype(np.float64)
    assert trials.min() == 1 and np.array_equal(trials, np.round(trials))
    assert np.allclose([trials.mean(), trials.var()], [1 / 0.3, 0.7 / 0.09], rtol=0.04)


@pytest.mark.parametrize("replacement", [False, True])
def test_multinomial_draws(device, replacement):
    """Frequencies are the weights; a weight of 0 is never drawn; without replacement nothing comes twice."""
    source = tensorx.Generator().manual_seed(6)
    weights = tensorx.tensor([[1.0, 2.0, 0.0, 5.0], [3.0, 0.0, 3.0, 0.0]], device=device).repeat(4000, 1)
    drawn = tensorx.multinomial(weights, 2, replacement, generator=source).cpu().numpy()
    for row, want in enumerate(([0.125, 0.25, 0, 0.625], [0.5, 0, 0.5, 0])):
        first = np.bincount(drawn[row::2, 0], minlength=4) / 4000
        assert np.allclose(first, want, atol=0.03), first
        assert not np.any(np.asarray(want)[drawn[row::2]] == 0)
    assert replacement or np.all(drawn[:, 0] != drawn[:, 1])


def test_normal_numbers(device):
    """Moments up to the fourth."""
    x = tensorx.randn(40000, generator=tensorx.Generator().manual_seed(2), device=device)
    values = np.asarray(x.to("cpu").numpy(), np.float64)
    moments = [np.mean(values**k) for k in (1, 2, 3, 4)]
    assert np.allclose(moments, [0, 1, 0, 3], atol=[0.02, 0.03, 0.08, 0.2]), moments
