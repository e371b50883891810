"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorx as tx

from .optimizer import Optimizer, check_rate, number, require, specialise


def sgd(
    p: Any,
    g: Any,
    buf: Any = None,
    *,
    lr: Any,
    weight_decay: Any,
    momentum: Any = None,
    undamped: Any = None,
    nesterov: bool = False,
    maximize: bool = False,
    decay: bool = False,
) -> tuple[Any, ...]:
    """The update rule: new parameter, and new momentum buffer if there is one. ``undamped`` is 1 - dampening."""
    if maximize:
        g = -g
    if decay:
        g = g + weight_decay * p
    if buf is None:
        return (p - lr * g,)
    buf = momentum * buf + undamped * g
    return p - lr * (g + momentum * buf if nesterov else buf), buf


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum, dampening, Nesterov momentum and weight decay.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: learning rate, a number or a zero-dim tensor.
        momentum, dampening, nesterov: ``buf = momentum * buf + (1 - dampening) * grad`` (the first step takes the
            gradient as it is); Nesterov steps along ``grad + momentum * buf``.
        weight_decay: adds ``weight_decay * p`` to the gradient.
        maximize: climb instead.
        foreach, fused: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(2))
        >>> p.sum().backward()
        >>> _ = tx.optim.SGD([p], lr=0.5).step()
        >>> p.tolist()
        [0.5, 0.5]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        require(momentum >= 0.0, f"Invalid momentum value: {momentum}")
        require(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        momentum, weight_decay = group["momentum"], group["weight_decay"]
        flags = {"maximize": group["maximize"], "decay": weight_decay != 0}
        scalars = {"lr": number(group["lr"]), "weight_decay": weight_decay}
        if momentum == 0:
            self.apply(specialise(sgd, **flags), scalars, grad, (p,))
            return
        undamped = 1 - group["dampening"]
        buf = state.get("momentum_buffer")
        if buf is None:
            buf = tx.zeros_like(p)
            undamped = 1.0
        rule = specialise(sgd, nesterov=group["nesterov"], **flags)
        self.apply(rule, scalars | {"momentum": momentum, "undamped": undamped}, grad, (p, buf))
        state["momentum_buffer"] = buf  # not before: a step that failed was none


