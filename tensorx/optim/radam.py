"""RAdam."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.ops import expr as E

from .optimizer import Optimizer, check_betas, check_rate, number, require, specialise


def radam(
    p: Any,
    g: Any,
    m: Any,
    v: Any,
    *,
    step_size: Any,
    keep: Any,
    weight_decay: Any,
    blend1: Any,
    beta2: Any,
    blend2: Any,
    eps: Any,
    adapt: bool = False,
    decay: str = "",
    maximize: bool = False,
) -> tuple[Any, ...]:
    """The update rule: new parameter, first and second moment; ``adapt`` divides by the second moment's root."""
    if maximize:
        g = -g
    if decay == "coupled":
        g = g + weight_decay * p
    if decay == "decoupled":
        p = p * keep
    m = m + blend1 * (g - m)
    v = beta2 * v + blend2 * g * g
    return p - step_size * (m / (E.sqrt(v) + eps) if adapt else m), m, v


class RAdam(Optimizer):
    """RAdam (Liu et al. 2019): Adam that does not divide by the second moment before it knows it well enough.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: learning rate, a number or a zero-dim tensor.
        betas: decay of the running averages of the gradient and of its square.
        eps: added to the root of the second moment.
        decoupled_weight_decay: shrink the parameter, as AdamW does.
        weight_decay: adds ``weight_decay * p`` to the gradient.
        maximize: climb instead.
        foreach, capturable: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(1))
        >>> p.sum().backward()
        >>> _ = tx.optim.RAdam([p], lr=0.5).step()
        >>> round(p.item(), 4)
        0.5
    """

    numbers = ("step",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
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
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update({"step": 0.0} | {name: tx.zeros_like(p) for name in ("exp_avg", "exp_avg_sq")})
        step, lr, (beta1, beta2) = state["step"] + 1, number(group["lr"]), group["betas"]
        bias1, bias2, weight_decay = 1 - beta1**step, 1 - beta2**step, group["weight_decay"]
        # Equations (5) and (6) of the paper: the length of the average so far, and the variance's rectification.
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / bias2
        step_size = lr / bias1
        if length > 5:
            rise = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            step_size *= math.sqrt(rise * bias2)
        decay = ("decoupled" if group["decoupled_weight_decay"] else "coupled") if weight_decay else ""
        rule = specialise(radam, adapt=length > 5, decay=decay, maximize=group["maximize"])
        scalars = {"step_size": step_size, "keep": 1 - lr * weight_decay, "weight_decay": weight_decay}
        scalars |= {"blend1": 1 - beta1, "beta2": beta2, "blend2": 1 - beta2, "eps": group["eps"]}
        self.apply(rule, scalars, grad, (p, state["exp_avg"], state["exp_avg_sq"]))
        state["step"] = step
