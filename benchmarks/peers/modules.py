"""tensorx and torch: one adapter, since they have one interface."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.timing import Loop
from benchmarks.work import Step


class Modules:
    """A framework with PyTorch's interface."""

    def __init__(self, name: str, device: str) -> None:
        self.name = device if name == "tensorx" else name if device == "cpu" else f"{name}:{device}"
        self.device = device
        self._T = importlib.import_module(name)

    def framework(self) -> Any:
        return self._T

    def tensor(self, array: np.ndarray) -> Any:
        return self._T.tensor(array, device=self.device)

    def function(self, f: Callable[..., Any], arrays: Sequence[np.ndarray], grad: bool) -> Step:
        T, tensors = self._T, [self.tensor(array) for array in arrays]
        if not grad:

            def forward() -> Any:
                with T.no_grad():
                    return f(T, *tensors)

            return forward
        leaves = [t.requires_grad_() for t in tensors if t.is_floating_point()]
        cotangent = T.ones_like(f(T, *tensors)).detach()

        def both() -> Any:
            return T.autograd.grad(f(T, *tensors), leaves, cotangent)

        return both

    def loop(self, step: Step) -> Loop:
        wait = self._wait()

        def run(n: int) -> None:
            for _ in range(n):
                step()
            wait()

        return run

    def _wait(self) -> Callable[[], None]:
        if self._T.__name__ == "torch":
            return (lambda: None) if self.device == "cpu" else self._T.accelerator.synchronize  # type: ignore[no-any-return]
        runtime = importlib.import_module("tensorx.devices.registry").resolve(self.device).runtime
        return runtime.synchronize  # type: ignore[no-any-return]


def make(name: str, device: str | None) -> Modules:
    if name == "torch":
        importlib.import_module("torch").set_num_threads(len(os.sched_getaffinity(0)))
    return Modules(name, device or "cpu")
