"""Muon."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

import tensorx as tx
from tensorx.ops import fused

from .optimizer import Optimizer, check_rate, number, require, specialise


def blend(buffer: Any, g: Any, *, part: Any, momentum: Any, nesterov: bool = False) -> tuple[Any, ...]:
    """The momentum buffer and the direction; ``part`` is 1 - momentum."""
    buffer = buffer + part * (g - buffer)
    return buffer, g + momentum * (buffer - g) if nesterov else buffer


def descend(p: Any, update: Any, *, keep: Any, lr: Any) -> tuple[Any, ...]:
    """The last part of the rule."""
    return (p * keep - lr * update,)


def combine(x: Any, product: Any, *, alpha: Any, high: Any, low: Any) -> tuple[Any, ...]:
    """``alpha * product + (high + low) * x``, the sum rounded once, as PyTorch's addmm in bfloat16 has it.

    The parts of the factor are so short that their products are exact, and the sum's error is added (Knuth's two-sum):
    the same on devices with and without fma.
    """
    product = alpha * product
    total = product + high * x
    part = total - product
    return (total + (((product - (total - part)) + (high * x - part)) + low * x),)


def orthogonal(x: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """Near the closest matrix with orthonormal rows or columns, by Newton-Schulz iterations of fifth order in bfloat16.

    The coefficients make the slope at zero steep rather than the limit exact (Jordan et al. 2024).
    """
    a, b, c = coefficients
    tall = x.size(0) > x.size(1)
    x = (x.t() if tall else x).bfloat16()
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.t()
        x = _combined(x, _combined(gram, gram, gram, b, c), x, a, 1.0)
    return x.t() if tall else x


def _combined(x: Any, left: Any, right: Any, beta: float, alpha: float) -> Any:
    out = tx.empty_like(x)
    wide = left.float()
    product = wide @ (wide if left is right else right.float())  # of bfloat16 numbers, summed in float32, not rounded
    factor = np.float32(beta)
    high = (factor.view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)  # 12 bits of its 24
    fused.step(combine, (x, product), {"alpha": alpha, "high": float(high), "low": float(factor - high)}, (out,))
    return out


class Muon(Optimizer):
    """Muon (Jordan et al. 2024): momentum made orthogonal, for the matrices of hidden layers.

    Args:
        params: matrices, or groups of these; others raise ValueError. See :class:`Optimizer`.
        lr: learning rate.
        weight_decay: shrinks the parameter by ``lr * weight_decay``.
        momentum, nesterov: of the running mean of gradients.
        ns_coefficients, ns_steps, eps: of the Newton-Schulz iterations.
        adjust_lr_fn: how the rate depends on the matrix's shape: "original" (also None) multiplies by
            ``sqrt(max(1, rows / columns))``, "match_rms_adamw" by ``0.2 * sqrt(max(rows, columns))``.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.zeros(2, 3))
        >>> p.sum().backward()
        >>> _ = tx.optim.Muon([p], lr=0.5).step()
        >>> p.max().item() < 0
        True
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_rate(lr, "Learning rate should be >= 0 but is: {}")
        require(momentum >= 0.0, f"momentum should be >= 0 but is: {momentum}")
        require(weight_decay >= 0.0, f"weight decay should be >= 0 but is: {weight_decay}")
        known = adjust_lr_fn in (None, "original", "match_rms_adamw")
        require(known, f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if p.ndim != 2:
                self.param_groups.pop()
                raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        steps, coefficients = group["ns_steps"], group["ns_coefficients"]
        require(steps < 100, "Number of steps must be less than 100 for computational efficiency")
        require(len(coefficients) == 3, "Coefficients must be a tuple of exactly 3 values")
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = tx.zeros_like(grad)
        momentum, lr = group["momentum"], number(group["lr"])
        direction = tx.empty_like(buffer)
        rule = specialise(blend, nesterov=bool(group["nesterov"]))
        self.apply(rule, {"part": 1 - momentum, "momentum": momentum}, grad, (buffer, direction), (), 1)
        update = orthogonal(direction, coefficients, steps, group["eps"])
        rows, columns = p.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            rate = lr * 0.2 * math.sqrt(max(rows, columns))
        else:
            rate = lr * math.sqrt(max(1, rows / columns))
        scalars = {"keep": 1 - lr * group["weight_decay"], "lr": rate}
        self.apply(specialise(descend), scalars, update, (p,))
