"""A recorded training step replays to the same bits: primitives pass the door and random draws carry their keys."""

from __future__ import annotations

import numpy as np

import tensorx as tx
import tensorx.nn.functional as F
from tensorx import nn, optim
from tensorx.ops.recorder import Recorder


def _copy(storage):
    t = tx.empty(0, dtype=tx.uint8, device=storage.device)
    old = tx.empty(0, dtype=tx.uint8, device=storage.device).set_(storage, size=(storage.length,))
    return t.set_(old.clone())._storage


def _train(device):
    tx.manual_seed(3)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 4)).to(device)
    optimizer = optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.1)
    x, t = tx.randn(32, 8, device=device), tx.randint(0, 4, (32,), device=device)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), t)
        loss.backward()
        optimizer.step()
        return loss

    step()  # optimiser state exists from here on
    return net, step


def test_replay_gives_the_same_bits(device):
    net, step = _train(device)
    with Recorder() as first:
        step()
    # the same step again, recorded: its inputs are saved before it runs, by replaying on copies
    before = {id(s): _copy(s) for s in first.inputs()}
    with Recorder() as second:
        loss = step()
    copies = {id(s): before[id(s)] for s in second.inputs() if id(s) in before}
    results = second.replay(copies)
    at = max(i for i, c in enumerate(second.calls) if c.results[0] == second.ref(loss))
    names = [c.op.schema.name for c in second.calls]
    assert "_step" in names and "_backward" in names and "_dropout" in names
    replayed = {id(s): copies[id(s)] for s in second.inputs() if id(s) in copies}
    for p in net.parameters():
        copy = tx.empty(0, dtype=p.dtype, device=p.device).set_(replayed[id(p._storage)], size=p.shape)
        np.testing.assert_array_equal(copy.cpu().numpy(), p.detach().cpu().numpy())
    assert results[at][0].item() == loss.item()


def test_breaks_are_noted(device):
    x = tx.ones(3, device=device)
    with Recorder() as r:
        y = x + 1
        y.sum().item()
        (y > 0).nonzero()
    assert r.breaks
