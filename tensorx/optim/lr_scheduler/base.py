"""What all schedules share: the count of epochs, the present rates, saving."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from typing import Any

import tensorx as tx
from tensorx.optim.optimizer import Optimizer

EPOCH_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. With an epoch the closed form is used instead of the chainable one, "
    "where there is one."
)


class LRScheduler:
    """Base class. A subclass writes :meth:`get_lr`: the groups' next rates, given ``last_epoch`` and the present rates.

    Making a scheduler sets the first rate; call :meth:`step` after ``optimizer.step()``.

    Example:
        >>> import tensorx as tx
        >>> optimizer = tx.optim.SGD([tx.zeros(1, requires_grad=True)], lr=1.0)
        >>> class Constant(tx.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return self.base_lrs
        >>> Constant(optimizer).get_last_lr()
        [1.0]
    """

    #: What a state_dict leaves out.
    _unsaved: tuple[str, ...] = ("optimizer", "_optimizer_steps")

    _get_lr_called_within_step = False
    _is_initial = False
    last_epoch: int

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0. Hint: load the optimizer's state before making the scheduler."
                )
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._optimizer_steps = getattr(optimizer, "_step_count", 0)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the first rates; a scheduler made of others calls this again for the one that begins."""
        self._step_count = 0
        self._is_initial, self._get_lr_called_within_step = True, False
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Any]:
        """The next learning rate of each group; every schedule writes its own."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The learning rates that were set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Set the next learning rates; with ``epoch`` (deprecated in PyTorch) those of that epoch."""
        if self._step_count == 1 and getattr(self.optimizer, "_step_count", 0) == self._optimizer_steps:
            message = (
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first value of the schedule is "
                "skipped. Call `optimizer.step()` first."
            )
            warnings.warn(message, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = (getattr(self, "_get_closed_form_lr", None) or self.get_lr)()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: list[Any]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            assign(group, "lr", lr)
        self._last_lr = self._rates()

    def _rates(self) -> list[Any]:
        return [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _inside_step(self) -> None:
        """Warn where get_lr is called by hand: it moves the rates on, instead of telling them."""
        if not self._get_lr_called_within_step:
            message = "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."
            warnings.warn(message, UserWarning, stacklevel=3)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key not in self._unsaved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what :meth:`state_dict` gave."""
        self.__dict__.update(state_dict)


class _LRScheduler(LRScheduler):
    """The base class's old name."""


def check_optimizer(optimizer: Any) -> None:
    """TypeError for what is no optimiser."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(value: Any) -> Any:
    """A rate that does not change when the group's does."""
    return value.clone() if isinstance(value, tx.Tensor) else value


def assign(group: dict[str, Any], key: str, value: Any) -> None:
    """Set a setting of a group; a tensor keeps its place and takes the value."""
    if isinstance(group[key], tx.Tensor):
        group[key].fill_(value)
    else:
        group[key] = value


def one_for_each_group(optimizer: Optimizer, value: Any, name: str) -> list[Any]:
    """A list with an item a group, of one item or such a list; ValueError for a list of another length."""
    n = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * n
    if len(value) != n:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {n}."
        )
    return list(value)


def attributes(function: Callable[..., Any] | None) -> dict[str, Any] | None:
    """What a state_dict keeps of a callable: the attributes of an object, nothing of a plain function."""
    if function is None or isinstance(function, types.FunctionType):
        return None
    return function.__dict__.copy()
