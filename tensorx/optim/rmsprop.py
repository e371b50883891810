"""RMSprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.ops import expr as E

from .optimizer import Optimizer, check_rate, number, require, specialise


def rmsprop(
    p: Any,
    g: Any,
    square: Any,
    *more: Any,
    lr: Any,
    alpha: Any,
    blend: Any,
    eps: Any,
    weight_decay: Any,
    momentum: Any,
    centered: bool = False,
    decay: bool = False,
    maximize: bool = False,
) -> tuple[Any, ...]:
    """The update rule: new parameter, mean square, then mean gradient (``centered``) and buffer if there are any.

    ``blend`` is 1 - alpha.
    """
    if maximize:
        g = -g
    if decay:
        g = g + weight_decay * p
    square = alpha * square + blend * g * g
    variance, kept = square, []
    if centered:
        mean = more[0] + blend * (g - more[0])
        more = more[1:]
        variance = square - mean * mean
        kept.append(mean)
    move = g / (E.sqrt(variance) + eps)
    if more:
        move = momentum * more[0] + move
        kept.append(move)
    return p - lr * move, square, *kept


class RMSprop(Optimizer):
    """RMSprop (Hinton, Coursera lecture 6e): the gradient over the root of its running mean square.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: learning rate, a number or a zero-dim tensor.
        alpha: decay of the running mean square.
        eps: added to the root.
        momentum: of a buffer that sums the moves.
        centered: subtract the squared running mean of the gradient: its variance (Graves 2013).
        weight_decay: adds ``weight_decay * p`` to the gradient.
        maximize: climb instead.
        foreach, capturable: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(1))
        >>> p.sum().backward()
        >>> _ = tx.optim.RMSprop([p], lr=0.1, alpha=0.75).step()
        >>> round(p.item(), 4)
        0.8
    """

    numbers = ("step",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        require(momentum >= 0.0, f"Invalid momentum value: {momentum}")
        require(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        require(alpha >= 0.0, f"Invalid alpha value: {alpha}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        names = ["square_avg"] + ["grad_avg"] * bool(group["centered"]) + ["momentum_buffer"] * (group["momentum"] > 0)
        if not state:
            made = {name: tx.zeros_like(p) for name in ["square_avg", *reversed(names[1:])]}
            state.update({"step": 0.0} | made)
        alpha, decay = group["alpha"], group["weight_decay"]
        rule = specialise(rmsprop, centered=bool(group["centered"]), decay=decay != 0, maximize=group["maximize"])
        scalars = {"lr": number(group["lr"]), "alpha": alpha, "blend": 1 - alpha, "eps": group["eps"]}
        scalars |= {"weight_decay": decay, "momentum": group["momentum"]}
        self.apply(rule, scalars, grad, (p, *(state[name] for name in names)))
        state["step"] += 1
