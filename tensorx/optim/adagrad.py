"""Adagrad."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.ops import expr as E

from .optimizer import Optimizer, check_rate, number, require, specialise


def adagrad(
    p: Any, g: Any, total: Any, *, lr: Any, eps: Any, weight_decay: Any, decay: bool = False, maximize: bool = False
) -> tuple[Any, ...]:
    """The update rule: new parameter and sum of squared gradients."""
    if maximize:
        g = -g
    if decay:
        g = g + weight_decay * p
    total = total + g * g
    return p - lr * (g / (E.sqrt(total) + eps)), total


class Adagrad(Optimizer):
    """Adagrad (Duchi, Hazan & Singer 2011): the gradient over the root of the sum of its squares.

    Args:
        params: parameters or groups; see :class:`Optimizer`.
        lr: learning rate, a number or a zero-dim tensor.
        lr_decay: step ``t`` takes ``lr / (1 + (t - 1) * lr_decay)``.
        initial_accumulator_value: where the sum of squares starts.
        eps: added to the root.
        weight_decay: adds ``weight_decay * p`` to the gradient.
        maximize: climb instead.
        foreach, fused: accepted; a step always is one kernel for each parameter.
        differentiable: whether autograd records the steps.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(1))
        >>> (3 * p).sum().backward()
        >>> _ = tx.optim.Adagrad([p], lr=0.5).step()
        >>> p.tolist()
        [0.5]
    """

    numbers = ("step",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        require(lr_decay >= 0.0, f"Invalid lr_decay value: {lr_decay}")
        require(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")
        require(
            initial_accumulator_value >= 0.0, f"Invalid initial_accumulator_value value: {initial_accumulator_value}"
        )
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for p in group["params"]:  # PyTorch's state is there before the first step, too
            start = group["initial_accumulator_value"]
            start = complex(start, start) if p.is_complex() else start
            self.state[p].update({"step": 0.0, "sum": tx.full_like(p.detach(), start)})

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        decay = group["weight_decay"]
        rule = specialise(adagrad, decay=decay != 0, maximize=group["maximize"])
        lr = number(group["lr"]) / (1 + state["step"] * group["lr_decay"])
        scalars = {"lr": lr, "eps": group["eps"], "weight_decay": decay}
        self.apply(rule, scalars, grad, (p, state["sum"]))
        state["step"] += 1

    def share_memory(self) -> None:
        """NotImplementedError: state is not shared between processes."""
        raise NotImplementedError("Adagrad.share_memory: tensors are not shared between processes.")
