"""tinygrad: works realised and synchronised each time, warm. Names that works use are spelled in tinygrad here.

``TINYGRAD_DEVICE`` picks its device (CL is OpenCL); its default otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes

from benchmarks.timing import Loop
from benchmarks.work import Step, Unsupported

_F = SimpleNamespace(
    layer_norm=lambda x, shape, w=None, b=None: x.layernorm() if w is None else x.layernorm() * w + b,
    cross_entropy=lambda x, target: x.cross_entropy(target),
    conv2d=lambda x, w, bias=None, stride=1, padding=0, dilation=1, groups=1: x.conv2d(w, bias, groups, stride, dilation, padding),
    max_pool2d=lambda x, size, stride, padding: x.max_pool2d((size, size), stride, 1, padding),
    relu=Tensor.relu, gelu=Tensor.gelu, embedding=lambda i, w: w[i], linear=lambda x, w, b: x @ w.T + b,
    scaled_dot_product_attention=lambda q, k, v, is_causal=False: q.scaled_dot_product_attention(k, v, is_causal=is_causal),
)  # fmt: skip
NAMES = SimpleNamespace(
    nn=SimpleNamespace(functional=_F), exp=Tensor.exp, tanh=Tensor.tanh, where=Tensor.where, matmul=Tensor.matmul,
    bmm=Tensor.matmul, sum=lambda x, dim=None: x.sum(dim), amax=lambda x, dim: x.max(dim), mean=lambda x, dim: x.mean(dim),
    softmax=lambda x, dim: x.softmax(dim), cumsum=lambda x, dim: x.cumsum(dim), sort=Tensor.sort, topk=Tensor.topk,
    argmax=lambda x, dim: x.argmax(dim), transpose=lambda x, a, b: x.transpose(a, b),
)  # fmt: skip


class TinyGrad:
    name = "tinygrad"

    def __init__(self, device: str) -> None:
        self.device = device

    def framework(self) -> Any:
        raise Unsupported

    def tensor(self, array: np.ndarray) -> Any:
        return Tensor(array.astype(np.int32) if array.dtype == np.int64 else array, device=self.device).realize()

    def function(self, f: Callable[..., Any], arrays: Sequence[np.ndarray], grad: bool) -> Step:
        tensors = [self.tensor(array) for array in arrays]
        leaves = [t for t in tensors if dtypes.is_float(t.dtype)]

        def whole() -> list[Any]:
            y = f(NAMES, *tensors)
            results = y.sum().gradient(*leaves) if grad else y if isinstance(y, tuple) else (y,)
            return [r.realize() for r in results]

        return TinyJit(whole)  # type: ignore[no-any-return]

    def loop(self, step: Step) -> Loop:
        def run(n: int) -> None:
            for _ in range(n):
                step()
            Device[self.device].synchronize()

        return run


def make(name: str, device: str | None) -> TinyGrad:
    return TinyGrad(os.environ.get("TINYGRAD_DEVICE") or Device.DEFAULT)
