"""nn.utils: what clipping costs, vectors of parameters that share memory, calls with other parameters."""

from __future__ import annotations

import math

import pytest

import tensorx as tx
from tensorx import nn
from tensorx.nn import utils


def layers(device, count=5):
    tx.manual_seed(0)
    net = nn.Sequential(*[nn.Linear(7, 7, bias=False) for _ in range(count)]).to(device)
    net(tx.ones(3, 7, device=device)).square().sum().backward()
    return net


def test_clipping_stays_on_the_device(device, monkeypatch):
    """A reduction and a product for each gradient, one more reduction and one small kernel; nothing is read back."""
    net = layers(device)
    utils.clip_grad_norm_(net.parameters(), 1e-3)  # kernels exist from here on
    want = math.sqrt(sum(p.grad.square().sum().item() for p in net.parameters()))
    kind, launches = type(device.runtime), []
    launch = kind.launch
    with monkeypatch.context() as patch:
        patch.setattr(kind, "launch", lambda self, *args: launches.append(1) or launch(self, *args))
        patch.setattr(kind, "copy_out", lambda *args: pytest.fail("a value was read back"))
        norm = utils.clip_grad_norm_(net.parameters(), 1e-4)
    assert len(launches) <= 2 * 5 + 2
    assert norm.device == device
    assert norm.item() == pytest.approx(want, rel=1e-5)
    assert utils.get_total_norm([p.grad for p in net.parameters()]).item() == pytest.approx(1e-4, rel=1e-2)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_norms_are_those_of_one_vector(device, p):
    grads = [param.grad for param in layers(device).parameters()]
    whole = tx.cat([g.reshape(-1) for g in grads])
    want = tx.linalg.vector_norm(whole, p).item()
    assert utils.get_total_norm(grads, p).item() == pytest.approx(want, rel=1e-4)


def test_non_finite_norms(device):
    net = layers(device, 2)
    before = net[1].weight.grad.tolist()
    net[0].weight.grad[0, 0] = math.nan
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)
    assert net[1].weight.grad.tolist() == before


def test_parameters_look_into_the_vector(device):
    net = layers(device, 2)
    vector = utils.parameters_to_vector(net.parameters())
    assert vector.shape == (98,)
    other = tx.arange(98.0, device=device)
    utils.vector_to_parameters(other, net.parameters())
    other[0] = 5
    assert net[0].weight[0, 0].item() == 5
    assert net[1].weight[0, 0].item() == 49


def test_an_ensemble_of_one_module(device):
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).to(device)
    own = {name: value.clone() for name, value in net.state_dict().items()}
    other = {name: tx.zeros_like(value) for name, value in net.named_parameters()}
    buffers = {name: value.clone() for name, value in net.named_buffers()}
    out = tx.func.functional_call(net, (other, buffers), (tx.ones(4, 2, device=device),))
    assert (out == 0).all()
    assert all(value.equal(own[name]) for name, value in net.state_dict().items())
    with pytest.raises(RuntimeError, match="Missing key"):
        tx.func.functional_call(net, other, (tx.ones(4, 2, device=device),), strict=True)
    with pytest.raises(ZeroDivisionError), utils.stateless.reparametrized(net, other):
        _ = 1 / 0
    assert net[0].weight.equal(own["0.weight"])  # what was there is back after an error
