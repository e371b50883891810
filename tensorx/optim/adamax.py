"""Adamax."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.ops import expr as E

from .optimizer import Optimizer, check_betas, check_rate, number, require, specialise


def adamax(
    p: Any,
    g: Any,
    m: Any,
    top: Any,
    *,
    step_size: Any,
    blend1: Any,
    beta2: Any,
    eps: Any,
    weight_decay: Any,
    decay: bool = False,
    maximize: bool = False,
) -> tuple[Any, ...]:
    """The update rule: new parameter, first moment and decaying largest gradient.

    ``step_size`` is lr / (1 - beta1**t), ``blend1`` is 1 - beta1.
    """
    if maximize:
        g = -g
    if decay:
        g = g + weight_decay * p
    m = m + blend1 * (g - m)
    top = E.max(beta2 * top, E.abs(g) + eps)
    return p - step_size * (m / top), m, top


class Adamax(Optimizer):
    """Adamax (Kingma & Ba 2014): Adam with the infinity norm.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: learning rate, a number or a zero-dim tensor.
        betas: decay of the running averages of the gradient and of its size.
        eps: added to the gradient's size.
        weight_decay: adds ``weight_decay * p`` to the gradient.
        maximize: climb instead.
        foreach, capturable: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(1))
        >>> p.sum().backward()
        >>> _ = tx.optim.Adamax([p], lr=0.5).step()
        >>> round(p.item(), 4)
        0.5
    """

    numbers = ("step",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
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
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update({"step": 0.0} | {name: tx.zeros_like(p) for name in ("exp_avg", "exp_inf")})
        step, (beta1, beta2), decay = state["step"] + 1, group["betas"], group["weight_decay"]
        rule = specialise(adamax, decay=decay != 0, maximize=group["maximize"])
        scalars = {"step_size": number(group["lr"]) / (1 - beta1**step), "blend1": 1 - beta1, "beta2": beta2}
        scalars |= {"eps": group["eps"], "weight_decay": decay}
        self.apply(rule, scalars, grad, (p, state["exp_avg"], state["exp_inf"]))
        state["step"] = step
