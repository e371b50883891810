"""What is measured: works, each written once and given to every peer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.peers import Peer

#: Runs once what is measured; the result is given so that a lazy peer can realise it.
Step = Callable[[], Any]


class Unsupported(Exception):
    """A peer that has no such work."""


@dataclass(frozen=True)
class Work:
    """A named piece of work. ``make`` prepares it for a peer; ``flops`` and ``nbytes`` are what one step must do, and
    move, at the least. ``count`` pieces make a step: times are given for one.
    """

    family: str
    name: str
    make: Callable[[Peer], Step]
    flops: float = 0
    nbytes: float = 0
    count: int = 1


def floats(*shape: int, scale: float = 1.0) -> np.ndarray:
    """Standard normal numbers, the same ones for every peer."""
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32) * np.float32(scale)


def below(high: int, *shape: int) -> np.ndarray:
    """Whole numbers under ``high``, int64."""
    return np.random.default_rng(high).integers(0, high, shape)


def function(
    family: str,
    name: str,
    f: Callable[..., Any],
    inputs: Callable[[], list[np.ndarray]],
    grad: bool = False,
    **sizes: Any,
) -> Work:
    """``f(T, *tensors)`` for a module T with PyTorch's names; with ``grad`` also the gradients of all float inputs."""
    return Work(family, name, lambda peer: peer.function(f, inputs(), grad), **sizes)


def both_ways(
    family: str, name: str, f: Callable[..., Any], inputs: Callable[[], list[np.ndarray]], **sizes: Any
) -> list[Work]:
    """The forward pass alone, and with its gradients (three times the arithmetic, where it is products)."""
    backward = sizes | {"flops": 3 * sizes.get("flops", 0), "nbytes": 0}
    return [
        function(family, name, f, inputs, **sizes),
        function(family, f"{name}, gradients", f, inputs, True, **backward),
    ]
