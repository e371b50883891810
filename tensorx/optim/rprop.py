"""Rprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.ops import expr as E

from .optimizer import Optimizer, check_rate, number, require, specialise


def rprop(
    p: Any, g: Any, before: Any, size: Any, *, shrink: Any, grow: Any, least: Any, most: Any, maximize: bool = False
) -> tuple[Any, ...]:
    """The update rule: new parameter, gradient as remembered and step size."""
    if maximize:
        g = -g
    agreement = g * before
    turned = agreement < 0
    size = E.where(agreement > 0, size * grow, E.where(turned, size * shrink, size))
    size = E.min(E.max(size, least), most)
    g = E.where(turned, 0, g)
    return p - E.sign(g) * size, g, size


class Rprop(Optimizer):
    """Rprop (Riedmiller & Braun 1993): only the gradient's sign counts; steps grow while it stays. For full batches.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: the first step size, a number or a zero-dim tensor.
        etas: by what a step size shrinks where the sign changed, and grows where it did not.
        step_sizes: the least and the greatest step size.
        maximize: climb instead.
        foreach, capturable: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(1))
        >>> p.sum().backward()
        >>> _ = tx.optim.Rprop([p], lr=0.25).step()
        >>> p.tolist()
        [0.75]
    """

    numbers = ("step",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        require(0.0 < etas[0] < 1.0 < etas[1], f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            lr = number(group["lr"])
            size = tx.full_like(p.detach(), complex(lr, lr) if p.is_complex() else lr)
            state.update({"step": 0.0, "prev": tx.zeros_like(p), "step_size": size})
        rule = specialise(rprop, maximize=group["maximize"])
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        scalars = {"shrink": shrink, "grow": grow, "least": least, "most": most}
        self.apply(rule, scalars, grad, (p, state["prev"], state["step_size"]))
        state["step"] += 1
