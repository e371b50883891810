"""Householder reflectors as LAPACK keeps them, symmetric indefinite factors, and what needs no LAPACK: cross products, Vandermonde matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.dtypes import FLOAT, bool_, float32
from tensorx.errors import DTypeError, ShapeError
from tensorx.ops.families import composite, elementwise
from tensorx.ops.joining import cat
from tensorx.ops.layout import broadcast_shapes
from tensorx.ops.linalg import Array, check_matrix, check_square, each, host, lapack, mh, raise_bad, symmetric
from tensorx.tensor import Tensor, normalize_dim


def _reflector(a: Tensor, i: int) -> Tensor:
    """Column ``i`` below its diagonal, with 1 on it: [..., m, 1]."""
    below = a.narrow(-1, i, 1).narrow(-2, i + 1, a._shape[-2] - i - 1)
    shape = (*a._shape[:-2], i, 1)
    return cat((a.new_zeros(shape), a.new_ones((*a._shape[:-2], 1, 1)), below), -2)  # type: ignore[no-any-return]


def _applied(a: Tensor, tau: Tensor, c: Any, left: bool, adjoint: bool) -> Any:
    """Q or its adjoint applied to ``c``, one reflector I - tau v v^H after the other."""
    k = tau._shape[-1]
    order = range(k) if left == adjoint else range(k - 1, -1, -1)
    for i in order:
        v = _reflector(a, i)
        t = tau.narrow(-1, i, 1).unsqueeze(-1)
        t = t.conj() if adjoint and t.dtype.is_complex else t
        c = c - (t * v) @ (mh(v) @ c) if left else c - (c @ v) @ (t * mh(v))
    return c


def _np_q(a: Any, tau: Any) -> Any:
    m = a.shape[-2]
    q = np.broadcast_to(np.eye(m, dtype=a.dtype), (*a.shape[:-2], m, m))
    for i in range(tau.shape[-1]):
        v = np.concatenate([np.zeros((*a.shape[:-2], i), a.dtype), np.ones((*a.shape[:-2], 1), a.dtype), a[..., i + 1:, i]], -1)[..., None]
        q = q @ (np.eye(m) - tau[..., i, None, None] * v * np.conj(np.swapaxes(v, -1, -2)))
    return q


@composite("linalg_householder_product(Tensor A, Tensor tau) -> Tensor", dtypes="fc", ulp=64.0, ref=lambda a, tau: _np_q(a, tau)[..., : a.shape[-1]],
           samples=lambda t: [(t((2, 4, 3)), t((2, 3))), (t((4, 3)), t((2,)))], doc="The first columns of the product of reflectors, such as geqrf gives.")
def householder_product(a: Tensor, tau: Tensor) -> Any:
    check_matrix("torch.linalg.householder_product", a)
    m, n = a._shape[-2:]
    if m < n:
        raise ShapeError("torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if tau._shape[-1:] > (n,):
        raise ShapeError("torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    start = a.new_tensor(np.eye(m, n).astype(a.dtype.np)).expand(a._shape) + a.masked_fill(a.new_ones((), dtype=bool_), 0)
    return _applied(a, tau, start, True, False)


orgqr = composite("orgqr(Tensor self, Tensor input2) -> Tensor", dtypes="fc", ulp=64.0, ref=lambda a, tau: _np_q(a, tau)[..., : a.shape[-1]],
                  samples=lambda t: [(t((2, 4, 3)), t((2, 3)))], doc="Another name of linalg.householder_product.")(lambda a, tau: householder_product(a, tau))


def _np_ormqr(a: Any, tau: Any, c: Any, left: bool = True, transpose: bool = False) -> Any:
    q = _np_q(a, tau)
    q = np.conj(np.swapaxes(q, -1, -2)) if transpose else q
    return q @ c if left else c @ q


@composite("ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor", dtypes="fc", ulp=64.0, ref=_np_ormqr,
           samples=lambda t: [(t((2, 4, 3)), t((2, 3)), t((2, 4, 2))), (t((4, 3)), t((3,)), t((2, 4)), False, True)],
           doc="A product of reflectors, such as geqrf gives, times input3 or input3 times it.")
def ormqr(a: Tensor, tau: Tensor, c: Tensor, left: bool, transpose: bool) -> Any:
    check_matrix("torch.ormqr", a)
    if a._shape[-2] != c._shape[-2 if left else -1]:
        raise ShapeError(f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2]; got {c._shape} and {a._shape}")
    return _applied(a, tau, c, left, transpose)


# symmetric indefinite factors


def _sytrf(hermitian: bool) -> Any:
    def run(a: Array) -> tuple[Array, Array, Array]:
        if not a.size:
            return a.copy(), np.zeros(0, np.int32), np.array(0, np.int32)
        ld, pivots, info = lapack("hetrf" if hermitian and a.dtype.kind == "c" else "sytrf", a)(a, lower=1)
        return np.tril(ld), np.asarray(pivots, np.int32), np.array(info, np.int32)
    return run


def _ldl(a: Array, hermitian: bool, check_errors: bool) -> Any:
    check_square("torch.linalg.ldl_factor_ex", a)
    ld, pivots, info = each(_sytrf(hermitian), a)
    if check_errors:
        raise_bad("torch.linalg.ldl_factor_ex", info, lambda i: f"The factorization could not be completed because the diagonal block {i} is singular.")
    return ld, pivots, info


ldl_factor_ex = host("linalg_ldl_factor_ex(Tensor A, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)", _ldl,
                     ref=lambda a, hermitian=False, check_errors=False: _ldl(a, hermitian, check_errors), samples=lambda t: [(symmetric(t),)],
                     doc="A = L D L^T of symmetric (or Hermitian) matrices, in one matrix, with the interchanges; info is positive for a singular D.")
ldl_factor = composite("linalg_ldl_factor(Tensor A, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)", dtypes="fc", ulp=64.0,
                       ref=lambda a, hermitian=False: _ldl(a, hermitian, True)[:2], samples=lambda t: [(symmetric(t),)],
                       doc="A = L D L^T of symmetric (or Hermitian) matrices.")(lambda a, hermitian: tuple(ldl_factor_ex(a, hermitian=hermitian, check_errors=True))[:2])


def _substitute(ld: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    """Forward through L and D with their interchanges, and back (what LAPACK's sytrs does)."""
    other = np.conj if hermitian else np.asarray
    b, n, k = b.copy(), ld.shape[0], 0
    while k < n:
        step = 1 if pivots[k] > 0 else 2
        last, swap = k + step - 1, abs(int(pivots[k])) - 1
        b[[last, swap]] = b[[swap, last]]
        b[k + step:] -= ld[k + step:, k:k + step] @ b[k:k + step]
        block = np.tril(ld[k:k + step, k:k + step])
        block = block + other(np.tril(block, -1).T)
        b[k:k + step] = np.linalg.solve(block, b[k:k + step])
        k += step
    while k > 0:
        step = 1 if pivots[k - 1] > 0 else 2
        last, swap = k - 1, abs(int(pivots[k - 1])) - 1
        b[k - step:k] -= other(ld[k:, k - step:k].T) @ b[k:]
        b[[last, swap]] = b[[swap, last]]
        k -= step
    return b


def _ldl_solve(ld: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    check_square("torch.linalg.ldl_solve", ld)
    batch, pivots = np.broadcast_shapes(ld.shape[:-2], b.shape[:-2]), pivots.astype(np.int32)
    if pivots.size and not (abs(pivots).min() >= 1 and abs(pivots).max() <= ld.shape[-1]):
        raise RuntimeError(f"linalg.ldl_solve: argument 'pivots' must hold interchanges in [1, {ld.shape[-1]}]; got {pivots.min()} to {pivots.max()}")
    ready = (np.broadcast_to(ld, (*batch, *ld.shape[-2:])), np.broadcast_to(pivots, (*batch, pivots.shape[-1])), np.broadcast_to(b, (*batch, *b.shape[-2:])))
    return each(lambda m, p, r: (_substitute(m, p, r, hermitian),), *ready)[0]


def _ldl_factored(t: Any) -> Any:
    """For samples: what ldl_factor gives for matrices that need no interchange."""
    x = symmetric(t)
    ld, pivots, _ = ldl_factor_ex(x if x.dtype.kind >= FLOAT else x.to(float32))
    return ld.to(x.dtype), pivots


def real_of(t: Tensor) -> Any:
    """The real dtype of ``t``'s numbers: interchanges travel in it, since operands of a row are of one kind."""
    return t.dtype.real


def _np_ldl_solve(ld: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    """Without interchanges and 2 x 2 blocks."""
    assert (pivots == np.arange(1, ld.shape[-1] + 1)).all()
    low = np.tril(ld, -1) + np.eye(ld.shape[-1])
    diagonal = np.einsum("...ii->...i", ld)[..., None, :] * np.eye(ld.shape[-1])
    return np.linalg.solve(low @ diagonal @ np.swapaxes(low.conj() if hermitian else low, -1, -2), b)


ldl_solve = host("_ldl_solve(Tensor LD, Tensor pivots, Tensor B, bool hermitian) -> Tensor", _ldl_solve, ref=_np_ldl_solve, dtypes="fc", ulp=256.0,
                 samples=lambda t: [(ld, pivots.to(real_of(ld)), t((2, 3, 2)), False) for ld, pivots in [_ldl_factored(t)]],
                 doc="What linalg.ldl_solve computes.")
linalg_ldl_solve = composite("linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor", dtypes="fc", ulp=256.0,
                             samples=lambda t: [(*_ldl_factored(t), t((2, 3, 2)))], ref=lambda ld, pivots, b, hermitian=False: _np_ldl_solve(ld, pivots, b, hermitian),
                             doc="The solution X of A X = B, from what ldl_factor gives.")(lambda ld, p, b, hermitian: ldl_solve(ld, p.to(real_of(ld)), b, hermitian))


# vectors


cross_term = elementwise("_cross_term(Tensor a, Tensor b, Tensor c, Tensor d) -> Tensor", lambda a, b, c, d: a * b - c * d,
                         lambda g, out, a, b, c, d: (g * b.conj(), g * a.conj(), -(g * d.conj()), -(g * c.conj())), ref=lambda a, b, c, d: a * b - c * d, dtypes="ifc",
                         samples=lambda t: [tuple(t((3, 4)) for _ in range(4))], ulp=32.0, public="linalg_cross", doc="a * b - c * d.")


def _cross(name: str, a: Tensor, b: Tensor, dim: int) -> Any:
    if a.dim() != b.dim():
        raise RuntimeError(f"{name}: inputs must have the same number of dimensions.")
    dim = normalize_dim(dim, a.dim())
    if a._shape[dim] != 3 or b._shape[dim] != 3:
        raise RuntimeError(f"{name}: inputs dimension {dim} must have length 3. Got {a._shape[dim]} and {b._shape[dim]}")
    around = [cat((x, x.narrow(dim, 0, 2)), dim) for x in (a, b)]
    (a1, a2), (b1, b2) = ((x.narrow(dim, 1, 3), x.narrow(dim, 2, 3)) for x in around)
    return cross_term(a1, b2, a2, b1)


linalg_cross = composite("linalg_cross(Tensor input, Tensor other, *, int dim=-1) -> Tensor", dtypes="ifc", ulp=64.0, ref=lambda a, b, dim=-1: np.cross(a, b, axis=dim),
                         samples=lambda t: [(t((2, 3)), t((2, 3))), (t((3, 2)), t((3, 1)), {"dim": 0})],
                         doc="The cross product of vectors of three components along dim.")(lambda a, b, dim: _cross("linalg.cross", a, b, dim))


@composite("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", dtypes="ifc", ulp=64.0, ref=lambda a, b, dim=None: np.cross(a, b, axis=-1 if dim is None else dim),
           samples=lambda t: [(t((2, 3)), t((2, 3)))], doc="The cross product along dim, or along the first dimension of extent 3.")
def cross(a: Tensor, b: Tensor, dim: int | None) -> Any:
    if dim is None:
        shape = broadcast_shapes("cross", a._shape, b._shape)
        dim = next((i for i, n in enumerate(shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return _cross("linalg.cross", a, b, dim)


linalg_vecdot = composite("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", dtypes="fc", ulp=32.0, ref=lambda x, y, dim=-1: (np.conj(x) * y).sum(dim),
                          samples=lambda t: [(t((3, 4)), t((3, 4))), (t((3, 4)), t((3, 1)), {"dim": 0})],
                          doc="The dot products of vectors along dim, the first of them conjugated.")(lambda x, y, dim: _vecdot(x, y, dim))


def _vecdot(x: Tensor, y: Tensor, dim: int) -> Any:
    for t in (x, y):
        if not (t.dtype.is_floating_point or t.dtype.is_complex):
            raise DTypeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {t.dtype.name}")
    return ((x.conj() if x.dtype.is_complex else x) * y).sum(dim)


linalg_matmul = composite("linalg_matmul(Tensor input, Tensor other) -> Tensor", dtypes="ifc", ulp=64.0, ref=lambda a, b: a @ b,
                          samples=lambda t: [(t((2, 3)), t((3, 4))), (t((2, 2, 3)), t((3,)))], doc="Another name of matmul.")(lambda a, b: a @ b)
linalg_diagonal = composite("linalg_diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", samples=lambda t: [(t((2, 3, 4)),), (t((3, 4)), {"offset": 1})],
                            ref=lambda a, offset=0, dim1=-2, dim2=-1: np.diagonal(a, offset, dim1, dim2),
                            doc="The diagonal of matrices, as a view.")(lambda a, offset, dim1, dim2: a.diagonal(offset, dim1, dim2))


def _np_vander(x: Any, N: int | None) -> Any:
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise ValueError("N must be greater than 1")
    return x[..., None] ** np.arange(n)


@composite("linalg_vander(Tensor x, *, int? N=None) -> Tensor", dtypes="ifc", ulp=64.0, ref=lambda x, N=None: _np_vander(x, N),
           samples=lambda t: [(t((2, 3)),), (t((3,)), {"N": 4})], doc="Vandermonde matrices: the powers 0, 1, ... of each element along a new last dimension.")
def linalg_vander(x: Tensor, N: int | None) -> Any:
    x = x if x.dim() else x.reshape(1)
    n = x._shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    ones = x.new_ones((*x._shape, 1))
    return cat((ones, x.unsqueeze(-1).expand((*x._shape, n - 1)).cumprod(-1)), -1)


__all__ = ["cross", "householder_product", "ldl_factor", "linalg_cross", "ormqr"]
