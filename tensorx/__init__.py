"""tensorx: PyTorch's programming model on every GPU.

>>> import tensorx as torch
>>> x = torch.tensor([1., 2., 3.], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4., 6.])
"""

from __future__ import annotations

from typing import Any

from tensorx import dtypes as _dtypes
from tensorx import errors
from tensorx.tensor import Size, Tensor
from tensorx.devices.registry import device
from tensorx import ops as _ops
from tensorx import autograd
from tensorx.autograd import enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled
from tensorx.dtypes import can_cast, dtype, get_default_dtype, promote_types, set_default_dtype
from tensorx.ops.factories import (arange, as_tensor, empty, empty_like, eye, from_numpy, full, full_like, linspace, ones, ones_like, tensor, zeros,
                                   zeros_like)
from tensorx.faults import synchronize
from tensorx.formatting import get_printoptions, printoptions, set_printoptions
from tensorx.ops.determinism import are_deterministic_algorithms_enabled, deterministic, use_deterministic_algorithms
from tensorx.ops.methods import is_tensor, set_default_device

globals().update(_ops.PUBLIC)
for _d in _dtypes.ALL:
    globals()[_d.name] = _d
globals().update({name: d for name, d in _dtypes.ALIASES.items()})
from math import e, inf, nan, pi
_ROOMS = ("data", "nn", "optim", "utils")  # loaded when first named: plain tensor programs start without them


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        import importlib
        return importlib.import_module(f"tensorx.{name}")
    raise AttributeError(f"module 'tensorx' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS})
