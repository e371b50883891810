"""NumPy, for what it has: large sums and OpenBLAS's matrix products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.timing import Loop
from benchmarks.work import Step, Unsupported


class NumPy:
    name = "numpy"

    def framework(self) -> Any:
        raise Unsupported

    def tensor(self, array: np.ndarray) -> Any:
        return array

    def function(self, f: Callable[..., Any], arrays: Sequence[np.ndarray], grad: bool) -> Step:
        if grad:
            raise Unsupported
        return lambda: f(np, *arrays)

    def loop(self, step: Step) -> Loop:
        def run(n: int) -> None:
            for _ in range(n):
                step()

        return run


def make(name: str, device: str | None) -> NumPy:
    return NumPy()
