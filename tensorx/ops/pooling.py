"""POOL rows: max and average pooling over windows and over even shares of the input, and their gradients.

The private rows take sizes on trust; the composites check arguments as PyTorch does. A row with an empty ``kernel`` is adaptive.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tensorx.kernels.convolution import Window
from tensorx.ops.families import row
from tensorx.ops.kinds.pool import POOL, Pooling
from tensorx.tensor import Tensor

WINDOW = "int[] size, int[] kernel, int[] stride, int[] padding, int[] dilation"
MEAN = "int[] size, int[] kernel, int[] stride, int[] padding, bool count_include_pad, int? divisor"
Ints = tuple[int, ...]


def _window(stride: Ints, padding: Ints, dilation: Ints) -> Window:
    return Window(tuple(stride), tuple(padding), tuple(dilation))


def _max(x: Tensor, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Pooling:
    return Pooling("max", False, (x,), size, kernel, _window(stride, padding, dilation))


def _max_vjp(g: Any, indices: Tensor, input_meta: Any, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Tensor:
    return max_pool_back(g[0], indices, input_meta.shape[-len(size):], kernel, stride, padding, dilation)


def pick(x: Tensor, indices: Tensor, rank: int) -> Tensor:
    """The elements of the last ``rank`` axes at their row-major places."""
    lead = x._shape[: len(x._shape) - rank]
    return x.reshape(*lead, math.prod(x._shape[len(lead):])).gather(-1, indices.reshape(*lead, math.prod(indices._shape[len(lead):]))).reshape(indices._shape)


def _mean(back: bool) -> Any:
    def plan(x: Tensor, size: Ints, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool, divisor: int | None) -> Pooling:
        window = _window(stride, padding, (1,) * len(kernel))
        return Pooling("avg", back, (x,), size, kernel, window, divisor or ("padded" if count_include_pad and kernel else "inside"))
    return plan


# oracles: one window at a time


def _places(n: Ints, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    """(output place, its input coordinates a dimension, how many of the padded input), for every window."""
    for o in itertools.product(*map(range, size)):
        if kernel:
            every = [np.arange(k) * d + i * s - p for i, k, s, p, d in zip(o, kernel, stride, padding, dilation, strict=True)]
        else:
            every = [np.arange(i * e // m, math.ceil((i + 1) * e / m)) for i, e, m in zip(o, n, size, strict=True)]
        padded = math.prod(int((e < m + p).sum()) for e, m, p in zip(every, n, padding or (0,) * len(n), strict=True))
        yield o, [e[(e >= 0) & (e < m)] for e, m in zip(every, n, strict=True)], padded


def _ref_max(x: Any, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    r = len(size)
    n = x.shape[x.ndim - r:]
    lead = x.shape[: x.ndim - r]
    values, indices = np.zeros((*lead, *size), x.dtype), np.zeros((*lead, *size), np.int64)
    flat = np.arange(math.prod(n)).reshape(n)
    for o, inside, _ in _places(n, size, kernel, stride, padding, dilation):
        seen = x[(..., *np.ix_(*inside))].reshape(*lead, math.prod(map(len, inside)))
        best = seen.argmax(-1)
        values[(..., *o)] = np.take_along_axis(seen, best[..., None], -1)[..., 0]
        indices[(..., *o)] = flat[np.ix_(*inside)].reshape(-1)[best]
    return values, indices


def _ref_max_back(g: Any, indices: Any, size: Ints, *window: Any) -> Any:
    r = len(size)
    lead = g.shape[: g.ndim - r]
    out = np.zeros((*lead, math.prod(size)), g.dtype)
    for at in np.ndindex(*g.shape):
        out[(*at[: len(lead)], indices[at])] += g[at]
    return out.reshape(*lead, *size)


def _ref_mean(x: Any, size: Ints, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: Any = True, divisor: Any = None) -> Any:
    r = len(size)
    y = np.zeros((*x.shape[: x.ndim - r], *size), x.dtype)
    for o, inside, padded in _places(x.shape[x.ndim - r:], size, kernel, stride, padding, (1,) * r):
        seen = x[(..., *np.ix_(*inside))]
        by = divisor or (padded if count_include_pad and kernel else math.prod(map(len, inside)))
        y[(..., *o)] = np.trunc(seen.sum(tuple(range(x.ndim - r, x.ndim))) / by) if x.dtype.kind in "iu" else seen.sum(tuple(range(x.ndim - r, x.ndim))) / by
    return y


def _ref_mean_back(g: Any, size: Ints, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: Any = True, divisor: Any = None) -> Any:
    r = len(size)
    out = np.zeros((*g.shape[: g.ndim - r], *size), g.dtype)
    for o, inside, padded in _places(size, g.shape[g.ndim - r:], kernel, stride, padding, (1,) * r):
        by = divisor or (padded if count_include_pad and kernel else math.prod(map(len, inside)))
        part = g[(..., *o)] / by
        out[(..., *np.ix_(*inside))] += part[(..., *(None,) * r)]
    return out


#: (input, size, kernel, stride, padding, dilation)
CASES = [((2, 3, 9), (4,), (3,), (2,), (0,), (1,)), ((2, 6, 7), (4, 3), (3, 2), (2, 2), (1, 0), (1, 2)), ((1, 2, 5, 4, 6), (3, 4, 2), (2, 3, 2), (2, 1, 3), (1, 1, 0), (1, 1, 1)),
         ((3, 2, 2, 5), (4, 2, 3), (), (), (), ()), ((3, 7), (9,), (), (), (), ())]
MEANS = [((2, 3, 9), (4,), (3,), (2,), (0,), True, None), ((2, 6, 7), (4, 4), (3, 2), (2, 2), (1, 1), True, None), ((1, 2, 5, 4, 6), (3, 4, 2), (2, 3, 2), (2, 1, 3), (1, 1, 0), False, None),
         ((2, 6, 7), (3, 4), (3, 2), (2, 2), (1, 1), True, 5), ((3, 2, 2, 5), (4, 2, 3), (), (), (), False, None), ((3, 7), (9,), (), (), (), False, None)]


def _lead(shape: Ints, size: Ints) -> Ints:
    return shape[: len(shape) - len(size)]


max_pool = row(f"_max_pool(Tensor input, {WINDOW}) -> (Tensor values, Tensor indices)", POOL, _max, _max_vjp, dtypes="if", ref=_ref_max,
               samples=lambda t: [(t(x), *at) for x, *at in CASES], doc="The largest element of each window, and its row-major place.")
max_pool_back = row(f"_max_pool_back(Tensor grad, Tensor indices, {WINDOW}) -> Tensor", POOL,
                    lambda g, indices, size, kernel, stride, padding, dilation: Pooling("max", True, (g, indices), size, kernel, _window(stride, padding, dilation)),
                    lambda g, indices, size: (pick(g, indices, len(size)), None), dtypes="f", ref=_ref_max_back, ulp=8.0,
                    samples=lambda t: [(t((*_lead(x, size), *size)), _places_of(t, x, size, *at), x[len(_lead(x, size)):], *at) for x, size, *at in CASES],
                    doc="Gradient of _max_pool: the cotangents of the windows whose maximum an element is.")
avg_pool = row(f"_avg_pool(Tensor input, {MEAN}) -> Tensor", POOL, _mean(False),
               lambda g, input_meta, size, kernel, stride, padding, count_include_pad, divisor: avg_pool_back(
                   g, input_meta.shape[-len(size):], kernel, stride, padding, count_include_pad, divisor), dtypes="if", ref=_ref_mean, ulp=8.0,
               samples=lambda t: [(t(x), *at) for x, *at in MEANS], doc="The mean of each window.")
avg_pool_back = row(f"_avg_pool_back(Tensor grad, {MEAN}) -> Tensor", POOL, _mean(True),
                    lambda g, grad_meta, size, kernel, stride, padding, count_include_pad, divisor: avg_pool(
                        g, grad_meta.shape[-len(size):], kernel, stride, padding, count_include_pad, divisor), dtypes="f", ref=_ref_mean_back, ulp=8.0,
                    samples=lambda t: [(t((*_lead(x, size), *size)), x[len(_lead(x, size)):], *at) for x, size, *at in MEANS], doc="Gradient of _avg_pool.")


def _places_of(t: Any, x: Ints, size: Ints, *at: Any) -> Tensor:
    """Places that a forward call gave: those of windows that do cover them."""
    from tensorx.ops import factories
    n = math.prod(x)
    values = (np.arange(n) * 7 % 11).reshape(x).astype(np.float32)
    return factories.tensor(_ref_max(values, size, *at)[1].tolist())
