"""Cosine annealing."""

from __future__ import annotations

import math
from typing import Any

from tensorx.optim.optimizer import Optimizer

from .base import LRScheduler


class CosineAnnealingLR(LRScheduler):
    """A cosine from the initial rate to ``eta_min`` in ``T_max`` epochs, and back (Loshchilov & Hutter 2016).

    The steps multiply the present rate, so that it can be combined with other schedules.

    Example:
        >>> import tensorx as tx
        >>> optimizer = tx.optim.SGD([tx.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = tx.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> optimizer.step()
        >>> schedule.step()
        >>> round(schedule.get_last_lr()[0], 6)
        0.5
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The present rate, moved one epoch along the cosine."""
        self._inside_step()
        epoch, period, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - period) % (2 * period) == 0:  # the present rate is eta_min: there is nothing to multiply
            rise = (1 - math.cos(math.pi / period)) / 2
            return [lr + (base - low) * rise for lr, base in zip(self._rates(), self.base_lrs)]
        ratio = (1 + math.cos(math.pi * epoch / period)) / (1 + math.cos(math.pi * (epoch - 1) / period))
        return [ratio * (lr - low) + low for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * factor for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """A cosine from the initial rate to ``eta_min``, again and again (SGDR, Loshchilov & Hutter 2016).

    The first takes ``T_0`` epochs, every further one ``T_mult`` times the last. :meth:`step` takes fractions of an
    epoch.

    Example:
        >>> import tensorx as tx
        >>> optimizer = tx.optim.SGD([tx.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = tx.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> optimizer.step()
        >>> schedule.step(2.0)
        >>> schedule.get_last_lr()
        [1.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        if last_epoch > 0:
            self._place(last_epoch)  # PyTorch's takes up a run with T_mult > 1 in another place than it was left
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rate at ``T_cur`` of a period of ``T_i`` epochs."""
        self._inside_step()
        factor = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * factor for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]  # fractions are fine here
        """Set the rates of the next epoch, or of ``epoch``, which need not be whole."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._place(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _place(self, epoch: float) -> None:
        """Find the period in which ``epoch`` lies."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
