"""Functions: errors, corners, dropout."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tensorx as tx
from tensorx import nn
from tensorx.nn import functional as F


def test_dropout_scales_and_drops(device):
    tx.manual_seed(0)
    x = tx.ones(4000, device=device, requires_grad=True)
    y = F.dropout(x, 0.25)
    kept = (y != 0).sum().item()
    assert 0.72 < kept / 4000 < 0.78
    assert y.max().item() == pytest.approx(4 / 3)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()  # the gradient passes where the value did


def test_dropout_masks_are_the_same_everywhere(device):
    def mask(where):
        tx.manual_seed(3)
        return F.dropout(tx.ones(100, device=where), 0.5).tolist()

    assert mask(device) == mask("cpu")


def test_dropout_corners():
    x = tx.ones(3)
    assert F.dropout(x, 0.5, training=False) is x
    assert F.dropout(x, 1.0).tolist() == [0.0] * 3
    assert F.dropout(x, 0.0).tolist() == [1.0] * 3
    with pytest.raises(ValueError, match="between 0 and 1"):
        F.dropout(x, 1.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.Dropout(-0.1)
    layer = nn.Dropout(0.5).eval()
    assert layer(x).tolist() == [1.0] * 3


def test_dropout_in_place():
    x = tx.ones(100)
    y = F.dropout(x, 0.5, inplace=True)
    assert y.data_ptr() == x.data_ptr()
    assert 0.0 in x.tolist()


@pytest.mark.parametrize("wrong", [3, -1])
def test_class_index_out_of_range(device, wrong):
    logits = tx.zeros(2, 3, device=device)
    with pytest.raises(IndexError):
        F.cross_entropy(logits, tx.tensor([0, wrong], device=device)).item()


def test_infinite_logits_that_are_ignored(device):
    logits = tx.tensor([[0.0, 0.0], [-math.inf, 0.0]], device=device, requires_grad=True)
    loss = F.nll_loss(F.log_softmax(logits, 1), tx.tensor([0, -100], device=device))
    loss.backward()
    assert loss.item() == pytest.approx(math.log(2))
    assert logits.grad[0].tolist() == pytest.approx([-0.5, 0.5])


def test_loss_arguments():
    x, t = tx.zeros(2, 3), tx.tensor([0, 1])
    with pytest.raises(ValueError, match="not a valid value for reduction"):
        F.cross_entropy(x, t, reduction="average")
    with pytest.raises(RuntimeError, match="label_smoothing"):
        F.cross_entropy(x, t, label_smoothing=2.0)
    with pytest.raises(ValueError, match="batch_size"):
        F.cross_entropy(x, tx.tensor([0, 1, 2]))
    with pytest.warns(UserWarning, match="size_average and reduce"):
        assert F.mse_loss(tx.ones(2), tx.zeros(2), size_average=False).item() == 2
    with pytest.warns(UserWarning, match="target size"):
        F.mse_loss(tx.ones(2), tx.zeros(1))


def test_empty_losses():
    assert math.isnan(F.mse_loss(tx.zeros(2, 0), tx.zeros(2, 0)).item())
    assert F.cross_entropy(tx.zeros(2, 3), tx.tensor([-100, -100]), reduction="sum").item() == 0


def test_implicit_dim_warns():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert F.softmax(tx.zeros(2, 4)).tolist() == [[0.25] * 4] * 2


def test_relu_passes_nan():
    assert math.isnan(F.relu(tx.tensor([math.nan])).item())
    x = tx.tensor([-1.0, 1.0])
    assert F.relu(x, inplace=True) is x
    assert x.tolist() == [0.0, 1.0]


def test_embedding(device):
    weight = tx.tensor([[1.0], [2.0], [3.0]], device=device, requires_grad=True)
    out = F.embedding(tx.tensor([[0, 2], [2, 1]], device=device), weight, padding_idx=1)
    assert out.tolist() == [[[1.0], [3.0]], [[3.0], [2.0]]]
    out.sum().backward()
    assert weight.grad.tolist() == [[1.0], [0.0], [2.0]]


@pytest.mark.parametrize("wrong", [3, -1])
def test_embedding_index_out_of_range(device, wrong):
    with pytest.raises(IndexError):
        F.embedding(tx.tensor([wrong], device=device), tx.zeros(3, 1, device=device)).tolist()


def test_embedding_max_norm():
    weight = tx.tensor([[3.0, 4.0], [0.3, 0.4]])
    F.embedding(tx.tensor([0, 1, 0]), weight, max_norm=1.0)
    assert weight.tolist()[0] == pytest.approx([0.6, 0.8], rel=1e-5)
    assert weight.tolist()[1] == pytest.approx([0.3, 0.4])


def test_embedding_layer():
    layer = nn.Embedding(3, 2, padding_idx=-1)
    assert layer.padding_idx == 2
    assert layer.weight[2].tolist() == [0.0, 0.0]
    frozen = nn.Embedding.from_pretrained(tx.ones(3, 2), padding_idx=0)
    assert frozen.weight.tolist() == [[1.0, 1.0]] * 3
    assert not frozen.weight.requires_grad


def test_layers_without_elements():
    with pytest.warns(UserWarning, match="no-op"):
        assert nn.Linear(0, 2)(tx.zeros(1, 0)).shape == (1, 2)
    assert nn.Flatten()(tx.zeros(0, 2, 3)).shape == (0, 6)


def test_conv_arguments():
    with pytest.raises(ValueError, match="divisible by groups"):
        nn.Conv2d(3, 4, 3, groups=2)
    with pytest.raises(ValueError, match="strided"):
        nn.Conv2d(1, 1, 3, padding="same", stride=2)
    with pytest.raises(ValueError, match="padding_mode"):
        nn.Conv2d(1, 1, 3, padding_mode="wrap")


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_pad(device, mode):
    x = tx.arange(12.0, device=device).view(1, 3, 4).requires_grad_()
    y = F.pad(x, (2, 1, 1, 0), mode=mode)
    want = np.pad(x.tolist()[0], ((1, 0), (2, 1)), {"replicate": "edge", "circular": "wrap"}.get(mode, mode))
    assert y.tolist() == [want.tolist()]
    y.sum().backward()
    counts = np.ones(12) if mode == "constant" else np.bincount(want.astype(int).ravel(), minlength=12)
    assert x.grad.flatten().tolist() == counts.tolist()


def test_pad_crops_and_fills():
    x = tx.arange(3.0)
    assert F.pad(x, (-1, 1)).tolist() == [1.0, 2.0, 0.0]
    assert F.pad(x, (1, -2), value=7.0).tolist() == [7.0, 0.0]
    assert F.pad(x.view(1, 3), (-1, 1), mode="circular").tolist() == [[1.0, 2.0, 1.0]]
    assert F.pad(tx.ones(1, 2), (1, 0, 0, 1)).tolist() == [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    with pytest.raises(RuntimeError, match="less than the corresponding input dimension"):
        F.pad(tx.zeros(1, 1, 2), (2, 0), mode="reflect")
    with pytest.raises(RuntimeError, match="pairs"):
        F.pad(x, (1, 0, 1, 0))
    with pytest.raises(NotImplementedError, match="Unrecognised"):
        F.pad(x, (1, 1), mode="mirror")


def test_conv_padding_modes(device):
    layer = nn.Conv2d(1, 1, 3, padding=1, bias=False, padding_mode="circular", device=device)
    with tx.no_grad():
        layer.weight.fill_(1.0)
    assert layer(tx.ones(1, 1, 3, 3, device=device)).tolist() == [[[[9.0] * 3] * 3]]


def test_cross_entropy_of_one_class(device):
    """A row of one element is one value a row for every stride rule."""
    x = tx.full((40000, 1), 3.0, device=device, requires_grad=True)
    target = tx.zeros(40000, dtype=tx.int64, device=device)
    target[::2] = -100
    loss = F.cross_entropy(x, target, reduction="none")
    loss.sum().backward()
    assert loss.shape == (40000,) and not loss.any().item() and not x.grad.any().item()
    with pytest.raises(IndexError):
        F.cross_entropy(x, target + 1).item()


def test_class_weights_along_strided_rows(device):
    """Images with class weights: the weights lie along rows whose elements are far apart."""
    x = tx.linspace(-1, 1, 2 * 5 * 70 * 70, device=device).view(2, 5, 70, 70)
    target = (tx.arange(2 * 70 * 70, device=device) % 5).view(2, 70, 70)
    weight = tx.tensor([1.0, 2.0, 0.5, 0.25, 1.5], device=device)
    loss = F.cross_entropy(x, target, weight, reduction="none")
    rows = F.cross_entropy(x.permute(0, 2, 3, 1).reshape(-1, 5), target.reshape(-1), weight, reduction="none")
    assert tx.allclose(loss.reshape(-1), rows, rtol=1e-5)
