"""L-BFGS, with a line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import tensorx as tx

from .optimizer import Optimizer, check_rate, number


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal & Wright 2006, algorithms 7.4 and 7.5). One group of parameters; needs a closure.

    Args:
        params: parameters, in one group.
        lr: step size, a number or a zero-dim tensor; with a line search where that starts.
        max_iter: iterations a step.
        max_eval: calls of the closure a step, by default ``max_iter * 5 // 4``.
        tolerance_grad: stop where no part of the gradient is larger.
        tolerance_change: stop where parameters, or the loss, change by less.
        history_size: pairs of moves and gradients' changes to remember.
        line_search_fn: "strong_wolfe" or None.

    Example:
        >>> import tensorx as tx
        >>> x = tx.tensor([3.0], requires_grad=True)
        >>> optimizer = tx.optim.LBFGS([x], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = ((x - 1) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> _ = optimizer.step(closure)
        >>> round(x.item(), 4)
        1.0
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_rate(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    # All parameters as one vector of real numbers

    def _gradient(self) -> Any:
        parts = []
        for p in self._params:
            grad = tx.zeros_like(p) if p.grad is None else p.grad
            parts.append((tx.view_as_real(grad) if p.is_complex() else grad).reshape(-1))
        return tx.cat(parts, 0)

    def _reals(self) -> list[Any]:
        return [tx.view_as_real(p) if p.is_complex() else p for p in self._params]

    def _move(self, t: float, direction: Any) -> None:
        start = 0
        for p in self._reals():
            part = direction[start : start + p.numel()].view(p.shape)
            p.add_(part, alpha=t)
            start += p.numel()

    @tx.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # it must be given
        """Minimise; ``closure`` zeroes the gradients, computes the loss and its gradients, and returns the loss."""
        evaluate = tx.enable_grad()(closure)
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = evaluate()
        loss, grad, evaluations = float(first_loss), self._gradient(), 1
        state["func_evals"] += 1
        lr, limit = number(group["lr"]), group["tolerance_change"]
        if _largest(grad) <= group["tolerance_grad"]:
            return first_loss
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            slope = float(grad.dot(direction))
            t = min(1.0, 1.0 / float(grad.abs().sum())) * lr if state["n_iter"] == 1 else lr
            before = loss
            state.update(d=direction, t=t, prev_flat_grad=grad.clone(), prev_loss=before)
            if slope > -limit:
                break
            last, calls = n == group["max_iter"], 0
            if group["line_search_fn"] is not None:
                loss, grad, t, calls = self._search(group, evaluate, t, direction, Point(0.0, loss, grad, slope))
                self._move(t, direction)
                state["t"] = t
            else:
                self._move(t, direction)
                if not last:  # the next step evaluates there anyhow
                    loss, grad, calls = float(evaluate()), self._gradient(), 1
            evaluations += calls
            state["func_evals"] += calls
            moved = last or evaluations >= group["max_eval"] or _largest(grad) <= group["tolerance_grad"]
            if moved or _largest(direction) * abs(t) <= limit or abs(loss - before) < limit:
                break
        return first_loss

    @staticmethod
    def _direction(state: dict[str, Any], grad: Any, history: int) -> Any:
        """The gradient through the inverse Hessian that the last moves suggest, by two loops over them."""
        if state["n_iter"] == 1:
            state.update(al=[], old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg()
        change, move = grad - state["prev_flat_grad"], state["d"] * state["t"]
        curvature = change.dot(move)
        if float(curvature) > 1e-10:
            if len(state["old_dirs"]) == history:
                for name in ("old_dirs", "old_stps", "ro"):
                    state[name].pop(0)
            state["old_dirs"].append(change)
            state["old_stps"].append(move)
            state["ro"].append(1.0 / curvature)
            state["H_diag"] = curvature / change.dot(change)
        pairs = list(zip(state["old_dirs"], state["old_stps"], state["ro"]))
        q, weights = grad.neg(), []
        for change, move, inverse in reversed(pairs):
            weights.append(move.dot(q) * inverse)
            q = q - weights[-1] * change
        q = q * state["H_diag"]
        state["al"] = weights[::-1]
        for (change, move, inverse), weight in zip(pairs, state["al"]):
            q = q + (weight - change.dot(q) * inverse) * move
        return q

    def _search(
        self, group: dict[str, Any], evaluate: Callable[[], Any], t: float, direction: Any, start: Point
    ) -> tuple[float, Any, float, int]:
        """Loss, gradient and step size that a line search finds, and how often it called the closure."""
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        origin = [p.clone() for p in self._params]

        def at(t: float) -> Point:
            self._move(t, direction)
            loss, grad = float(evaluate()), self._gradient()
            for p, value in zip(self._params, origin):
                p.copy_(value)
            return Point(t, loss, grad, float(grad.dot(direction)))

        found, calls = strong_wolfe(at, t, start, _largest(direction), group["tolerance_change"])
        return found.loss, found.grad, found.t, calls


def _largest(x: Any) -> float:
    return float(x.abs().max())


# The line search ------------------------------------------------------------------------------------------------------


class Point(NamedTuple):
    """A place on the line: step size, loss, gradient, and the loss's slope along the line."""

    t: float
    loss: float
    grad: Any
    slope: float


DECREASE, CURVATURE, MOST = 1e-4, 0.9, 25


def cubic(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through both points has its minimum, within the bounds (by default between the points).

    Nocedal & Wright, equation (3.59).
    """
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    if a.t > b.t:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    rise = b.slope - a.slope + 2 * d2
    if rise == 0:
        return (low + high) / 2
    return min(max(b.t - (b.t - a.t) * ((b.slope + d2 - d1) / rise), low), high)


def strong_wolfe(
    at: Callable[[float], Point], t: float, start: Point, size: float, tolerance: float
) -> tuple[Point, int]:
    """A point that satisfies the strong Wolfe conditions, or the best one met, and how many were looked at.

    First steps grow until two of them enclose such a point, then that interval is narrowed (Nocedal & Wright,
    algorithms 3.5 and 3.6), by cubic interpolation. ``size`` is the direction's largest part.
    """

    def enough(p: Point) -> bool:
        return p.loss <= start.loss + DECREASE * p.t * start.slope

    def flat(p: Point) -> bool:
        return abs(p.slope) <= -CURVATURE * start.slope

    before, here, n = start, at(t), 0
    while True:
        if n == MOST:
            before = start
            break
        if not enough(here) or (n > 1 and here.loss >= before.loss):
            break
        if flat(here):
            return here, n + 1
        if here.slope >= 0:
            break
        bounds = (here.t + 0.01 * (here.t - before.t), here.t * 10)
        t = cubic(before, here, bounds)
        before, here, n = here, at(t), n + 1

    best, other = (before, here) if before.loss <= here.loss else (here, before)
    stuck, calls = False, n + 1
    while n < MOST and abs(best.t - other.t) * size >= tolerance:
        low, high = min(best.t, other.t), max(best.t, other.t)
        t, edge = cubic(best, other), 0.1 * (high - low)
        near = min(high - t, t - low) < edge
        if near and (stuck or t >= high or t <= low):  # twice near an end is no progress
            t = high - edge if abs(t - high) < abs(t - low) else low + edge
            stuck = False
        else:
            stuck = near
        here, n, calls = at(t), n + 1, calls + 1
        if not enough(here) or here.loss >= best.loss:
            other = here
            if other.loss < best.loss:
                best, other = other, best
            continue
        if flat(here):
            return here, calls
        if here.slope * (other.t - best.t) >= 0:
            other = best
        best = here
    return best, calls
