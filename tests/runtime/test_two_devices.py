"""Operands on two devices: what may meet, and what is refused."""

from __future__ import annotations

import pytest

import tensorx as tx

KEYS = {
    "vector": lambda d: tx.tensor([2, 0], device=d),
    "in a tuple": lambda d: (tx.tensor([2, 0], device=d),),
    "mask": lambda d: tx.tensor([True, False, True], device=d),
    "beside a slice": lambda d: (tx.tensor([2, 0], device=d), slice(0, 1)),
}


@pytest.mark.parametrize("key", KEYS)
def test_indices_on_the_cpu_serve_every_device(device, key):
    x = tx.arange(6).view(3, 2)
    there = x.to(device, copy=True)
    assert there[KEYS[key]("cpu")].tolist() == x[KEYS[key]("cpu")].tolist()
    here = x.clone()
    here[KEYS[key]("cpu")] = 7
    there[KEYS[key]("cpu")] = 7
    assert there.tolist() == here.tolist()


@pytest.mark.parametrize("key", [k for k in KEYS if k != "mask"])
def test_indices_on_a_device_do_not_serve_the_cpu(other, key):
    x = tx.arange(6).view(3, 2)
    says = r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)"
    with pytest.raises(RuntimeError, match=says):
        x[KEYS[key](other)]
    with pytest.raises(RuntimeError, match=says):
        x[KEYS[key](other)] = 7
    assert x.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_masks_on_a_device_do_not_serve_the_cpu(other):
    x = tx.ones(2, 2)
    for mask in (tx.zeros(2, 2, dtype=tx.bool, device=other), tx.zeros(2, dtype=tx.bool, device=other)):
        with pytest.raises(RuntimeError, match="same device as the indexed tensor"):
            x[mask]
        with pytest.raises(RuntimeError, match="same device as the indexed tensor"):
            x[mask] = 5.0


def test_a_whole_mask_of_the_cpu_serves_every_device(device):
    x = tx.ones(2, 2, device=device)
    x[tx.tensor([[True, False], [False, True]])] = 5.0
    assert x.tolist() == [[5.0, 1.0], [1.0, 5.0]]


def test_a_single_position_may_come_from_anywhere(device):
    """It is read, as ``int(t)`` reads it."""
    assert tx.arange(3)[tx.tensor(2, device=device)].item() == 2
    assert tx.arange(3, device=device)[tx.tensor(2)].item() == 2


@pytest.mark.parametrize("put", [tx.Tensor.index_put, lambda x, i, v: x.clone().index_put_(i, v)])
def test_index_put_takes_indices_of_the_cpu(device, other, put):
    x, values = tx.zeros(3, device=device), tx.ones(2, device=device)
    assert put(x, (tx.tensor([0, 2]),), values).tolist() == [1.0, 0.0, 1.0]
    assert put(x, (tx.tensor([True, False, True]),), values).tolist() == [1.0, 0.0, 1.0]
    with pytest.raises(RuntimeError, match="same device as the indexed tensor"):
        put(tx.zeros(3), (tx.tensor([0, 2], device=other),), tx.ones(2))


def test_the_device_is_printed_unless_it_is_the_cpu_or_the_default_one(device, other):
    assert repr(tx.ones(1, device=other)).endswith(f", device='{other}')")
    with device:
        assert repr(tx.ones(1, device=device)) == "tensor([1.])"
        assert repr(tx.ones(1, device="cpu")) == "tensor([1.])"
