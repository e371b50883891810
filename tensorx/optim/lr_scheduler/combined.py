"""Schedules made of others: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from tensorx.optim.optimizer import Optimizer

from .base import LRScheduler, assign
from .plateau import ReduceLROnPlateau


class _Combined(LRScheduler):
    """A schedule that has others."""

    _schedulers: list[Any]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser; the parts' states in a list."""
        return super().state_dict() | {"_schedulers": [schedule.state_dict() for schedule in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for schedule, state in zip(self._schedulers, state_dict["_schedulers"]):
            schedule.load_state_dict(state)


def _check(name: str, i: int, schedule: Any, optimizer: Any) -> None:
    if isinstance(schedule, ReduceLROnPlateau):
        raise ValueError(
            f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be specified "
            f"when calling `step`, but got one at index {i} in the given schedulers sequence."
        )
    if schedule.optimizer is not optimizer:
        raise ValueError(
            f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
            f"{type(schedule).__name__} at index {i} has another {type(schedule.optimizer).__name__}."
        )


class SequentialLR(_Combined):
    """One schedule after the other; at each of ``milestones`` the next begins, with its own epoch 0.

    Example:
        >>> import tensorx as tx
        >>> from tensorx.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
        >>> optimizer = tx.optim.SGD([tx.zeros(1, requires_grad=True)], lr=1.0)
        >>> parts = [ConstantLR(optimizer, factor=0.5, total_iters=2), ExponentialLR(optimizer, gamma=0.5)]
        >>> SequentialLR(optimizer, parts, milestones=[2]).get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        for i, schedule in enumerate(schedulers):
            if not hasattr(schedule, "optimizer"):
                raise TypeError(f"SequentialLR at index {i} should have `optimizer` as its attribute.")
            _check("SequentialLR", i, schedule, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        # Making the parts has set their first rates, one over the other: back, and only the first one's.
        for group in optimizer.param_groups:
            assign(group, "lr", group["initial_lr"])
        for schedule in schedulers:
            _unstep(schedule)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def _initial_step(self) -> None:
        self.last_epoch += 1
        self._schedulers[0]._initial_step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]  # a sequence has no closed form
        """Set the next rates."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        schedule = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            schedule._update_lr(0)
        else:
            schedule.step()
        self._last_lr = schedule.get_last_lr()


def _unstep(schedule: Any) -> None:
    for part in getattr(schedule, "_schedulers", ()):
        _unstep(part)
    if hasattr(schedule, "last_epoch"):
        schedule.last_epoch -= 1


class ChainedScheduler(_Combined):
    """Several schedules at once: each multiplies the rates that the one before it has set.

    Example:
        >>> import tensorx as tx
        >>> from tensorx.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
        >>> optimizer = tx.optim.SGD([tx.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = ChainedScheduler([ConstantLR(optimizer, factor=0.5), ExponentialLR(optimizer, gamma=0.5)])
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        for i, schedule in enumerate(schedulers):
            if not hasattr(schedule, "optimizer"):
                raise TypeError(f"ChainedScheduler at index {i} should have `optimizer` as its attribute.")
            _check("ChainedScheduler", i, schedule, optimizer)
        self._schedulers, self.optimizer = list(schedulers), optimizer
        self._last_lr = self._rates()

    def step(self) -> None:  # type: ignore[override]  # a chain has no closed form
        """Set the next rates."""
        for schedule in self._schedulers:
            schedule.step()
        self._last_lr = self._rates()
