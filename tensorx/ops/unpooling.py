"""Rows beside pooling: windows at random places (fractional pooling), and putting maxima back (unpooling)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import DTypeError
from tensorx.ops import expr as E
from tensorx.ops import factories
from tensorx.ops.families import composite, elementwise, row
from tensorx.ops.kinds.pool import POOL, Pooling
from tensorx.ops.pooling import _ref_max_back, pick
from tensorx.ops.pools import spread
from tensorx.ops.table import NONDIFF, Promote
from tensorx.tensor import Tensor

Ints = tuple[int, ...]


def _starts(u, i, alpha, last, end):
    """The first element of window i: whole steps of alpha from a random phase; the last window ends with the input."""
    return E.where(i >= last, end, E.trunc((i + u) * alpha) - E.trunc(u * alpha))


def _ref_starts(u: Any, i: Any, alpha: Any, last: Any, end: Any) -> Any:
    return np.where(i >= last, end, np.floor((i + u) * alpha) - np.floor(u * alpha))


window_starts = elementwise("_window_starts(Tensor sample, Tensor window, Scalar alpha, Scalar last, Scalar end) -> Tensor", _starts, NONDIFF, ref=_ref_starts,
                            promote=Promote("starts", lift=1, result="i64"), dtypes="bif", public="fractional_max_pool", doc="Where the windows of fractional pooling start.",
                            samples=lambda t: [(t((2, 1), 0, 1), t((5,), 0, 4), 1.5, 4, 6)])


def _fractional(x: Tensor, size: Ints, kernel: Ints, starts: Any) -> Pooling:
    return Pooling("max", False, (x,), size, kernel, starts=tuple(starts), listed=True)


def _fractional_vjp(g: Any, indices: Tensor, input_meta: Any, size: Ints, kernel: Ints) -> Any:
    return fractional_pool_back(g[0], indices, input_meta.shape[-len(size):], kernel), [None] * len(size)


def _ref_fractional(x: Any, size: Ints, kernel: Ints, starts: Any) -> Any:
    r = len(size)
    lead, n = x.shape[: x.ndim - r], x.shape[x.ndim - r:]
    starts = [np.broadcast_to(s, (*lead, *size)) for s in starts]
    values, indices = np.zeros((*lead, *size), x.dtype), np.zeros((*lead, *size), np.int64)
    for at in np.ndindex(*lead, *size):
        window = tuple(slice(s[at], s[at] + k) for s, k in zip(starts, kernel, strict=True))
        seen = x[at[: len(lead)]][window]
        best = np.unravel_index(seen.argmax(), seen.shape)
        values[at] = seen[best]
        indices[at] = np.ravel_multi_index(tuple(int(s[at] + b) for s, b in zip(starts, best, strict=True)), n)
    return values, indices


#: (input, size, kernel, where windows start); the steps are those of fractional pooling
CASES = [((2, 3, 9), (4,), (3,), ((0, 1, 4, 6),)), ((2, 6, 7), (4, 3), (3, 2), ((0, 1, 2, 3), (0, 2, 5))), ((2, 5, 4, 4), (1, 3, 2), (3, 2, 2), ((2,), (0, 1, 2), (0, 2)))]


def _lists(starts: Any) -> Any:
    """Starts as tensors, each along its own axis."""
    r = len(starts)
    return tuple(factories.tensor(list(s)).reshape([-1 if i == q else 1 for i in range(r)]) for q, s in enumerate(starts))


fractional_pool = row("_fractional_pool(Tensor input, int[] size, int[] kernel, Tensor[] starts) -> (Tensor values, Tensor indices)", POOL, _fractional,
                      _fractional_vjp, dtypes="if", ref=_ref_fractional, samples=lambda t: [(t(x), size, kernel, _lists(at)) for x, size, kernel, at in CASES],
                      public="fractional_max_pool", doc="The largest element of each listed window, and its row-major place.")
fractional_pool_back = row("_fractional_pool_back(Tensor grad, Tensor indices, int[] size, int[] kernel) -> Tensor", POOL,
                           lambda g, indices, size, kernel: Pooling("max", True, (g, indices), size, kernel, listed=True),
                           lambda g, indices, size: (pick(g, indices, len(size)), None), dtypes="f", ref=_ref_max_back, ulp=8.0, samples=lambda t: [
                               (t((*x[: len(x) - len(size)], *size)), _indices(x, size, kernel, at), x[len(x) - len(size):], kernel) for x, size, kernel, at in CASES],
                           doc="Gradient of _fractional_pool: the cotangents of the windows whose maximum an element is.")


def _indices(x: Ints, size: Ints, kernel: Ints, at: Any) -> Tensor:
    """Places that a forward call gave: those of windows that do cover them."""
    values = (np.arange(math.prod(x)) * 7 % 11).reshape(x)
    r = len(size)
    listed = [np.array(s).reshape([-1 if i == q else 1 for i in range(r)]) for q, s in enumerate(at)]
    return factories.tensor(_ref_fractional(values, size, kernel, listed)[1].tolist())


def _pool(rank: int) -> Any:
    name = f"fractional_max_pool{rank}d"

    def pool(x: Tensor, kernel_size: Any, output_size: Any, samples: Tensor) -> Any:
        kernel, size = spread(name, "kernel_size", kernel_size, rank), spread(name, "output_size", output_size, rank)
        shape = x._shape
        if len(shape) not in (rank + 1, rank + 2) or 0 in shape[len(shape) == rank + 2:]:
            raise RuntimeError(f"{name}(): Expected {rank + 1}D or {rank + 2}D input with non-zero size for non-batch dimensions, but got {list(shape)}")
        for n, k, o in zip(shape[-rank:], kernel, size, strict=True):
            if k < 1 or o < 0 or o + k - (rank == 2) > n:
                raise RuntimeError(f"{name}(): pool size {k} too large relative to input size {n}, for {o} windows")
        lead = shape[:-rank] if len(shape) == rank + 2 else (1, *shape[:-rank])
        if samples.dtype is not x.dtype:
            raise DTypeError("Expect _random_samples to have the same dtype as input")
        if len(samples._shape) != 3 or samples._shape[0] < lead[0] or samples._shape[1:] != (lead[1], rank):
            raise RuntimeError(f"{name}: argument '_random_samples' must be of shape {[*lead, rank]}; got {list(samples._shape)}")
        samples = samples.detach()[: lead[0]].reshape(*shape[:-rank], rank)
        starts = []
        for q, (n, k, o) in enumerate(zip(shape[-rank:], kernel, size, strict=True)):
            at = factories.arange(o, dtype=samples.dtype, device=x.device)
            phase = samples.select(-1, rank - 1 - q if rank == 2 else q)  # PyTorch draws the width first in two dimensions, the depth first in three
            found = window_starts(phase.unsqueeze(-1), at, (n - k) / max(o - 1, 1), o - 1, n - k)
            starts.append(found.reshape(*shape[:-rank], *(o if i == q else 1 for i in range(rank))))
        return tuple(fractional_pool(x, size, kernel, tuple(starts)))
    return pool


def _ref_pool(rank: int) -> Any:
    def ref(x: Any, kernel: Any, size: Any, samples: Any) -> Any:
        starts = []
        for q, (n, k, o) in enumerate(zip(x.shape[-rank:], kernel, size, strict=True)):
            u = samples[..., rank - 1 - q if rank == 2 else q].reshape(*x.shape[:-rank], *(1,) * rank)
            alpha = (n - k) / (o - 1) if o > 1 else 0
            steps = [n - k if i == o - 1 else np.floor((i + u) * alpha) - np.floor(u * alpha) + 0 * u for i in range(o)]
            starts.append(np.concatenate([np.broadcast_to(s, u.shape) for s in steps], x.ndim - rank + q).astype(np.int64))
        return _ref_fractional(x, size, kernel, starts)
    return ref


FRACTIONAL = {r: composite(
    f"_fractional_max_pool{r}d(Tensor input, int[{r}] kernel_size, int[{r}] output_size, Tensor random_samples) -> (Tensor output, Tensor indices)",
    ref=_ref_pool(r), dtypes="f", samples=lambda t, r=r: [(t((2, 3, *(9, 7, 8)[:r])), (2, 3, 2)[:r], (5, 4, 3)[:r], t((2, 3, r), 0.05, 0.95))],
    doc=f"The largest element of each {r}-d window, windows lying at pseudo-random steps.")(_pool(r)) for r in (2, 3)}


def _ref_unpool(x: Any, indices: Any, size: Any) -> Any:
    r = len(size)
    lead = x.shape[: x.ndim - r]
    out = np.zeros((*lead, math.prod(size)), x.dtype)
    for at in np.ndindex(*x.shape):
        out[(*at[: len(lead)], indices[at])] = x[at]
    return out.reshape(*lead, *size)


@composite("_max_unpool(Tensor input, Tensor indices, int[] size) -> Tensor", ref=_ref_unpool, dtypes="if", doc="Zeros with the input's elements at their places.",
           samples=lambda t: [(t((2, 3)), factories.tensor([[4, 0, 2], [1, 5, 3]]), (6,)), (t((1, 2, 2)), factories.tensor([[[5, 7], [13, 15]]]), (4, 4))])
def max_unpool(x: Tensor, indices: Tensor, size: Any) -> Tensor:
    r, shape = len(size), x._shape
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(f"max_unpool{r}d: elements in indices should be type int64 but got: {indices.dtype.name}")
    if len(shape) not in (r + 1, r + 2):
        raise RuntimeError(f"max_unpool{r}d: Input should be a {r + 1}d or {r + 2}d Tensor, but got a tensor with {len(shape)} dimensions.")
    if indices._shape != shape:
        raise RuntimeError(f"max_unpool{r}d: Expected shape of indices to be same as that of the input tensor ({list(shape)}) but got indices tensor with shape: "
                           f"{list(indices._shape)}")
    if 0 in shape[len(shape) == r + 2:]:
        raise RuntimeError(f"max_unpool{r}d: Expected input to have non-zero size for non-batch dimensions, but got {list(shape)}")
    lead, places = shape[:-r], math.prod(shape[-r:])
    out = factories.zeros((*lead, math.prod(size)), dtype=x.dtype, device=x.device)
    return out.scatter(-1, indices.reshape(*lead, places), x.reshape(*lead, places)).reshape(*lead, *size)


__all__ = ["FRACTIONAL", "fractional_pool", "fractional_pool_back", "max_unpool", "window_starts"]
