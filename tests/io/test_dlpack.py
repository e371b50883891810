"""DLPack with NumPy: cpu tensors share memory, others are copied when the consumer asks for the cpu."""

from __future__ import annotations

import numpy as np
import pytest

import tensorx as tx


def test_export(device):
    x = tx.arange(6, device=device).reshape(2, 3).t()
    assert np.from_dlpack(x, device="cpu", copy=True).tolist() == [[0, 3], [1, 4], [2, 5]]
    if device.type == "cpu":
        shared = np.from_dlpack(x)
        x[0, 0] = 9
        assert shared[0, 0] == 9
    else:
        assert np.from_dlpack(x, device="cpu").tolist() == [[0, 3], [1, 4], [2, 5]]
        for options in ({}, {"device": "cpu", "copy": False}):
            with pytest.raises(BufferError, match="must be on cpu"):
                np.from_dlpack(x, **options)
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(tx.ones(1, device=device, requires_grad=True), device="cpu")


def test_import():
    array = np.arange(3)
    x = tx.from_dlpack(array)
    array[0] = 5
    assert x.tolist() == [5, 1, 2]
