"""Convolutions over NumPy arrays as windows and one BLAS product, in 1 to 3 spatial dimensions: the lane without a compiler."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorx.kernels.convolution import Window

Array = np.ndarray[Any, Any]
Ints = tuple[int, ...]


def _patches(x: Array, kernel: Ints, outs: Ints, w: Window) -> Array:
    """A view [n, c, *outs, *kernel] of the padded input."""
    rank = len(kernel)
    pads = []
    for i in range(rank):
        reach = (outs[i] - 1) * w.stride[i] + (kernel[i] - 1) * w.dilation[i] + 1
        pads.append((w.padding[i], max(0, reach - w.padding[i] - x.shape[2 + i])))
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    s = x.strides
    shape = (*x.shape[:2], *outs, *kernel)
    strides = (*s[:2], *(s[2 + i] * w.stride[i] for i in range(rank)), *(s[2 + i] * w.dilation[i] for i in range(rank)))
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def _columns(x: Array, kernel: Ints, outs: Ints, w: Window) -> Array:
    """[c * kernel, n * outs]: what each output position sees, one column each. Copied along the outputs, which are long and dense."""
    rank = len(kernel)
    p = _patches(x, kernel, outs, w)
    return p.transpose(1, *range(2 + rank, 2 + 2 * rank), 0, *range(2, 2 + rank)).reshape(x.shape[1] * math.prod(kernel), x.shape[0] * math.prod(outs))


def forward(x: Array, weight: Array, size: Ints, w: Window) -> Array:
    """y[n, d, *outs] = sum over c, kernel of weight[d, c, *kernel] * patches."""
    g = w.groups
    out = np.empty(size, x.dtype)
    c, d = x.shape[1] // g, weight.shape[0] // g
    for i in range(g):
        seen = _columns(x[:, i * c:(i + 1) * c], weight.shape[2:], size[2:], w)
        product = weight[i * d:(i + 1) * d].reshape(d, seen.shape[0]) @ seen
        out[:, i * d:(i + 1) * d] = np.moveaxis(product.reshape(d, size[0], *size[2:]), 0, 1)
    return out


def weight(x: Array, grad: Array, size: Ints, w: Window) -> Array:
    """dw[d, c, *kernel] = sum over n, outs of grad[n, d, *outs] * patches."""
    g = w.groups
    out = np.empty(size, x.dtype)
    c, d = x.shape[1] // g, size[0] // g
    for i in range(g):
        seen = _columns(x[:, i * c:(i + 1) * c], size[2:], grad.shape[2:], w)
        part = np.moveaxis(grad[:, i * d:(i + 1) * d], 1, 0).reshape(d, seen.shape[1])
        out[i * d:(i + 1) * d] = (part @ seen.T).reshape(d, *size[1:])
    return out


def data(grad: Array, weights: Array, size: Ints, w: Window) -> Array:
    """dx: each kernel position adds its product to the input positions that it saw."""
    rank, g = weights.ndim - 2, w.groups
    outs, kernel = grad.shape[2:], weights.shape[2:]
    reach = [max(w.padding[i] + size[2 + i], (outs[i] - 1) * w.stride[i] + (kernel[i] - 1) * w.dilation[i] + 1) for i in range(rank)]
    whole = np.zeros((*size[:2], *reach), grad.dtype)
    c, d = size[1] // g, weights.shape[0] // g
    for i in range(g):
        part = np.tensordot(grad[:, i * d:(i + 1) * d], weights[i * d:(i + 1) * d], ([1], [0]))  # n, *outs, c, *kernel
        part = np.moveaxis(part, 1 + rank, 1)
        for at in itertools.product(*(range(k) for k in kernel)):
            where = tuple(slice(a * w.dilation[j], a * w.dilation[j] + (outs[j] - 1) * w.stride[j] + 1, w.stride[j]) for j, a in enumerate(at))
            whole[(slice(None), slice(i * c, (i + 1) * c), *where)] += part[(Ellipsis, *at)]  # type: ignore[arg-type]  # NumPy's stubs know no mixed index tuples
    return whole[(slice(None), slice(None), *(slice(w.padding[i], w.padding[i] + size[2 + i]) for i in range(rank)))]


RUN: dict[str, Callable[[Array, Array, Ints, Window], Array]] = {"forward": forward, "weight": weight, "data": data}
