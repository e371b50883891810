"""L-BFGS against recorded runs of PyTorch's."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from optim_cases import SEARCHES, minimise

import tensorx as tx
from tensorx import nn
from tensorx.optim import LBFGS
from tensorx.optim.lbfgs import Point, cubic

GOLDEN = json.loads(Path(__file__).with_name("golden_optim.json").read_text())


@pytest.mark.parametrize("name", SEARCHES)
def test_golden(name, device, need):
    need("f64")
    for got, want in zip(minimise(tx, name, device, tx.float64), GOLDEN[name], strict=True):
        assert got[3:] == want[3:]  # evaluations and iterations
        for a, b in zip(got[:3], want[:3]):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-9)


def test_single_precision(device):
    last = minimise(tx, "lbfgs wolfe", device, tx.float32)[-1]
    assert last[0] < 5.0


def quadratic(p, target=1.0):
    def closure():
        p.grad = None
        loss = ((p - target).abs() ** 2).sum()
        loss.backward()
        return loss

    return closure


def test_complex_parameters(device, need):
    need("c64")
    p = nn.Parameter(tx.tensor([1 + 1j, 2 - 1j], device=device))
    optimizer = LBFGS([p], line_search_fn="strong_wolfe")
    optimizer.step(quadratic(p, 3.0))
    np.testing.assert_allclose(p.tolist(), [3, 3], atol=1e-4)


def test_a_parameter_without_gradient_stays():
    p, q = nn.Parameter(tx.ones(2) * 3), nn.Parameter(tx.ones(2))
    LBFGS([q, p], lr=0.5).step(quadratic(p))
    assert q.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(p.tolist(), [1, 1], atol=1e-3)


def test_nothing_to_do():
    p = nn.Parameter(tx.ones(2))
    optimizer = LBFGS([p])
    assert optimizer.step(quadratic(p)).item() == 0.0
    assert optimizer.state[p] == {"func_evals": 1, "n_iter": 0}


def test_state_goes_on():
    p = nn.Parameter(tx.tensor([3.0, -2.0]))
    optimizer = LBFGS([p], max_iter=2, lr=0.3)
    optimizer.step(quadratic(p))
    state = optimizer.state_dict()["state"][0]
    assert list(state)[:2] == ["func_evals", "n_iter"]
    assert set(state) - {"func_evals", "n_iter"} == {
        *("al", "d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")
    }
    q = nn.Parameter(p.detach().clone())
    other = LBFGS([q])
    other.load_state_dict(optimizer.state_dict())
    again = pickle.loads(pickle.dumps(optimizer))
    (r,) = again.param_groups[0]["params"]
    for param, o in ((p, optimizer), (q, other), (r, again)):
        o.step(quadratic(param))
    assert p.tolist() == q.tolist() == r.tolist()


def test_one_search_only():
    p = nn.Parameter(tx.ones(2) * 2)
    with pytest.raises(RuntimeError, match="only 'strong_wolfe'"):
        LBFGS([p], line_search_fn="other").step(quadratic(p))


def test_cubic_interpolation():
    """The cubic x**3 - 3 x has its minimum at 1."""
    a, b = (Point(t, t**3 - 3 * t, None, 3 * t * t - 3) for t in (-0.5, 3.0))
    assert cubic(a, b) == pytest.approx(1.0)
    assert cubic(b, a) == pytest.approx(1.0)
    assert cubic(a, b, (2.0, 4.0)) == 2.0
    assert cubic(Point(0.0, 0.0, None, 1.0), Point(2.0, 2.0, None, 1.0)) == 1.0  # a straight line: the middle
