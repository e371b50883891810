"""Window functions of M points, symmetric or (with ``sym=False``) periodic. ValueError for a negative M and for dtypes
other than float32 and float64.

>>> import tensorx
>>> tensorx.signal.windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import tensorx as tx
from tensorx.formats import strided
from tensorx.tensor import Tensor


def _points(name: str, M: int, sym: bool, dtype: Any, layout: Any, device: Any) -> tuple[Tensor, int]:
    """0 .. M - 1 as the window's dtype, and the number of steps in a period."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    d = dtype or tx.get_default_dtype()
    if d not in (tx.float32, tx.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {d}")
    return tx.arange(M, dtype=d, device=device), M - 1 if sym and M > 1 else max(M, 1)


def _window(name: str, summary: str, example: str) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Decorator: a window from a function of (points, steps, options)."""

    def decorate(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
        defaults = f.__kwdefaults__ or {}

        def window(
            M: int,
            *,
            sym: bool = True,
            dtype: Any = None,
            layout: Any = strided,
            device: Any = None,
            requires_grad: bool = False,
            **options: Any,
        ) -> Tensor:
            unknown = options.keys() - defaults.keys()
            if unknown:
                raise TypeError(f"{name}() got an unexpected keyword argument '{min(unknown)}'")
            missing = [k for k, v in defaults.items() if v is ... and k not in options]
            if missing:
                raise TypeError(f"{name}() missing 1 required keyword-only argument: '{missing[0]}'")
            n, steps = _points(name, M, sym, dtype, layout, device)
            made = f(n, steps, **{**defaults, **options, **({"sym": sym} if "sym" in f.__code__.co_varnames else {})})
            made = tx.ones_like(n) if M == 1 else made
            return made.requires_grad_() if requires_grad else made

        window.__name__ = window.__qualname__ = name
        window.__doc__ = f"{summary}\n\n    >>> import tensorx\n    >>> {example}\n    "
        return window

    return decorate


def _cosines(n: Tensor, steps: int, a: Iterable[float]) -> Tensor:
    """The alternating sum of cosines with these weights."""
    weights = list(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    total = tx.full_like(n, weights[0])
    for i, w in enumerate(weights[1:], 1):
        total = total + (n * (2 * math.pi * i / steps)).cos() * (w if i % 2 == 0 else -w)
    return total


@_window("general_cosine", "A sum of cosines with weights ``a``.",
         "tensorx.signal.windows.general_cosine(3, a=[0.5, 0.5]).tolist()\n    [0.0, 1.0, 0.0]")  # fmt: skip
def general_cosine(n: Tensor, steps: int, *, a: Any = ...) -> Tensor:
    return _cosines(n, steps, a)


@_window("general_hamming", "alpha - (1 - alpha) cos.",
         "tensorx.signal.windows.general_hamming(3, alpha=0.75).tolist()\n    [0.5, 1.0, 0.5]")  # fmt: skip
def general_hamming(n: Tensor, steps: int, *, alpha: float = 0.54) -> Tensor:
    return _cosines(n, steps, (alpha, 1 - alpha))


@_window("hamming", "The Hamming window.",
         "tensorx.signal.windows.hamming(3)\n    tensor([0.0800, 1.0000, 0.0800])")  # fmt: skip
def hamming(n: Tensor, steps: int) -> Tensor:
    return _cosines(n, steps, (0.54, 0.46))


@_window("hann", "The Hann window.", "tensorx.signal.windows.hann(3).tolist()\n    [0.0, 1.0, 0.0]")
def hann(n: Tensor, steps: int) -> Tensor:
    return _cosines(n, steps, (0.5, 0.5))


@_window("blackman", "The Blackman window.",
         "tensorx.signal.windows.blackman(5, sym=False)[1]\n    tensor(0.2008)")  # fmt: skip
def blackman(n: Tensor, steps: int) -> Tensor:
    return _cosines(n, steps, (0.42, 0.5, 0.08))


@_window("nuttall", "The minimum 4-term Blackman-Harris window of Nuttall.",
         "tensorx.signal.windows.nuttall(3)[1]\n    tensor(1.0000)")  # fmt: skip
def nuttall(n: Tensor, steps: int) -> Tensor:
    return _cosines(n, steps, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


@_window("bartlett", "The triangular window that ends in zeros.",
         "tensorx.signal.windows.bartlett(5).tolist()\n    [0.0, 0.5, 1.0, 0.5, 0.0]")  # fmt: skip
def bartlett(n: Tensor, steps: int) -> Tensor:
    return 1 - (n * (2 / steps) - 1).abs()


@_window("cosine", "Half a period of the sine.",
         "tensorx.signal.windows.cosine(2)\n    tensor([0.7071, 0.7071])")  # fmt: skip
def cosine(n: Tensor, steps: int, *, sym: bool = True) -> Tensor:
    return ((n + 0.5) * (math.pi / (steps + sym))).sin()


@_window("exponential", "exp(-|n - center| / tau).",
         "tensorx.signal.windows.exponential(3)[1]\n    tensor(1.)")  # fmt: skip
def exponential(n: Tensor, steps: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True) -> Tensor:
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return ((n - (steps / 2 if center is None else center)).abs() / -tau).exp()


@_window("gaussian", "A Gaussian of standard deviation ``std``.",
         "tensorx.signal.windows.gaussian(3)[1]\n    tensor(1.)")  # fmt: skip
def gaussian(n: Tensor, steps: int, *, std: float = 1.0) -> Tensor:
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return (((n - steps / 2) / std).square() * -0.5).exp()


@_window("kaiser", "The Kaiser window of shape ``beta``.",
         "tensorx.signal.windows.kaiser(3)[1]\n    tensor(1.)")  # fmt: skip
def kaiser(n: Tensor, steps: int, *, beta: float = 12.0) -> Tensor:
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    inside = (1 - (n * (2 / steps) - 1).square()).clamp_min(0).sqrt() * beta
    return tx.i0(inside) / tx.i0(tx.full_like(inside, beta))


__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
    "hann", "kaiser", "nuttall",
]  # fmt: skip
