"""Distances between vectors: of pairs, of all rows of two matrices, and the cosine.

`_distance` reduces as it broadcasts, so a table of all distances needs no table of all differences; neither do its gradients, which `_distance_pull` forms in one
kernel each. Under create_graph the rules are ordinary ops, which can be differentiated again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx.autograd.modes import state
from tensorx.ops import expr as E
from tensorx.ops.families import composite, elementwise, row
from tensorx.ops.kinds.rows import REDUCE
from tensorx.ops.statistics import vector_norm
from tensorx.ops.table import NONDIFF
from tensorx.tensor import Tensor, normalize_dim


def _distance(a, b, p, norm, dim, keepdim):
    d = E.abs(a - b)
    if norm == "two":
        return E.sqrt(E.row_sum(d * d))
    return E.row_max(d) if norm == "inf" else E.pow(E.row_sum(E.pow(d, p)), 1 / p)


def _pull(d, out, p, norm):
    """The derivative of the distance ``out`` by an element of the difference ``d``: 0 where that or the distance is 0."""
    if norm == "one":
        return E.sign(d)
    if norm == "two":
        return E.where(E.eq(out, 0), 0.0, d / out)
    if norm == "inf":
        return E.where(E.eq(E.abs(d), out), E.sign(d), 0.0)
    return E.where(E.eq(d, 0) | E.eq(out, 0), 0.0, E.sign(d) * E.pow(E.abs(d) / out, p - 1))


def _pull_of_tensors(d: Tensor, out: Tensor, p: float, norm: str) -> Any:
    """The same as ordinary ops."""
    if norm == "one":
        return d.sign()
    if norm == "two":
        return d / out.masked_fill(out == 0, math.inf)
    if norm == "inf":
        return d.sign().masked_fill(d.abs() != out, 0)
    still = (d == 0) | (out == 0)
    return (d.sign() * (d.abs() / out).masked_fill(still, 1)**(p - 1)).masked_fill(still, 0)


def _hamming_vjp(g: Tensor, self_meta: Any, other_meta: Any, needs: Any) -> Any:
    return tuple(g.new_zeros(m.shape) if n else None for m, n in zip((self_meta, other_meta), needs, strict=True))


def _taxi_vjp(g: Tensor, self: Any, other: Any, dim: int, keepdim: bool, needs: Any) -> Any:
    g = g if keepdim else g.unsqueeze(dim)
    return _pulls(g, self, other, g, 1.0, "one", needs)


def _distance_vjp(g: Tensor, out: Any, self: Any, other: Any, p: float, norm: str, dim: int, keepdim: bool, needs: Any) -> Any:
    g, out = (t if keepdim else t.unsqueeze(dim) for t in (g, out))
    return _pulls(g, self, other, out, p, norm, needs)


def _pulls(g: Tensor, self: Tensor, other: Tensor, out: Tensor, p: float, norm: str, needs: Any) -> Any:
    if state.grad:
        slope = g * _pull_of_tensors(self - other, out, p, norm)
        return slope, -slope
    return tuple(_side(g, a, b, out, p, norm) if n else None for n, a, b in ((needs[0], self, other), (needs[1], other, self)))


def _side(g: Tensor, a: Tensor, b: Tensor, out: Tensor, p: float, norm: str) -> Tensor:
    """The gradient of ``a``: summed in the kernel over the dimensions along which it was broadcast."""
    from tensorx.ops.layout import broadcast_shapes
    shape = broadcast_shapes("distance", a._shape, b._shape)
    lead = len(shape) - len(a._shape)
    dims = tuple(i for i in range(len(shape)) if i < lead or (a._shape[i - lead] == 1 and shape[i] != 1))
    if not dims:
        dims = (0,)  # a row of one element
        return distance_pull(g.unsqueeze(0), a.unsqueeze(0), b.unsqueeze(0), out.unsqueeze(0), p, norm, dims, False)
    return distance_pull(g, a, b, out, p, norm, dims, True).reshape(a._shape)


def _np_distance(a, b, p, norm, dim=-1, keepdim=False):
    d = np.abs(a - b)
    return d.max(dim, keepdims=keepdim) if norm == "inf" else (d**p).sum(dim, keepdims=keepdim)**(1 / p)


def _np_name(p):
    return "inf" if np.isinf(p) else "p"


def _np_pull(g, a, b, out, p, norm, dim, keepdim):
    d = a - b
    slope = np.where(np.abs(d) == out, np.sign(d), 0) if norm == "inf" else np.sign(d) * (np.abs(d) / out)**(p - 1)
    return (g * slope).sum(dim, keepdims=keepdim)


distance = row("_distance(Tensor self, Tensor other, float p, str norm, int dim=-1, bool keepdim=False) -> Tensor", REDUCE, _distance, _distance_vjp, dtypes="f",
               ref=_np_distance, ulp=32.0, samples=lambda t: [
                   (t((3, 4)), t((3, 4)), 2.0, "two"), (t((2, 1, 4)), t((3, 4)), 2.0, "two", 1), (t((2, 4)), t((1, 4)), math.inf, "inf"),
                   (t((2, 1, 4)), t((3, 4)), 3.0, "p", -1, True)], public="pairwise_distance", doc="The norm of self - other along dim.")
taxi = row("_taxi_distance(Tensor self, Tensor other, int dim=-1, bool keepdim=False) -> Tensor", REDUCE, lambda a, b, *_: E.row_sum(E.abs(a - b)), _taxi_vjp, dtypes="f",
           ref=lambda a, b, dim=-1, keepdim=False: np.abs(a - b).sum(dim, keepdims=keepdim), ulp=16.0,
           samples=lambda t: [(t((2, 1, 4)), t((1, 3, 4))), (t((3, 4)), t((4,)), 0, True)], public="cdist", doc="The sum of abs(self - other) along dim.")
hamming = row("_hamming_distance(Tensor self, Tensor other, int dim=-1, bool keepdim=False) -> Tensor", REDUCE,
              lambda a, b, *_: E.row_sum(E.where(E.eq(a, b), E.const(0, a.dtype), 1)), _hamming_vjp, dtypes="f",
              ref=lambda a, b, dim=-1, keepdim=False: (a != b).sum(dim, keepdims=keepdim), samples=lambda t: [(t((2, 1, 4)), t((1, 3, 4)))],
              public="cdist", doc="The number of elements along dim in which self and other differ.")


def distances(a: Tensor, b: Tensor, p: float) -> Any:
    """The p-norm of ``a - b`` along the last dimension, for p >= 0."""
    if p == 0:
        return hamming(a, b)
    return taxi(a, b) if p == 1 else distance(a, b, p, "two" if p == 2 else "inf" if math.isinf(p) else "p")
distance_pull = row("_distance_pull(Tensor grad, Tensor self, Tensor other, Tensor out, float p, str norm, int[] dim, bool keepdim) -> Tensor", REDUCE,
                    lambda g, a, b, out, p, norm, dim, keepdim: E.row_sum(g * _pull(a - b, out, p, norm)), NONDIFF, ref=_np_pull, dtypes="f", ulp=64.0,
                    samples=lambda t: [(t((2, 3, 1)), t((2, 1, 4)), t((3, 4)), t((2, 3, 1), 4, 8), 2.0, "two", (1,), True),
                                       (t((2, 3, 1)), t((3, 4)), t((2, 1, 4)), t((2, 3, 1), 4, 8), 3.0, "p", (0,), True)],
                    doc="The gradient of _distance's first operand, summed along the dimensions in which it was broadcast.")


def _np_pairwise(a, b, p=2.0, eps=1e-6, keepdim=False):
    return _np_distance(a - b, -eps, p, _np_name(p), -1, keepdim)


gap = elementwise("_gap(Tensor self, Tensor other, float eps) -> Tensor", lambda a, b, eps: a - b + eps, lambda g, out, a, b, eps: (g, -g), dtypes="f",
                  ref=lambda a, b, eps: a - b + eps, ulp=8.0, samples=lambda t: [(t((3, 4)), t((4,)), 1e-6)], public="pairwise_distance", doc="self - other + eps.")


@composite("pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor", dtypes="f", ref=_np_pairwise, ulp=32.0,
           samples=lambda t: [(t((3, 4)), t((3, 4))), (t((3, 4)), t((4,)), 1.0, 1e-3, True), (t((2, 1, 4)), t((3, 4)), 3.0)],
           doc="The p-norm of x1 - x2 + eps over the last dimension.")
def pairwise_distance(a: Any, b: Any, p: float, eps: float, keepdim: bool) -> Any:
    return vector_norm(gap(a, b, eps), p, -1, keepdim)


MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@composite("cdist(Tensor x1, Tensor x2, float p=2.0, str? compute_mode=None) -> Tensor", dtypes="f", ulp=32.0,
           ref=lambda a, b, p=2.0, compute_mode=None: _np_distance(a[..., :, None, :], b[..., None, :, :], p, _np_name(p)),
           samples=lambda t: [(t((3, 4)), t((2, 4))), (t((2, 3, 4)), t((1, 2, 4)), 1.0), (t((3, 4)), t((2, 4)), math.inf), (t((3, 4)), t((2, 4)), 2.5)],
           doc="The distance of every row of x1 from every row of x2. Differences are formed in full; compute_mode is checked and changes nothing.")
def cdist(a: Tensor, b: Tensor, p: float, compute_mode: str | None) -> Any:
    if compute_mode is not None and compute_mode not in MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    if len(a._shape) < 2 or len(b._shape) < 2:
        raise RuntimeError(f"cdist only supports at least 2D tensors, got: {len(a._shape)}D and {len(b._shape)}D")
    if a._shape[-1] != b._shape[-1]:
        raise RuntimeError(f"cdist: X1 and X2 must have the same number of columns. X1: {a._shape[-1]} X2: {b._shape[-1]}")
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if not a._shape[-1]:
        return (a.unsqueeze(-2) - b.unsqueeze(-3)).sum(-1)  # points of no coordinates are all one
    return distances(a.unsqueeze(-2), b.unsqueeze(-3), p)


def _np_pdist(x, p=2.0):
    i, j = np.triu_indices(len(x), 1)
    return _np_distance(x[i], x[j], p, _np_name(p))


@composite("pdist(Tensor self, float p=2.0) -> Tensor", dtypes="f", ref=_np_pdist, ulp=32.0, samples=lambda t: [(t((4, 3)),), (t((3, 2)), 1.0)],
           doc="The distances of all pairs of different rows, (0, 1), (0, 2), ...")
def pdist(x: Tensor, p: float) -> Any:
    if len(x._shape) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {len(x._shape)}D")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    n = x._shape[0]
    if n < 2:
        return x.new_empty((0,)) + x.sum() * 0 if x.requires_grad else x.new_empty((0,))
    from tensorx.ops import factories
    rows, cols = np.triu_indices(n, 1)
    return cdist(x, x, p).reshape(-1).index_select(0, factories.tensor(rows * n + cols, device=x.device))


def _cosine(a, b, dim, eps):
    n1, n2 = E.sqrt(E.row_sum(a * a)), E.sqrt(E.row_sum(b * b))
    return E.row_sum(a * b) / (E.max(n1, eps) * E.max(n2, eps)), n1, n2


def _cosine_vjp(gs: Any, cos: Any, norm1: Any, norm2: Any, self: Any, other: Any, dim: int, eps: float, needs: Any) -> Any:
    """Norms that were raised to eps count as such in the product, and as themselves where they are differentiated, as in PyTorch."""
    shape = _broadcast(self, other)
    d = normalize_dim(dim, len(shape), "cosine_similarity")
    g, g1, g2 = (None if x is None else x.unsqueeze(d) for x in gs)
    cos, n1, n2 = (x.unsqueeze(d) for x in (cos, norm1, norm2))

    def side(x: Any, y: Any, nx: Any, ny: Any, own: Any) -> Any:
        unit = x / nx.masked_fill(nx == 0, math.inf)
        mx, my = nx.clamp(min=eps), ny.clamp(min=eps)
        parts = ([] if g is None else [g * (y / (mx * my) - unit * (cos / mx))]) + ([] if own is None else [own * unit])
        return parts[0] + parts[1] if len(parts) > 1 else parts[0] if parts else None
    return side(self, other, n1, n2, g1) if needs[0] else None, side(other, self, n2, n1, g2) if needs[1] else None


def _broadcast(a: Tensor, b: Tensor) -> tuple[int, ...]:
    from tensorx.ops.layout import broadcast_shapes
    return broadcast_shapes("cosine_similarity", a._shape, b._shape)


def _np_cosine(a, b, dim=1, eps=1e-8):
    n1, n2 = (np.sqrt((x * x + 0 * (a + b)).sum(dim)) for x in (a, b))
    return (a * b).sum(dim) / (np.maximum(n1, eps) * np.maximum(n2, eps)), n1, n2


cosine = row("_cosine(Tensor self, Tensor other, int dim, float eps) -> (Tensor cos, Tensor norm1, Tensor norm2)", REDUCE, _cosine, _cosine_vjp, dtypes="f",
             ref=_np_cosine, ulp=16.0, samples=lambda t: [(t((3, 4)), t((3, 4)), 1, 1e-8), (t((2, 1, 4)), t((3, 4)), -1, 1e-8), (t((3, 4)), t((3, 4)), 0, 1.5)],
             public="cosine_similarity", doc="The cosine of the angle between vectors along dim, and their norms.")


@composite("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", dtypes="f", ref=lambda *a, **k: _np_cosine(*a, **k)[0], ulp=16.0,
           samples=lambda t: [(t((3, 4)), t((3, 4))), (t((2, 1, 4)), t((3, 4)), -1), (t((3, 4)), t((3, 4)), 0, 1.5)],
           doc="The cosine of the angle between vectors along dim; norms are kept from falling below eps.")
def cosine_similarity(a: Any, b: Any, dim: int, eps: float) -> Any:
    return cosine(a, b, dim, eps)[0]


__all__ = ["cdist", "cosine_similarity", "distance", "pairwise_distance", "pdist"]
