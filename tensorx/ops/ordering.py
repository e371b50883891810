"""SCAN, SORT and DYNAMIC rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import DTypeError
from tensorx.ops.families import composite, row
from tensorx.ops.kinds.dynamic import DYNAMIC
from tensorx.ops.kinds.scan import SCAN
from tensorx.ops.kinds.sort import SORT
from tensorx.ops.table import NONDIFF, TO_LONG
from tensorx.tensor import Tensor, normalize_dim


def _reverse_cumsum(x: Tensor, dim: int) -> Tensor:
    return x.flip(dim).cumsum(dim).flip(dim)


def _cumprod_vjp(g: Tensor, self: Tensor, out: Tensor, dim: int) -> Tensor:
    """sum over i >= k of g_i * (product of x_j, j <= i, j != k). Without zeros that is reverse_cumsum(g * out) / x; with zeros the products are formed."""
    from tensorx.autograd.modes import state
    from tensorx.ops import factories
    if not self._shape:
        return g
    if not state.grad and not bool((self == 0).any().item()):
        return _reverse_cumsum((g * out.conj()), dim) / self.conj()
    d = normalize_dim(dim, len(self._shape))
    n = self._shape[d]
    x = self.movedim(d, -1).unsqueeze(-2)
    k = factories.arange(n, device=self.device)
    without = x.expand(*x._shape[:-2], n, n).masked_fill(k.unsqueeze(1) == k, 1).cumprod(-1)
    later = (k.unsqueeze(1) <= k).to(g.dtype)
    return (g.movedim(d, -1).unsqueeze(-2) * without.conj() * later).sum(-1).movedim(-1, d)


def _scattered(g: tuple[Tensor, ...], self_meta: Any, indices: Tensor, dim: int) -> Tensor:
    from tensorx.ops import factories
    whole = factories.zeros(self_meta.shape, dtype=g[0].dtype, device=g[0].device)
    return whole.scatter_add(dim, indices, g[0]) if self_meta.shape else g[0]


def _np_extreme(accumulate: Any) -> Any:
    def ref(x: Any, dim: int) -> Any:
        values = accumulate(x, axis=dim)
        place = np.arange(x.shape[dim]).reshape([-1 if i == dim % x.ndim else 1 for i in range(x.ndim)])
        return values, np.maximum.accumulate(np.where(x == values, place, 0), axis=dim)
    return ref


def _np_sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    order = np.argsort(-(x * 1.0) if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, order, dim), order


def _logcumsumexp_vjp(g: Tensor, self: Tensor, out: Tensor, dim: int) -> Tensor:
    """sum over i >= k of g_i exp(x_k - out_i), in logarithms so that nothing overflows: the positive g_i and the negative ones apart."""
    def part(sign: int) -> Tensor:
        none = (g * sign <= 0) | (out == -math.inf)
        logs = (g * sign).masked_fill(none, 1).log() - out.masked_fill(out == -math.inf, 0)
        return (logcumsumexp(logs.masked_fill(none, -math.inf).flip(dim), dim).flip(dim) + self).exp()
    return part(1) - part(-1)


ROWS = {"samples": lambda t: [(t((3, 4)), 0), (t((2, 3, 4)), 1), (t((2, 3, 4)), -1)]}
cumsum = row("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", SCAN, "sum", lambda g, dim: _reverse_cumsum(g, dim), promote=TO_LONG,
             ref=lambda x, dim: np.cumsum(x, dim), doc="Running sum along dim.", **ROWS)
cumprod = row("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", SCAN, "prod", _cumprod_vjp, promote=TO_LONG,
              ref=lambda x, dim: np.cumprod(x, dim), doc="Running product along dim.", **ROWS)
logcumsumexp = row("logcumsumexp(Tensor self, int dim) -> Tensor", SCAN, "logsum", _logcumsumexp_vjp, ref=lambda x, dim: np.logaddexp.accumulate(x, dim),
                   dtypes="f", ulp=16.0, doc="log(cumsum(exp(self))) without overflow.", **ROWS)
cummax = row("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", SCAN, "max", _scattered, ref=_np_extreme(np.maximum.accumulate), dtypes="bif",
             doc="Running maximum along dim with its last index.", **ROWS)
cummin = row("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", SCAN, "min", _scattered, ref=_np_extreme(np.minimum.accumulate), dtypes="bif",
             doc="Running minimum along dim with its last index.", **ROWS)
sort = row("sort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> (Tensor values, Tensor indices)", SORT, None, _scattered,
           ref=_np_sort, dtypes="bif", samples=lambda t: [(t((3, 4)),), (t((2, 5, 3)), 1, True)], doc="Values along dim in stable order, and where they were.")
nonzero = row("nonzero(Tensor self) -> Tensor", DYNAMIC, None, NONDIFF, ref=np.argwhere, samples=lambda t: [(t.mask((3, 4)),), (t((2, 3, 2)),)],
              doc="The coordinates of nonzero elements, one row each.")


@composite("argsort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False) -> Tensor",
           ref=lambda *a, **k: _np_sort(*a, **k)[1], dtypes="bif", samples=lambda t: [(t((3, 4)),), (t((2, 5, 3)), 1, True)], doc="The order that sorts along dim.")
def argsort(x: Tensor, dim: int, descending: bool, stable: bool) -> Tensor:
    return sort(x, dim, descending)[1]


def _np_topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    values, order = _np_sort(x, dim, largest)
    return np.take(values, range(k), dim), np.take(order, range(k), dim)


def _leaders(rows: Tensor, k: int, largest: bool) -> Tensor:
    """Places of the k largest (smallest) values of the last dimension, in order.

    Where k is small, rows are cut into pieces: the k pieces whose extremes lead hold the k leaders, as every other element has k extremes
    before it. So one reduction reads all, and short rows are sorted. (In floats the smallest values cannot go this way: minima are NaN where
    there is a NaN, which counts as greatest.)
    """
    from tensorx.ops import factories, joining
    n = rows._shape[-1]
    if n < 1024 or n < 16 * k or not k or not rows.numel() or rows.dtype.kind == dtypes.BOOL or (not largest and rows.dtype.kind != dtypes.INT):
        return sort(rows, -1, largest)[1].narrow(-1, 0, k)  # type: ignore[no-any-return]
    width = 1 << max(int(math.log2(n / k)) // 2, 2)
    pieces = n // width
    head = rows.narrow(-1, 0, pieces * width).reshape((*rows._shape[:-1], pieces, width))
    chosen = sort(_leaders(head.amax(-1) if largest else head.amin(-1), k, largest), -1)[0]
    place = (chosen.unsqueeze(-1) * width + factories.arange(width, device=rows.device)).flatten(-2)
    if pieces * width < n:
        rest = factories.arange(pieces * width, n, device=rows.device)
        place = joining.cat((place, rest.expand((*rows._shape[:-1], rest._shape[0]))), -1)
    order = sort(rows.gather(-1, place), -1, largest)[1].narrow(-1, 0, k)
    return place.gather(-1, order)


@composite("topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)", ref=_np_topk, dtypes="if",
           samples=lambda t: [(t((3, 4)), 2), (t((5, 3)), 2, 0, False)], doc="The k largest (or smallest) values along dim, in order.")
def topk(x: Tensor, k: int, dim: int, largest: bool, sorted: bool) -> Any:
    if x.dtype.kind in (dtypes.BOOL, dtypes.COMPLEX):
        raise DTypeError(f"topk does not support {x.dtype.name} dtypes")
    n = x._shape[normalize_dim(dim, len(x._shape), "topk")] if x._shape else 1
    if not 0 <= k <= n:
        raise RuntimeError("selected index k out of range")
    if n < 1024 or not x._shape:
        values, indices = sort(x, dim, largest)
        return (values, indices) if not x._shape else (values.narrow(dim, 0, k), indices.narrow(dim, 0, k))
    indices = _leaders(x.detach().movedim(dim, -1), k, largest).movedim(-1, dim)
    return x.gather(dim, indices), indices


@composite("movedim(Tensor self, int[] source, int[] destination) -> Tensor", ref=np.moveaxis, samples=lambda t: [(t((2, 3, 4)), 0, 2), (t((2, 3, 4)), (0, 1), (2, 0))],
           doc="Dimensions moved to other places, the rest in order.")
def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    from tensorx.ops.viewing import normalize_dims
    n = len(x._shape)
    a, b = normalize_dims(source, n, "movedim"), normalize_dims(destination, n, "movedim")
    if len(a) != len(b):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number of dims as destination "
                           f"({list(destination)} dims)")
    order = [i for i in range(n) if i not in a]
    for dest, src in sorted(zip(b, a, strict=True)):
        order.insert(dest, src)
    return x.permute(*order) if n else x


@composite("masked_select(Tensor self, Tensor mask) -> Tensor", ref=lambda x, m: np.broadcast_to(x, np.broadcast_shapes(x.shape, m.shape))[
    np.broadcast_to(m, np.broadcast_shapes(x.shape, m.shape))], samples=lambda t: [(t((3, 4)), t.mask((3, 4))), (t((3, 1)), t.mask((4,)))], doc="The elements where mask is true, as a vector.")
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    from tensorx.ops.layout import broadcast_shapes
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_select: expected BoolTensor for mask; got {mask.dtype.name}")
    shape = broadcast_shapes("masked_select", x._shape, mask._shape)
    return x.expand(shape)[mask.expand(shape)]
