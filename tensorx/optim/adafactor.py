"""Adafactor."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import tensorx as tx

from .optimizer import Optimizer, check_rate, number, require, specialise


def shrink(p: Any, update: Any, scale: Any, *, keep: Any, root: Any) -> tuple[Any, ...]:
    """The last part of the rule: ``scale`` is the step size over the update's size, a tensor."""
    return (p * keep - scale * root * update,)


class Adafactor(Optimizer):
    """Adafactor (Shazeer & Stern 2018): of a matrix's second moments it keeps the means of rows and columns only.

    Args:
        params: parameters or groups, real; see :class:`Optimizer`.
        lr: bound of the relative step size, a number or a zero-dim tensor.
        beta2_decay: the second moment's blend at step ``t`` is ``t ** beta2_decay``.
        eps: least second moment (None: that of the dtype) and least size of a parameter.
        d: greatest root mean square of an update.
        weight_decay: shrinks the parameter by ``lr * weight_decay``.
        maximize: climb instead.
        foreach: accepted.

    Example:
        >>> import tensorx as tx
        >>> p = tx.nn.Parameter(tx.ones(2, 2))
        >>> p.sum().backward()
        >>> _ = tx.optim.Adafactor([p], lr=0.5).step()
        >>> p.tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_rate(lr, "Learning rate should be >= 0 but is: {}")
        require(beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}")
        require(eps[0] is None or eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}")
        require(eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}")
        require(d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}")
        require(weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def update(self, p: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        grad = -grad if group["maximize"] else grad
        if not state:
            shape = tuple(p.shape)
            shapes = {"variance": shape}
            if p.ndim > 1:
                shapes = {"row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, shape[-1])}
            made = {name: grad.new_zeros(shape) for name, shape in shapes.items()}
            state.update({"step": 0.0} | made)
        if not p.numel():
            state["step"] += 1
            return
        step, lr, (eps1, eps2) = state["step"] + 1, number(group["lr"]), group["eps"]
        eps1 = tx.finfo(p.dtype).eps if eps1 is None else eps1
        second = self._second_moment(grad, state, step ** group["beta2_decay"], eps1)
        update = second.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        size = (update * update).mean().sqrt()
        relative = (p * p).mean().sqrt().clamp_(min=eps2)
        scale = relative / (size / group["d"]).clamp_(min=1.0)
        scalars = {"keep": 1 - lr * group["weight_decay"], "root": min(lr, 1 / math.sqrt(step))}
        self.apply(specialise(shrink), scalars, update, (p,), (scale,))
        state["step"] = step

    @staticmethod
    def _second_moment(grad: Any, state: dict[str, Any], blend: float, eps: float) -> Any:
        """The present estimate, a tensor that may be written to."""
        square = grad * grad
        if grad.ndim < 2:
            return state["variance"].lerp_(square, blend).clone()
        rows = state["row_var"].lerp_(square.mean(-1, keepdim=True), blend)
        columns = state["col_var"].lerp_(square.mean(-2, keepdim=True), blend)
        return rows * columns / rows.mean(-2, keepdim=True).clamp_(min=eps)
