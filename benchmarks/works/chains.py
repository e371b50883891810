"""Chains of small ops: what is timed is the path from Python to the kernel. Times are for one op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers import Peer
from benchmarks.work import Step, Work, floats

N = 64
LENGTH = 100  # a new graph after so many ops: its memory, not its length, is no subject here


def _chain(op: Callable[[Any, Any, Any], Any], grad: bool = False, backward: bool = False) -> Callable[[Peer], Step]:
    def make(peer: Peer) -> Step:
        T, start, other = peer.framework(), peer.tensor(floats(N)), peer.tensor(floats(N, scale=0.1))
        if grad:
            start.requires_grad_()

        def step() -> Any:
            y = start
            for _ in range(LENGTH):
                y = op(T, y, other)
            if backward:
                T.autograd.grad(y.sum(), start)
            return y

        return step

    return make


def _chains() -> list[Work]:
    ops: dict[str, Callable[[Any, Any, Any], Any]] = {
        "y + 1": lambda T, y, x: y + 1,
        "y + x": lambda T, y, x: y + x,
        "tanh(y)": lambda T, y, x: T.tanh(y),
        "y.view.t.reshape": lambda T, y, x: y.view(8, 8).t().reshape(64),
        "y.sum(0, keepdim) + x": lambda T, y, x: y.sum(0, keepdim=True) + x,
    }
    ways = {"": {}, ", grad": {"grad": True}, ", forward and backward": {"grad": True, "backward": True}}
    return [
        Work("chains", f"{name}{way}", _chain(op, **flags), count=LENGTH)
        for name, op in ops.items()
        for way, flags in ways.items()
    ]


WORKS = _chains()
