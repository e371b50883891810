"""Where PyTorch keeps its helpers."""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import data

if _TYPE_CHECKING:
    from . import checkpoint, tensorboard
else:

    def __getattr__(name):
        if name in ("_pytree", "checkpoint", "tensorboard"):
            return _importlib.import_module(f"tensorx.utils.{name}")
        raise AttributeError(f"module 'tensorx.utils' has no attribute '{name}'")
