"""Reductions and row-wise normalisations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx.ops import expr as E
from tensorx.ops.families import row
from tensorx.ops.kinds.rows import REDUCE, ROWWISE
from tensorx.ops.table import NONDIFF, TO_FLOAT, TO_LONG, Op
from tensorx.tensor import Tensor, normalize_dim


def restore(g: Tensor, meta: Any, dim: Any, keepdim: bool) -> Tensor:
    """A row result's cotangent, read along the rows again (a view)."""
    n = len(meta.shape)
    if not keepdim and n:
        dims = range(n) if dim is None or dim == () else sorted(normalize_dim(d, n) for d in ((dim,) if isinstance(dim, int) else dim))
        for d in dims:
            g = g.unsqueeze(d)
    return g.expand(meta.shape)


def _count(meta: Any, dim: Any) -> int:
    n = len(meta.shape)
    dims = range(n) if dim is None or dim == () else ((dim,) if isinstance(dim, int) else dim)
    return math.prod(meta.shape[d] for d in dims) if n else 1


def _dims(t: Any) -> list[Any]:
    """Calls with every usual combination of dim and keepdim."""
    return [(t((3, 4)),), (t((3, 4)), 0), (t((2, 3, 4)), 1, True), (t((2, 3, 4)), (0, 2)), (t((2, 3, 4)), -1)]


def _one_dim(t: Any) -> list[Any]:
    return [(t((3, 4)), 0), (t((2, 3, 4)), 1, True), (t((2, 3, 4)), -1)]


def reduce(schema: str, body: Any, vjp: Any = NONDIFF, **fields: Any) -> Op:
    """A REDUCE row."""
    return row(schema, REDUCE, body, vjp, **{"samples": _dims, **fields})


def np_dims(f: Any) -> Any:
    """A NumPy reduction with PyTorch's argument names."""
    return lambda x, dim=None, keepdim=False, **kw: f(x, axis=dim if dim != () else None, keepdims=keepdim)


sum = reduce("sum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", lambda x, *_: E.row_sum(x),
             lambda g, self_meta, dim, keepdim: restore(g, self_meta, dim, keepdim), promote=TO_LONG, ref=np_dims(np.sum), doc="Sum of elements.")
mean = reduce("mean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
              lambda x, *_: E.row_sum(x) / E.count(x.dtype), lambda g, self_meta, dim, keepdim: restore(g / _count(self_meta, dim), self_meta, dim, keepdim),
              ref=np_dims(np.mean), dtypes="fc", doc="Mean of elements.")


def _prod_vjp(g: Tensor, self: Tensor, self_meta: Any, dim: Any, keepdim: bool) -> Tensor:
    """Each element's cotangent is the product of all others: exclusive products from both ends, right for any number of zeros."""
    from tensorx.ops import factories, joining
    x, d = (self.reshape(-1), 0) if dim is None else (self, normalize_dim(dim, len(self._shape)))
    if not self._shape:
        return g
    one = factories.ones(tuple(1 if i == d else n for i, n in enumerate(x._shape)), dtype=x.dtype, device=x.device)
    n = x._shape[d]
    left = joining.cat((one, x.narrow(d, 0, builtin_max(n - 1, 0))), d).narrow(d, 0, n).cumprod(d)
    right = joining.cat((one, x.flip(d).narrow(d, 0, builtin_max(n - 1, 0))), d).narrow(d, 0, n).cumprod(d).flip(d)
    return restore(g, self_meta, dim, keepdim) * (left * right).conj().reshape(self_meta.shape)


prod = reduce("prod(Tensor self, int? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", lambda x, *_: E.row_prod(x), _prod_vjp,
              promote=TO_LONG, ref=np_dims(np.prod), samples=lambda t: [(t((3, 4)),), *_one_dim(t)], doc="Product of elements.")


def _extreme_vjp(g: Tensor, self: Tensor, out: Tensor, self_meta: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Ties share the cotangent equally."""
    best = restore(out, self_meta, dim, keepdim)
    hit = self == best
    if self.dtype.is_floating_point:
        hit = hit | (self.isnan() & best.isnan())
    share = hit.sum(dim if dim is not None else (), keepdim)
    return restore(g / share, self_meta, dim, keepdim).masked_fill(~hit, 0)


amax = reduce("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", lambda x, *_: E.row_max(x), _extreme_vjp, ref=np_dims(np.max),
              dtypes="bif", doc="Largest value; NaN if there is one.")
amin = reduce("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", lambda x, *_: E.row_min(x), _extreme_vjp, ref=np_dims(np.min),
              dtypes="bif", doc="Smallest value; NaN if there is one.")
ALL = {"samples": lambda t: [(t((3, 4)),), (t(()),)]}
max = reduce("max(Tensor self) -> Tensor", lambda x: E.row_max(x), lambda g, self, out, self_meta: _extreme_vjp(g, self, out, self_meta), ref=np.max,
             dtypes="bif", doc="Largest value; NaN if there is one.", **ALL)
min = reduce("min(Tensor self) -> Tensor", lambda x: E.row_min(x), lambda g, self, out, self_meta: _extreme_vjp(g, self, out, self_meta), ref=np.min,
             dtypes="bif", doc="Smallest value; NaN if there is one.", **ALL)


def _picked(g: tuple[Tensor, ...], indices: Tensor, self_meta: Any, dim: int, keepdim: bool) -> Tensor:
    """The cotangent of values goes to the elements at ``indices``: a selection, not a scatter, so it is deterministic."""
    from tensorx.ops import factories
    n = len(self_meta.shape)
    if not n:
        return g[0]
    d = normalize_dim(dim, n)
    place = factories.arange(self_meta.shape[d], device=g[0].device).view(*(-1 if i == d else 1 for i in range(n)))
    hit = restore(indices, self_meta, dim, keepdim) == place
    return restore(g[0], self_meta, dim, keepdim).masked_fill(~hit, 0)


def _np_extreme(value: Any, index: Any) -> Any:
    def ref(x, dim, keepdim=False):
        return value(x, axis=dim, keepdims=keepdim), index(x, axis=dim, keepdims=keepdim)
    return ref


max_dim = reduce("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", lambda x, *_: (E.row_max(x), E.row_argmax(x)),
                 _picked, ref=_np_extreme(np.max, np.argmax), dtypes="bif", samples=_one_dim, doc="Largest value of each row and its first index.")
min_dim = reduce("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", lambda x, *_: (E.row_min(x), E.row_argmin(x)),
                 _picked, ref=_np_extreme(np.min, np.argmin), dtypes="bif", samples=_one_dim, doc="Smallest value of each row and its first index.")
argmax = reduce("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", lambda x, *_: E.row_argmax(x), ref=np_dims(np.argmax), dtypes="if",
                samples=lambda t: [(t((3, 4)),), *_one_dim(t)], doc="Index of the first largest value; NaN counts as largest.")
argmin = reduce("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", lambda x, *_: E.row_argmin(x), ref=np_dims(np.argmin), dtypes="if",
                samples=lambda t: [(t((3, 4)),), *_one_dim(t)], doc="Index of the first smallest value; NaN counts as smallest.")


def _truth(found, x):
    """bool; uint8 for uint8, as PyTorch keeps it from the days when that was its mask dtype."""
    return E.cast(found, x.dtype) if x.dtype.code == "u8" else found


any = reduce("any(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor", lambda x, *_: _truth(E.row_any(E.ne(x, 0)), x), ref=np_dims(np.any), doc="Whether any element is nonzero.")
all = reduce("all(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor", lambda x, *_: _truth(E.row_all(E.ne(x, 0)), x), ref=np_dims(np.all), doc="Whether all elements are nonzero.")
all_finite = reduce("_all_finite(Tensor self) -> Tensor", lambda x: E.row_all(E.isfinite(x)), ref=lambda x: np.isfinite(x).all(), dtypes="f",
                    samples=lambda t: [(t((3, 4)),), (t(()),)], special=(math.inf, math.nan), doc="Whether all elements are finite: what scaled gradients are checked for.")


def _var(x, dim, correction, keepdim):
    """Two passes: the mean, then the squared deviations from it (Chan, Golub, LeVeque 1983).

    Shifted by an element of the row first, so that equal elements have exactly no variance.
    """
    n = E.count(x.dtype)
    x = x - E.row_max(x)
    d = x - E.row_sum(x) / n
    return E.row_sum(d * d) / E.max(n - (1 if correction is None else correction), 0)


def np_var(x, dim=None, correction=1, keepdim=False):
    """np.var of values shifted by one of their row, so that equal ones have exactly no variance."""
    shifted = x - x.max(dim, keepdims=True) if x.size else x
    return np.var(shifted, axis=dim, ddof=correction, keepdims=keepdim)


def _var_vjp(g: Tensor, self: Tensor, self_meta: Any, dim: Any, correction: Any, keepdim: bool) -> Tensor:
    free = builtin_max(_count(self_meta, dim) - (1 if correction is None else correction), 0)
    centred = self - self.mean(dim if dim is not None else (), True)
    return restore(g, self_meta, dim, keepdim) * centred * (2.0 / free if free else math.inf)


builtin_max = __builtins__["max"] if isinstance(__builtins__, dict) else __builtins__.max
var = reduce("var(Tensor self, int[1]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> Tensor", _var, _var_vjp, dtypes="f",
             ref=lambda *a, **k: np_var(*a, **k),
             samples=lambda t: [(t((3, 4)),), (t((3, 4)), 0), (t((2, 3, 4)), (0, 2), {"correction": 0, "keepdim": True})],
             doc="Variance with Bessel's correction (or another one).")


def _logsumexp(x, dim, keepdim):
    top = E.row_max(x)
    shift = E.where(E.isinf(top), 0.0, top)
    return E.log(E.row_sum(E.exp(x - shift))) + shift


def _logsumexp_vjp(g: Tensor, self: Tensor, out: Tensor, self_meta: Any, dim: Any, keepdim: bool) -> Tensor:
    """The softmax; rows of -inf alone have no gradient."""
    total = restore(out, self_meta, dim, keepdim)
    return restore(g, self_meta, dim, keepdim) * (self - total).masked_fill(total == -math.inf, -math.inf).exp()


logsumexp = reduce("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", _logsumexp, _logsumexp_vjp, promote=TO_FLOAT, dtypes="bif",
                   ref=lambda x, dim, keepdim=False: np.log(np.exp(x).sum(dim, keepdims=keepdim)),
                   samples=lambda t: [(t((3, 4)), 0), (t((2, 3, 4)), (0, 2), True)], doc="log(sum(exp(self))) without overflow.")


def _softmax(x, dim, dtype):
    e = E.exp(x - E.row_max(x))
    return e / E.row_sum(e)


def _log_softmax(x, dim, dtype):
    d = x - E.row_max(x)
    return d - E.log(E.row_sum(E.exp(d)))


softmax = row("softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", ROWWISE, _softmax,
              lambda g, out, dim: softmax_backward(g, out, dim), dtypes="f",
              ref=lambda x, dim: np.exp(x) / np.exp(x).sum(dim, keepdims=True), samples=lambda t: [(t((3, 4)), 0), (t((2, 3, 4)), -1), (t((2, 3, 4)), 1)],
              doc="exp(self) normalised to sum 1 along dim.")
log_softmax = row("log_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", ROWWISE, _log_softmax,
                  lambda g, out, dim: log_softmax_backward(g, out, dim), dtypes="f",
                  ref=lambda x, dim: x - np.log(np.exp(x).sum(dim, keepdims=True)), samples=lambda t: [(t((3, 4)), 0), (t((2, 3, 4)), -1)],
                  doc="log(softmax(self)) without loss of precision.")


softmax_backward = row("_softmax_backward(Tensor grad, Tensor output, int dim) -> Tensor", ROWWISE,
                       lambda grad, out, dim: out * (grad - E.row_sum(grad * out)),
                       lambda g, grad, output, dim: (softmax_backward(g, output, dim), g * (grad - (grad * output).sum(dim, True)) -
                                                     grad * (g * output).sum(dim, True)),
                       ref=lambda g, out, dim: out * (g - (g * out).sum(dim, keepdims=True)), dtypes="f",
                       samples=lambda t: [(t((3, 4)), t((3, 4)), -1)], doc="The gradient of softmax, as one row kernel.")
log_softmax_backward = row("_log_softmax_backward(Tensor grad, Tensor output, int dim) -> Tensor", ROWWISE,
                           lambda grad, out, dim: grad - E.exp(out) * E.row_sum(grad),
                           lambda g, grad, output, dim: (g - (g * output.exp()).sum(dim, True), -(g * output.exp() * grad.sum(dim, True))),
                           ref=lambda g, out, dim: g - np.exp(out) * g.sum(dim, keepdims=True), dtypes="f",
                           samples=lambda t: [(t((3, 4)), t((3, 4)), -1)], doc="The gradient of log_softmax, as one row kernel.")


def sum_to(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    """``g`` summed over the axes along which ``shape`` was broadcast."""
    lead = len(g._shape) - len(shape)
    dims = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 and g._shape[i + lead] != 1)
    if dims:
        g = g.sum(dims, True)
    return g.view(shape) if g._shape != shape else g
