"""Adafactor."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.ops import expr as E

from .optimizer import Optimizer, check_rate, number, require, specialise


def of_matrix(update: Any, g: Any, rows: Any, columns: Any, mean: Any, *, eps: Any, maximize: bool = False) -> Any:
    """The update of a matrix (or a stack of them) from the means of its squares' rows and columns, which broadcast."""
    second = E.max(rows * columns / E.max(mean, eps), eps * eps)
    return (E.rsqrt(second) * (-g if maximize else g),)


def of_vector(update: Any, g: Any, second: Any, *, eps: Any, blend: Any, maximize: bool = False) -> Any:
    """The update of a vector, and its second moment."""
    second = second + blend * (g * g - second)
    return E.rsqrt(E.max(second, eps * eps)) * (-g if maximize else g), second


def descend(p: Any, update: Any, norm: Any, length: Any, *, keep: Any, root: Any, least: Any, rate: Any, d: Any) -> Any:
    """The new parameter. ``norm`` and ``length`` are the lengths of parameter and update, ``root`` makes them root mean
    squares.
    """
    scale = rate * E.max(norm * root, least) / E.max(length * root / d, 1)
    return (p * keep - scale * update,)


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

    numbers = ("step",)

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
        if not state:
            shape = tuple(p.shape)
            shapes = {"variance": shape}
            if p.ndim > 1:
                shapes = {"row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, shape[-1])}
            state.update({"step": 0.0} | {name: grad.new_zeros(shape) for name, shape in shapes.items()})
        step, lr, (eps, least) = state["step"] + 1, number(group["lr"]), group["eps"]
        if p.numel():
            eps = tx.finfo(p.dtype).eps if eps is None else eps
            update = self._update(grad, state, step ** group["beta2_decay"], eps, bool(group["maximize"]))
            scalars = {"keep": 1 - lr * group["weight_decay"], "root": 1 / math.sqrt(p.numel()), "least": least}
            scalars |= {"rate": min(lr, 1 / math.sqrt(step)), "d": group["d"]}
            self.apply(specialise(descend), scalars, update, (p,), (p.norm(), update.norm()))
        state["step"] = step

    def _update(self, grad: Any, state: dict[str, Any], blend: float, eps: float, maximize: bool) -> Any:
        """The gradient over the root of the present second moment, which goes into the state."""
        update = tx.empty_like(grad)
        if grad.ndim < 2:
            rule = specialise(of_vector, maximize=maximize)
            self.apply(rule, {"eps": eps, "blend": blend}, grad, (update, state["variance"]))
            return update
        square = grad * grad
        rows = state["row_var"].lerp_(square.mean(-1, keepdim=True), blend)
        columns = state["col_var"].lerp_(square.mean(-2, keepdim=True), blend)
        moments = (rows, columns, rows.mean(-2, keepdim=True))
        self.apply(specialise(of_matrix, maximize=maximize), {"eps": eps}, grad, (update,), moments)
        return update
