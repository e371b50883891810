"""Averages of weights along the way: stochastic weight averaging (SWA) and exponential moving averages (EMA)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import tensorx as tx
from tensorx import nn
from tensorx.nn.modules.batchnorm import _BatchNorm

from .lr_scheduler import LRScheduler, base
from .optimizer import Optimizer

Update = Callable[[Sequence[Any], Sequence[Any], Any], None]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> Update:
    """An update of lists of tensors, in place: ``ema = decay * ema + (1 - decay) * current``.

    Example:
        >>> import tensorx as tx
        >>> ema = tx.zeros(2)
        >>> tx.optim.swa_utils.get_ema_multi_avg_fn(0.75)([ema], [tx.ones(2)], 1)
        >>> ema
        tensor([0.2500, 0.2500])
    """
    _check_decay(decay)
    return lambda averages, currents, n: _move(averages, currents, 1 - decay)


def get_swa_multi_avg_fn() -> Update:
    """An update of lists of tensors, in place, to the mean of what came so far: of ``n`` and the current ones.

    Example:
        >>> import tensorx as tx
        >>> mean = tx.zeros(2)
        >>> tx.optim.swa_utils.get_swa_multi_avg_fn()([mean], [tx.ones(2)], 3)
        >>> mean
        tensor([0.2500, 0.2500])
    """
    return lambda averages, currents, n: _move(averages, currents, 1 / (float(n) + 1))


def _move(averages: Sequence[Any], currents: Sequence[Any], part: float) -> None:
    """Each average by ``part`` of the way to the current value."""
    with tx.no_grad():
        for average, current in zip(averages, currents):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, part)
            else:
                average.copy_(average + (current - average) * part)


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """A function of an average, a current value and the number of values: ``decay * ema + (1 - decay) * current``.

    Example:
        >>> import tensorx as tx
        >>> tx.optim.swa_utils.get_ema_avg_fn(0.75)(tx.zeros(1), tx.ones(1), 1)
        tensor([0.2500])
    """
    _check_decay(decay)

    def update(ema: Any, current: Any, n: Any) -> Any:
        with tx.no_grad():
            return decay * ema + (1 - decay) * current

    return update


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """A function of an average, a current value and the number of values so far: the mean of all.

    Example:
        >>> import tensorx as tx
        >>> tx.optim.swa_utils.get_swa_avg_fn()(tx.zeros(1), tx.ones(1), 3)
        tensor([0.2500])
    """

    def update(average: Any, current: Any, n: Any) -> Any:
        with tx.no_grad():
            return average + (current - average) / (n + 1)

    return update


class AveragedModel(nn.Module):
    """A copy of a module whose parameters are averages of that module's along the way.

    Args:
        model: whose copy this is; :meth:`update_parameters` takes its parameters in.
        device: where the copy lives; by default each parameter's own device.
        avg_fn: ``avg_fn(average, current, n)`` gives the new average; by default the mean of all.
        multi_avg_fn: ``multi_avg_fn(averages, currents, n)`` updates lists in place. Not both.
        use_buffers: average the buffers, too; otherwise they are copied.

    Example:
        >>> import tensorx as tx
        >>> model = tx.nn.Linear(1, 1)
        >>> ema = tx.optim.swa_utils.AveragedModel(model, multi_avg_fn=tx.optim.swa_utils.get_ema_multi_avg_fn(0.9))
        >>> ema.update_parameters(model)
        >>> int(ema.n_averaged)
        1
    """

    n_averaged: Any

    def __init__(
        self,
        model: nn.Module,
        device: Any = None,
        avg_fn: Callable[[Any, Any, Any], Any] | None = None,
        multi_avg_fn: Update | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tx.tensor(0, dtype=tx.int64, device=device or "cpu"))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged module gives."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: nn.Module) -> None:
        """Take the present parameters of ``model`` in; the first ones are copied."""
        averages, currents = list(self._averaged(self.module)), []
        for average, current in zip(averages, self._averaged(model)):
            currents.append(current.detach().to(average.device))
        averages, n = [average.detach() for average in averages], int(self.n_averaged)
        if n == 0:
            for average, current in zip(averages, currents):
                average.copy_(current)
        elif self.avg_fn is not None:
            for average, current in zip(averages, currents):
                average.copy_(self.avg_fn(average, current, self.n_averaged.to(average.device)))
        elif averages:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, currents, n)
        if not self.use_buffers:
            for mine, theirs in zip(self.module.buffers(), model.buffers()):
                mine.detach().copy_(theirs.detach().to(mine.device))
        self.n_averaged += 1

    def _averaged(self, model: nn.Module) -> Iterable[Any]:
        return chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()


def update_bn(loader: Iterable[Any], model: nn.Module, device: Any = None) -> None:
    """Set the running statistics of the batch norms in ``model`` to those of the whole of ``loader``.

    Args:
        loader: its batches, or the first item of each (a list or tuple), are the model's input.
        model: its mode is restored.
        device: where the batches go first, if given.

    Example:
        >>> import tensorx as tx
        >>> tx.optim.swa_utils.update_bn([tx.ones(2, 1)], tx.nn.Linear(1, 1))  # has none: nothing to do
    """
    momenta: dict[Any, Any] = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None  # the plain mean of all batches
    with tx.no_grad():
        for batch in loader:
            x = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(x.to(device) if device is not None else x)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Goes from the present rate to ``swa_lr`` in ``anneal_epochs`` epochs, and stays there.

    Args:
        optimizer: whose rates are set.
        swa_lr: the end; one number, or one for each group.
        anneal_strategy: "cos" or "linear".

    Example:
        >>> import tensorx as tx
        >>> optimizer = tx.optim.SGD([tx.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = tx.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
        >>> optimizer.step()
        >>> schedule.step()
        >>> schedule.get_last_lr()
        [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for lr, group in zip(base.one_for_each_group(optimizer, swa_lr, "swa_lr"), optimizer.param_groups):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _progress(self, step: int) -> float:
        part = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * part)) / 2 if self._anneal_strategy == "cos" else part

    def get_lr(self) -> list[Any]:
        """The present rate, moved one epoch on; where it began follows from it."""
        self._inside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._progress(step - 1), self._progress(step)
        rates = []
        for lr, group in zip(self._rates(), self.optimizer.param_groups):
            end = group["swa_lr"]
            start = end if before == 1 else (lr - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates
