"""``torch.cuda.amp``: the older names of `tensorx.amp`."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from tensorx import amp


def _old(name: str, new: str) -> None:
    warnings.warn(f"`torch.cuda.amp.{name}` is deprecated. Please use `{new}` instead.", FutureWarning, stacklevel=3)


class autocast(amp.autocast):
    """``tensorx.amp.autocast("cuda", ...)``."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _old("autocast(args...)", "torch.amp.autocast('cuda', args...)")
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """``tensorx.amp.GradScaler("cuda", ...)``."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _old("GradScaler(args...)", "torch.amp.GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """``tensorx.amp.custom_fwd(device_type="cuda")``."""
    _old("custom_fwd(args...)", "torch.amp.custom_fwd(args..., device_type='cuda')")
    return functools.partial(amp.custom_fwd, device_type="cuda")(fwd, cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Any:
    """``tensorx.amp.custom_bwd(device_type="cuda")``."""
    _old("custom_bwd(args...)", "torch.amp.custom_bwd(args..., device_type='cuda')")
    return functools.partial(amp.custom_bwd, device_type="cuda")(bwd)


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
