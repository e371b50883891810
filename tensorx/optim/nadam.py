"""NAdam."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

import tensorx as tx
from tensorx.ops import expr as E

from .optimizer import Optimizer, check_betas, check_rate, number, require, specialise


def nadam(
    p: Any,
    g: Any,
    m: Any,
    v: Any,
    *,
    along: Any,
    ahead: Any,
    keep: Any,
    weight_decay: Any,
    blend1: Any,
    beta2: Any,
    blend2: Any,
    root_bias2: Any,
    eps: Any,
    decay: str = "",
    maximize: bool = False,
) -> tuple[Any, ...]:
    """The update rule: new parameter, first and second moment. ``along`` and ``ahead`` are the step sizes of the
    gradient and of the first moment; the other scalars are `adam`'s.
    """
    if maximize:
        g = -g
    if decay == "coupled":
        g = g + weight_decay * p
    if decay == "decoupled":
        p = p * keep
    m = m + blend1 * (g - m)
    v = beta2 * v + blend2 * g * g
    root = E.sqrt(v) / root_bias2 + eps
    return p - along * (g / root) - ahead * (m / root), m, v


class NAdam(Optimizer):
    """NAdam (Dozat 2016): Adam with Nesterov momentum.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: learning rate, a number or a zero-dim tensor.
        betas: decay of the running averages of the gradient and of its square.
        eps: added to the denominator.
        momentum_decay: how fast the momentum rises to ``betas[0]``.
        decoupled_weight_decay: shrink the parameter, as AdamW does.
        weight_decay: adds ``weight_decay * p`` to the gradient.
        maximize: climb instead.
        foreach, capturable: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(1))
        >>> p.sum().backward()
        >>> _ = tx.optim.NAdam([p], lr=0.5).step()
        >>> p.item() < 1
        True
    """

    numbers = ("step", "mu_product")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        check_betas(betas)
        require(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        require(momentum_decay >= 0.0, f"Invalid momentum_decay value: {momentum_decay}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            made = {name: tx.zeros_like(p) for name in ("exp_avg", "exp_avg_sq")}
            state.update({"step": 0.0, "mu_product": 1.0} | made)
        step, lr, (beta1, beta2) = state["step"] + 1, number(group["lr"]), group["betas"]
        mu, mu_next = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        # In float32, as a state_dict and PyTorch hold it: a run that was saved goes on as it would.
        product = float(np.float32(state["mu_product"]) * np.float32(mu))
        weight_decay = group["weight_decay"]
        decay = ("decoupled" if group["decoupled_weight_decay"] else "coupled") if weight_decay else ""
        rule = specialise(nadam, decay=decay, maximize=group["maximize"])
        scalars = {"along": lr * (1 - mu) / (1 - product), "ahead": lr * mu_next / (1 - product * mu_next)}
        scalars |= {"keep": 1 - lr * weight_decay, "weight_decay": weight_decay, "blend1": 1 - beta1, "beta2": beta2}
        scalars |= {"blend2": 1 - beta2, "root_bias2": math.sqrt(1 - beta2**step), "eps": group["eps"]}
        self.apply(rule, scalars, grad, (p, state["exp_avg"], state["exp_avg_sq"]))
        state.update(step=step, mu_product=product)
