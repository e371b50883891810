"""Recurrent layers: what must be equal to what, second derivatives, and what a step costs."""

from __future__ import annotations

import pytest

import tensorx as tx
from tensorx import nn
from tensorx.autograd import gradcheck, gradgradcheck
from tensorx.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

KINDS = ["RNN", "LSTM", "GRU"]


def layer(kind, *args, device="cpu", **options):
    tx.manual_seed(0)
    return getattr(nn, kind)(*args, **options).to(device)


def sequence(*shape, device="cpu", dtype=tx.float32):
    tx.manual_seed(1)
    return tx.randn(shape, device=device, dtype=dtype)


@pytest.mark.parametrize("kind", KINDS)
def test_a_packed_batch_is_its_sequences_one_by_one(kind, device):
    net, x = layer(kind, 3, 4, 2, bidirectional=True, device=device), sequence(6, 3, 3, device=device)
    lengths = [2, 6, 3]
    packed, states = net(pack_padded_sequence(x, lengths, enforce_sorted=False))
    padded, found = pad_packed_sequence(packed)
    assert found.tolist() == lengths
    for i, n in enumerate(lengths):
        output, alone = net(x[:n, i])
        assert tx.allclose(padded[:n, i], output, atol=1e-5)
        assert (padded[n:, i] == 0).all()
        for a, b in zip(states if kind == "LSTM" else [states], alone if kind == "LSTM" else [alone]):
            assert tx.allclose(a[:, i], b, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_backwards_is_forwards_on_the_flipped_sequence(kind, device):
    both, x = layer(kind, 3, 4, bidirectional=True, device=device), sequence(5, 2, 3, device=device)
    one = layer(kind, 3, 4, device=device)
    with tx.no_grad():
        for name, p in one.named_parameters():
            p.copy_(getattr(both, name + "_reverse"))
    assert tx.allclose(both(x)[0][..., 4:], one(x.flip(0))[0].flip(0), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_unrolled_is_the_layer(kind, device):
    net, cell = layer(kind, 3, 4, device=device), layer(kind + "Cell", 3, 4, device=device)
    cell.load_state_dict({name[:-3]: value for name, value in net.state_dict().items()})
    x, state, steps = sequence(5, 2, 3, device=device), None, []
    for row in x:
        state = cell(row, state)
        steps.append(state[0] if kind == "LSTM" else state)
    assert tx.allclose(tx.stack(steps), net(x)[0], atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "options"), [*((k, {}) for k in KINDS), ("LSTM", {"proj_size": 2}), ("RNN", {"bias": False})]
)
def test_derivatives(kind, options):
    net = layer(kind, 2, 3, **options).double()
    x = sequence(3, 2, 2, dtype=tx.float64).requires_grad_()
    names = [name for name, _ in net.named_parameters()]
    values = [p.detach().requires_grad_() for p in net.parameters()]

    def run(x, *values):
        output, states = tx.func.functional_call(net, dict(zip(names, values)), x)
        return (output, *states) if kind == "LSTM" else (output, states)

    assert gradcheck(run, (x, *values))
    assert gradgradcheck(run, (x, *values))


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_two_launches_each_way(kind, device, monkeypatch):
    runtime, net = device.runtime, layer(kind, 3, 4, device=device)

    def count(steps):
        net.zero_grad()
        x, launches = sequence(steps, 2, 3, device=device).requires_grad_(), []
        launch = type(runtime).launch
        with monkeypatch.context() as patch:
            patch.setattr(type(runtime), "launch", lambda self, *args: launches.append(1) or launch(self, *args))
            output, _ = net(x)
            forward = len(launches)
            output.sum().backward()
        return forward, len(launches) - forward

    more = [b - a for a, b in zip(count(4), count(9))]
    if runtime.capabilities.host_callable:  # products go to BLAS, and steps as small as these to NumPy
        assert max(more) <= 10
    else:
        assert more == [10, 10]


@pytest.mark.parametrize("kind", KINDS)
def test_corners(kind, device):
    net = layer(kind, 3, 4, 2, device=device)
    with tx.inference_mode():
        assert not net(sequence(4, 2, 3, device=device))[0].requires_grad
    empty = sequence(4, 0, 3, device=device).requires_grad_()
    net(empty)[0].sum().backward()
    assert empty.grad.shape == (4, 0, 3)
    assert net.weight_hh_l0.grad.abs().sum().item() == 0
    net.requires_grad_(False)
    net.zero_grad()
    x = sequence(4, 2, 3, device=device).requires_grad_()
    output, _ = net(x)
    output.sum().backward(retain_graph=True)
    first = x.grad.clone()
    output.sum().backward()
    assert tx.allclose(x.grad, 2 * first)
    assert net.weight_hh_l0.grad is None
    assert getattr(nn, kind)(3, 4, device="meta")(tx.ones(4, 2, 3, device="meta"))[0].shape == (4, 2, 4)


def test_dropout_is_between_layers_only(device):
    net, x = layer("LSTM", 3, 4, 2, dropout=1.0, device=device), sequence(4, 2, 3, device=device)
    assert net(x)[0].equal(net(x + 1)[0])  # nothing passes the dropout
    assert not net.eval()(x)[0].equal(net(x + 1)[0])
    with pytest.warns(UserWarning, match="dropout option adds dropout after all but last"):
        alone = layer("LSTM", 3, 4, dropout=1.0, device=device)
    assert not alone(x)[0].equal(alone(x + 1)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_autocast_runs_layers_in_the_lower_dtype(kind, device):
    net, x = layer(kind, 3, 4, device=device), sequence(4, 2, 3, device=device)
    want = net(x)[0]
    with tx.autocast(device.type, dtype=tx.bfloat16):
        output, _ = net(x)
        again, _ = net(x.bfloat16())
    assert output.dtype == again.dtype == tx.bfloat16
    assert tx.allclose(output.float(), want, atol=2e-2)
    output.float().sum().backward()
    assert net.weight_ih_l0.grad.dtype == tx.float32
    with pytest.raises(ValueError, match="does not match weight dtype"):
        net(x.bfloat16())
