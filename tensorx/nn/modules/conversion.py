"""Arguments of ``Module.to``."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.dtypes import PYTHON
from tensorx.ops.arguments import as_dtype


def parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format) of a call of ``Module.to``."""
    device, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
    non_blocking, memory_format = kwargs.pop("non_blocking", False), kwargs.pop("memory_format", None)
    other = kwargs.pop("tensor", None)
    if kwargs:
        raise TypeError(f"to: got an unexpected keyword argument '{next(iter(kwargs))}'.")
    flags = []
    for arg in args:
        if isinstance(arg, tx.Tensor):
            other = arg
        elif isinstance(arg, tx.dtype) or (isinstance(arg, type) and arg in PYTHON):
            dtype = arg
        elif isinstance(arg, bool):
            flags.append(arg)
        elif isinstance(arg, (str, int, tx.device)):
            device = arg
        elif arg is not None:
            raise TypeError(f"to: arguments must be a device, a dtype or a tensor; got {type(arg).__name__}.")
    if other is not None:
        device, dtype = other.device, other.dtype
    dtype = as_dtype("Module.to", dtype)
    return (None if device is None else tx.device(device)), dtype, flags[0] if flags else non_blocking, memory_format
