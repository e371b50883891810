"""Schedules that raise the rate and lower the momentum, and back: CyclicLR and OneCycleLR."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorx.optim.optimizer import Optimizer

from .base import LRScheduler, assign, attributes, check_optimizer, one_for_each_group


class _WithMomentum(LRScheduler):
    """A schedule that may change ``momentum`` (or the first of ``betas``) too."""

    cycle_momentum: bool
    use_beta1: bool

    def _find_momentum(self, cycle_momentum: bool) -> None:
        self.cycle_momentum = cycle_momentum
        defaults = self.optimizer.defaults
        if cycle_momentum:
            if "momentum" not in defaults and "betas" not in defaults:
                raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
            self.use_beta1 = "betas" in defaults

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_WithMomentum):
    """Lets the rate go up and down between ``base_lr`` and ``max_lr`` (Smith 2015). Step after every batch.

    Args:
        optimizer: whose rates, and momentum with ``cycle_momentum``, are set.
        base_lr, max_lr: the bounds; one number, or one for each group.
        step_size_up, step_size_down: batches of the rise and of the fall (by default as many).
        mode: "triangular", "triangular2" (half the height every cycle) or "exp_range" (the height times
            ``gamma ** batches``).
        scale_fn, scale_mode: a function of your own for the height, of the "cycle" or of the "iterations".
        base_momentum, max_momentum: bounds of the momentum, which moves against the rate.

    Example:
        >>> import tensorx as tx
        >>> optimizer = tx.optim.SGD([tx.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
        >>> schedule = tx.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.0, max_lr=1.0, step_size_up=2)
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    _unsaved = (*LRScheduler._unsaved, "_scale_fn_custom")

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = one_for_each_group(optimizer, base_lr, "base_lr")
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups):
                assign(group, "lr", lr)
        self.max_lrs = one_for_each_group(optimizer, max_lr, "max_lr")
        up, down = float(step_size_up), float(step_size_up if step_size_down is None else step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self._find_momentum(cycle_momentum)
        if cycle_momentum:
            self.base_momentums = one_for_each_group(optimizer, base_momentum, "base_momentum")
            self.max_momentums = one_for_each_group(optimizer, max_momentum, "max_momentum")
            if last_epoch == -1:
                for high, low, group in zip(self.max_momentums, self.base_momentums, optimizer.param_groups):
                    self._set_momentum(group, high)
                    group.update(max_momentum=high, base_momentum=low)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, of its number or of the batches so far."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        """The rates of this batch; the momentum is set here, too."""
        self._inside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                self._set_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser and a plain ``scale_fn``; of a callable object the attributes are kept."""
        return super().state_dict() | {"_scale_fn_custom": attributes(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave; the function stays."""
        kept = state_dict.get("_scale_fn_custom")
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        if kept is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(kept)


class OneCycleLR(_WithMomentum):
    """The 1cycle policy (Smith & Topin 2017): up to ``max_lr``, down to almost nothing. Step after every batch.

    Args:
        optimizer: whose rates, and momentum with ``cycle_momentum``, are set.
        max_lr: the peak; one number, or one for each group.
        total_steps: batches of the whole cycle, or else ``epochs`` times ``steps_per_epoch``.
        pct_start: part of the cycle in which the rate rises.
        anneal_strategy: "cos" or "linear".
        base_momentum, max_momentum: bounds of the momentum, which moves against the rate.
        div_factor: the cycle starts at ``max_lr / div_factor``,
        final_div_factor: and ends at its start over this.
        three_phase: go back to the start, as fast as up, before the rest.

    Example:
        >>> import tensorx as tx
        >>> optimizer = tx.optim.SGD([tx.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
        >>> tx.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10, div_factor=4).get_last_lr()
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        peaks = one_for_each_group(optimizer, max_lr, "max_lr")
        if last_epoch == -1:
            for peak, group in zip(peaks, optimizer.param_groups):
                start = peak / div_factor
                group.update(initial_lr=start, max_lr=peak, min_lr=start / final_div_factor)
        self._find_momentum(cycle_momentum)
        if cycle_momentum:
            lows = one_for_each_group(optimizer, base_momentum, "base_momentum")
            highs = one_for_each_group(optimizer, max_momentum, "max_momentum")
            if last_epoch == -1:
                for high, low, group in zip(highs, lows, optimizer.param_groups):
                    self._set_momentum(group, high)
                    group.update(max_momentum=high, base_momentum=low)
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start: float, end: float, part: float) -> float:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def get_lr(self) -> list[Any]:
        """The rates of this batch; the momentum is set here, too. ValueError after the last."""
        self._inside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        start: float = 0
        for phase in self._schedule_phases:  # ends at the phase that the step is in
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        part, rates = (step - start) / (end - start), []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                momentum = self._anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], part)
                self._set_momentum(group, momentum)
        return rates


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"total_steps": total_steps}
    if total_steps is None:
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, n in given.items():
        if not isinstance(n, int) or n <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {n}")
    return math.prod(n for n in given.values() if n is not None)


def _phases(total: int, rising: float, three: bool) -> list[dict[str, Any]]:
    """The parts of the cycle; rates and momenta are named, they stand in the groups."""
    rows: list[tuple[float, str, str, str, str]]
    if three:
        rows = [
            (float(rising * total) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
            (float(2 * rising * total) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            (total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]
    else:
        rows = [
            (float(rising * total) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
            (total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"),
        ]
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(names, row)) for row in rows]
