"""``torch.autograd.profiler``: the older names of `tensorx.profiler`."""

from __future__ import annotations

from typing import Any

from tensorx import profiler
from tensorx.profiler import ProfilerActivity, record_function


class profile(profiler.profile):
    """`tensorx.profiler.profile` with the older arguments: ``enabled=False`` records nothing, ``use_cuda`` (or
    ``use_device``) waits for the device after every call.

    Example:
        >>> import tensorx as tx
        >>> with tx.autograd.profiler.profile() as p:
        ...     y = tx.ones(2) + 1
        >>> p.key_averages().total_average().count > 0
        True
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: Any = None,
        record_shapes: bool = False,
        **other: Any,
    ) -> None:
        more = [ProfilerActivity.CUDA] if use_cuda or use_device else []
        super().__init__(activities=[ProfilerActivity.CPU, *more], record_shapes=record_shapes)
        self._enabled = enabled

    def start(self) -> None:
        """Begin, if enabled."""
        if self._enabled:
            super().start()

    def table(self, **kwargs: Any) -> str:
        """``key_averages().table(...)``."""
        return self.key_averages().table(**kwargs)


__all__ = ["profile", "record_function"]
