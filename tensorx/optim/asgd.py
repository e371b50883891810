"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import tensorx as tx

from .optimizer import Optimizer, check_rate, number, require, specialise


def asgd(
    p: Any,
    g: Any,
    average: Any,
    *,
    eta: Any,
    keep: Any,
    mu: Any,
    weight_decay: Any,
    averaging: bool = False,
    decay: bool = False,
    maximize: bool = False,
) -> tuple[Any, ...]:
    """The update rule: new parameter and average. ``keep`` is 1 - lambd * eta."""
    if maximize:
        g = -g
    if decay:
        g = g + weight_decay * p
    p = p * keep - eta * g
    return p, average + (p - average) * mu if averaging else p


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak & Juditsky 1992). The average is ``state[p]["ax"]``.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: learning rate, a number or a zero-dim tensor.
        lambd: decay term.
        alpha: power of the rate's decay: ``lr / (1 + lambd * lr * t) ** alpha``.
        t0: step after which to average.
        weight_decay: adds ``weight_decay * p`` to the gradient.
        maximize: climb instead.
        foreach, capturable: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(1))
        >>> p.sum().backward()
        >>> _ = tx.optim.ASGD([p], lr=0.5, lambd=0.0).step()
        >>> p.tolist()
        [0.5]
    """

    numbers = ("step", "eta", "mu")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        require(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        lr, lambd, decay = number(group["lr"]), group["lambd"], group["weight_decay"]
        if not state:
            state.update({"step": 0.0, "eta": float(np.float32(lr)), "mu": 1.0, "ax": tx.zeros_like(p)})
        step, eta, mu = state["step"] + 1, state["eta"], state["mu"]
        rule = specialise(asgd, averaging=mu != 1, decay=decay != 0, maximize=group["maximize"])
        scalars = {"eta": eta, "keep": 1 - lambd * eta, "mu": mu, "weight_decay": decay}
        self.apply(rule, scalars, grad, (p, state["ax"]))
        # In float32, as a state_dict and PyTorch hold them: a run that was saved goes on as it would.
        eta, mu = lr / (1 + lambd * lr * step) ** group["alpha"], 1 / max(1, step - group["t0"])
        state.update(step=step, eta=float(np.float32(eta)), mu=float(np.float32(mu)))
