"""Adadelta."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.ops import expr as E

from .optimizer import Optimizer, check_rate, number, require, specialise


def adadelta(
    p: Any,
    g: Any,
    square: Any,
    moved: Any,
    *,
    lr: Any,
    rho: Any,
    blend: Any,
    eps: Any,
    weight_decay: Any,
    decay: bool = False,
    maximize: bool = False,
) -> tuple[Any, ...]:
    """The update rule: new parameter, mean squared gradient and mean squared move. ``blend`` is 1 - rho."""
    if maximize:
        g = -g
    if decay:
        g = g + weight_decay * p
    square = rho * square + blend * g * g
    move = E.sqrt(moved + eps) / E.sqrt(square + eps) * g
    return p - lr * move, square, rho * moved + blend * move * move


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012): moves as large as recent moves were.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: factor of the move, a number or a zero-dim tensor.
        rho: decay of the running means.
        eps: added under the roots.
        weight_decay: adds ``weight_decay * p`` to the gradient.
        maximize: climb instead.
        foreach, capturable: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(1))
        >>> p.sum().backward()
        >>> _ = tx.optim.Adadelta([p], eps=1.0).step()
        >>> round(p.item(), 4)
        0.0465
    """

    numbers = ("step",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        require(0.0 <= rho <= 1.0, f"Invalid rho value: {rho}")
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        require(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update({"step": 0.0} | {name: tx.zeros_like(p) for name in ("square_avg", "acc_delta")})
        rho, decay = group["rho"], group["weight_decay"]
        rule = specialise(adadelta, decay=decay != 0, maximize=group["maximize"])
        scalars = {"lr": number(group["lr"]), "rho": rho, "blend": 1 - rho, "eps": group["eps"], "weight_decay": decay}
        self.apply(rule, scalars, grad, (p, state["square_avg"], state["acc_delta"]))
        state["step"] += 1
