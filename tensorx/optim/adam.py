"""Adam and AdamW: one rule, which differs in what weight decay means."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.ops import expr as E

from .optimizer import Optimizer, check_betas, check_rate, number, require, specialise


def adam(
    p: Any,
    g: Any,
    m: Any,
    v: Any,
    top: Any = None,
    *,
    step_size: Any,
    keep: Any,
    weight_decay: Any,
    blend1: Any,
    beta2: Any,
    blend2: Any,
    root_bias2: Any,
    eps: Any,
    maximize: bool = False,
    decay: str = "",
) -> tuple[Any, ...]:
    """The update rule: new parameter, first and second moment, and largest second moment (``top``, amsgrad) if there
    is one.

    Scalars are derived in double precision before they reach the kernel: ``step_size = lr / (1 - beta1**t)``,
        ``root_bias2 =
    sqrt(1 - beta2**t)``, ``blend = 1 - beta``, ``keep = 1 - lr * weight_decay``.
    """
    if maximize:
        g = -g
    if decay == "coupled":
        g = g + weight_decay * p
    if decay == "decoupled":
        p = p * keep
    m = m + blend1 * (g - m)
    v = beta2 * v + blend2 * g * g
    if top is None:
        return p - step_size * (m / (E.sqrt(v) / root_bias2 + eps)), m, v
    top = E.max(top, v)
    return p - step_size * (m / (E.sqrt(top) / root_bias2 + eps)), m, v, top


class Adam(Optimizer):
    """Adam (Kingma & Ba 2014), optionally with AMSGrad.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: learning rate, a number or a zero-dim tensor.
        betas: decay of the running averages of the gradient and of its square.
        eps: added to the denominator.
        weight_decay: adds ``weight_decay * p`` to the gradient; with ``decoupled_weight_decay`` shrinks the
            parameter instead.
        amsgrad: divide by the largest second moment so far.
        maximize: climb instead.
        foreach, capturable, fused: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> w = tx.zeros(2, requires_grad=True)
        >>> optimizer = tx.optim.Adam([w], lr=0.5)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> w.detach()
        tensor([-0.5000, -0.5000])
    """

    numbers = ("step",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
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
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            names = ["exp_avg", "exp_avg_sq"] + ["max_exp_avg_sq"] * bool(group["amsgrad"])
            state.update({"step": 0.0} | {name: tx.zeros_like(p) for name in names})  # all of it or nothing
        step = state["step"] + 1
        decay = ("decoupled" if group["decoupled_weight_decay"] else "coupled") if group["weight_decay"] else ""
        rule = specialise(adam, maximize=group["maximize"], decay=decay)
        outs = [p, state["exp_avg"], state["exp_avg_sq"]]
        if group["amsgrad"]:
            outs.append(state["max_exp_avg_sq"])
        self.apply(rule, self._scalars(step, group), grad, outs)
        state["step"] = step

    @staticmethod
    def _scalars(t: float, group: dict[str, Any]) -> dict[str, float]:
        lr, (beta1, beta2) = number(group["lr"]), map(number, group["betas"])
        return {
            "step_size": lr / (1 - beta1**t),
            "keep": 1 - lr * group["weight_decay"],
            "weight_decay": group["weight_decay"],
            "blend1": 1 - beta1,
            "beta2": beta2,
            "blend2": 1 - beta2,
            "root_bias2": math.sqrt(1 - beta2**t),
            "eps": group["eps"],
        }


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2017): the parameter shrinks by ``lr * weight_decay``.

    The arguments are :class:`Adam`'s.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(2))
        >>> p.sum().backward()
        >>> _ = tx.optim.AdamW([p], lr=0.5, weight_decay=0).step()
        >>> [round(x, 3) for x in p.tolist()]
        [0.5, 0.5]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
