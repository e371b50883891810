"""From the same weights and batches, losses follow PyTorch's within 1 % for 100 steps."""

from __future__ import annotations

import json

import pytest
from networks import NETWORKS, RECORD, curve

import tensorx

TORCH = json.loads(RECORD.read_text())


@pytest.mark.parametrize("name", NETWORKS)
def test_losses_follow(name, device):
    losses = curve(tensorx, name, device)
    assert losses == pytest.approx(TORCH[name], rel=0.01)
    assert losses[-1] < 0.9 * losses[0]
