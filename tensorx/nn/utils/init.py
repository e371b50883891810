"""Modules without the cost of their initial values."""

from __future__ import annotations

import inspect
from typing import Any

import tensorx as tx


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """``module_cls(*args, **kwargs)`` whose parameters and buffers are not initialised.

    RuntimeError for a class that is no Module or has no argument 'device'.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.utils.skip_init(tx.nn.Linear, 2, 3)
        Linear(in_features=2, out_features=3, bias=True)
    """
    if not issubclass(module_cls, tx.nn.Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
