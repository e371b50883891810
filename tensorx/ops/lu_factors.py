"""HOST rows of LU factorings, and what is made of their factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.ops import bind
from tensorx.ops.factorings import solve_triangular
from tensorx.ops.families import composite
from tensorx.ops.linalg import (
    Array,
    batched,
    check_matrix,
    check_square,
    each,
    eye_like,
    host,
    joined,
    lapack,
    mh,
    raise_bad,
    zeros_info,
)
from tensorx.tensor import Tensor


def _getrf(a: Array) -> tuple[Array, Array, Array]:
    if not min(a.shape):
        return a.copy(), np.zeros(0, np.int32), np.array(0, np.int32)
    lu, pivots, info = lapack("getrf", a)(a)
    return lu, (pivots + 1).astype(np.int32), np.array(info, np.int32)


def _lu_factor(a: Array, pivot: bool, check_errors: bool) -> Any:
    check_matrix("linalg.lu_factor", a)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    lu, pivots, info = each(_getrf, a)
    if check_errors:
        raise_bad("linalg.lu_factor", info, lambda i: f"U[{i},{i}] is zero and using it on lu_solve would result in a division by zero.")
    return lu, pivots, info


def _lu_factor_vjp(g: Any, LU: Tensor, pivots: Tensor) -> Tensor:
    """With A = P L U: gA = P L^-H [tril(L^H gL, -1) + triu(gU U^H)] U^-H for the square part; what is below or beside it moves its gradient there."""
    m, n = LU._shape[-2:]
    k = min(m, n)
    gl, gu = g[0].tril(-1).narrow(-1, 0, k), g[0].triu().narrow(-2, 0, k)
    low, up = LU.tril(-1).narrow(-1, 0, k), LU.triu().narrow(-2, 0, k)
    low1, up1 = low.narrow(-2, 0, k) + eye_like(LU, k), up.narrow(-1, 0, k)
    left, right = mh(low1) @ gl.narrow(-2, 0, k), gu.narrow(-1, 0, k) @ mh(up1)
    if m > n:
        right = right - mh(low.narrow(-2, k, m - k)) @ gl.narrow(-2, k, m - k)
    if n > m:
        left = left - gu.narrow(-1, k, n - k) @ mh(up.narrow(-1, k, n - k))
    inner = solve_triangular(mh(low1), left.tril(-1) + right.triu(), upper=True, unitriangular=True)
    ga = solve_triangular(mh(up1), inner, upper=False, left=False)
    if m > n:
        ga = joined(ga, solve_triangular(mh(up1), gl.narrow(-2, k, m - k), upper=False, left=False), -2)
    if n > m:
        ga = joined(ga, solve_triangular(mh(low1), gu.narrow(-1, k, n - k), upper=True, unitriangular=True), -1)
    return permutation(pivots, m).to(ga.dtype) @ ga


def _permutation(pivots: Array, m: int) -> Array:
    out = np.zeros((*pivots.shape[:-1], m, m), np.float32)
    for at in np.ndindex(pivots.shape[:-1]):
        order = np.arange(m)
        for i, p in enumerate(pivots[at]):
            order[[i, p - 1]] = order[[p - 1, i]]
        out[(*at, order, np.arange(m))] = 1
    return out


def _np_getrf(a: Any, pivot: bool = True, check_errors: bool = False) -> Any:
    from scipy.linalg import lu_factor
    if not a.size:
        return a, np.zeros(a.shape[:-1], np.int32), zeros_info(a)
    found = [lu_factor(m) for m in np.reshape(a, (-1, *a.shape[-2:]))]
    lu, pivots = (np.stack(part).reshape(*a.shape[:-2], *part[0].shape) for part in zip(*found, strict=True))
    return lu, pivots.astype(np.int32) + 1, zeros_info(a)


def _np_permutation(pivots: Any, m: int) -> Any:
    """The product of the interchanges."""
    out = np.broadcast_to(np.eye(m), (*pivots.shape[:-1], m, m))
    for i in range(pivots.shape[-1]):
        swap = np.eye(m)[np.where(np.arange(m) == i, pivots[..., i:i + 1] - 1, np.where(np.arange(m) == pivots[..., i:i + 1] - 1, i, np.arange(m)))]
        out = out @ swap
    return out


def _factored(t: Any, *more: Any) -> Any:
    """For samples: what lu_factor gives."""
    return (*tuple(lu_factor_ex(batched(t)))[:2], *more)


permutation = host("_permutation(Tensor pivots, int m) -> Tensor", _permutation, ref=_np_permutation, dtypes="i",
                   samples=lambda t: [(t((2, 3), 3, 3), 3), (t((2,), 2, 4), 4)], doc="The permutation matrices of LAPACK's pivots.")
lu_factor_ex = host("linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)", _lu_factor,
                    _lu_factor_vjp, ref=_np_getrf, samples=lambda t: [(batched(t),), (t.invertible(3),)],
                    doc="The factors of A = P L U in one matrix, and the row interchanges; info is positive for a singular U.")
lu_factor = composite("linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", ref=lambda a, pivot=True: _np_getrf(a)[:2], dtypes="fc",
                      ulp=64.0, samples=lambda t: [(batched(t),)],
                      doc="The factors of A = P L U in one matrix, and the row interchanges.")(lambda a, pivot: tuple(lu_factor_ex(a, pivot=pivot, check_errors=True))[:2])


def _np_lu(a: Any) -> Any:
    from scipy.linalg import lu
    if not a.size:
        m, n = a.shape[-2:]
        k = min(m, n)
        return tuple(np.broadcast_to(np.eye(*shape), (*a.shape[:-2], *shape)) for shape in ((m, m), (m, k), (k, n)))
    found = [lu(m) for m in np.reshape(a, (-1, *a.shape[-2:]))]
    return tuple(np.stack(part).reshape(*a.shape[:-2], *part[0].shape) for part in zip(*found, strict=True))


@composite("lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)", dtypes="fc",
           ref=lambda lu, p, *a, **k: (_np_permutation(p, lu.shape[-1]), np.tril(lu, -1) + np.eye(lu.shape[-1]), np.triu(lu)), ulp=64.0,
           samples=lambda t: [_factored(t)], doc="P, L and U from what lu_factor gives.")
def lu_unpack(lu: Tensor, pivots: Tensor, unpack_data: bool, unpack_pivots: bool) -> Any:
    m, n = lu._shape[-2:]
    empty = lu.new_zeros((0,))
    if unpack_pivots and pivots.dtype.code != "i32":
        raise RuntimeError(f"torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype; got {pivots.dtype.name}")
    p = permutation(pivots, m).to(lu.dtype) if unpack_pivots else empty
    if not unpack_data:
        return p, empty, empty
    k = min(m, n)
    low = lu.tril(-1).narrow(-1, 0, k)
    return p, low + low.new_tensor(np.eye(m, k).astype(lu.dtype.np)), lu.triu().narrow(-2, 0, k)


@composite("linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", ref=lambda a, pivot=True: _np_lu(a), dtypes="fc", ulp=64.0,
           samples=lambda t: [(batched(t),), (t((2, 4, 3)),), (t((2, 3, 4)),)], doc="A = P L U, with a permutation and triangular matrices.")
def linalg_lu(a: Tensor, pivot: bool) -> Any:
    lu, pivots, _ = lu_factor_ex(a, pivot=pivot)
    return lu_unpack(lu, pivots)


def _np_lu_solve(lu: Any, pivots: Any, b: Any) -> Any:
    return np.linalg.solve(_np_permutation(pivots, lu.shape[-1]) @ (np.tril(lu, -1) + np.eye(lu.shape[-1])) @ np.triu(lu), b)


@composite("linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor", ref=_np_lu_solve, dtypes="fc",
           samples=lambda t: [_factored(t, t((2, 3, 2)))], ulp=256.0, doc="The solution X of A X = B (A^H X = B if adjoint), from what lu_factor gives.")
def linalg_lu_solve(lu: Tensor, pivots: Tensor, b: Tensor, left: bool, adjoint: bool) -> Any:
    check_square("linalg.lu_solve", lu)
    if not left:
        return mh(linalg_lu_solve(lu, pivots, mh(b), left=True, adjoint=not adjoint))
    p = permutation(pivots, lu._shape[-2]).to(lu.dtype)
    if adjoint:
        inner = solve_triangular(mh(lu), b, upper=False)
        return p @ solve_triangular(mh(lu), inner, upper=True, unitriangular=True)
    inner = solve_triangular(lu, p.mT @ b, upper=False, unitriangular=True)
    return solve_triangular(lu, inner, upper=True)


lu_solve = composite("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", ref=lambda b, lu, pivots: _np_lu_solve(lu, pivots, b), dtypes="fc",
                     samples=lambda t: [(t((2, 3, 2)), *_factored(t))], ulp=256.0, doc="The older name of linalg.lu_solve.")(lambda b, lu, pivots: linalg_lu_solve(lu, pivots, b))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> tuple[Tensor, ...]:
    """The factors of ``A = P L U`` in one matrix, the row interchanges, and (``get_infos``) where U is singular. See `tensorx.linalg.lu_factor`.

    >>> import tensorx
    >>> tensorx.lu(tensorx.tensor([[2., 0.], [1., 1.]]))[0]
    tensor([[2.0000, 0.0000],
            [0.5000, 1.0000]])
    """
    found = lu_factor_ex(A, pivot=pivot, check_errors=False) if get_infos else lu_factor(A, pivot=pivot)
    return found if out is None else bind.copy_results(lu_factor_ex if get_infos else lu_factor, found, tuple(out))  # type: ignore[no-any-return]


METHODS: dict[str, Any] = {"lu": lambda self, pivot=True, get_infos=False: lu(self, pivot, get_infos)}
