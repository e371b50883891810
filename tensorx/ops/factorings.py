"""HOST rows of matrix factorings: Cholesky, LU, QR, eigenvalues, singular values.

Gradients of eigenvectors and singular vectors are those of functions that do not depend on the vectors' signs or phases; they need distinct values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.errors import LinAlgError
from tensorx.ops.families import composite
from tensorx.ops.linalg import (
    Array,
    alias,
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
    solve,
    symmetric,
    with_diagonal,
    zeros_info,
)
from tensorx.ops.table import NONDIFF
from tensorx.tensor import Tensor


def real_only(samples: Any) -> Any:
    """Samples for real dtypes: the phases of complex vectors are arbitrary, so they have no oracle."""
    return lambda t: [] if t.dtype.is_complex else samples(t)


# Cholesky


def _potrf(a: Array) -> tuple[Array, Array]:
    c, info = lapack("potrf", a)(a, lower=True, clean=True)
    return c, np.array(info, np.int32)


def _cholesky(a: Array, upper: bool, check_errors: bool) -> tuple[Array, Array]:
    check_square("linalg.cholesky", a)
    if upper:
        a = np.conj(np.swapaxes(a, -1, -2))
    try:
        factor, info = np.linalg.cholesky(a), zeros_info(a)
    except np.linalg.LinAlgError:
        factor, info = each(_potrf, a)
        if check_errors:
            raise_bad("linalg.cholesky", info, lambda i: "The factorization could not be completed because the input is not positive-definite "
                      f"(the leading minor of order {i} is not positive-definite).")
    return (np.ascontiguousarray(np.conj(np.swapaxes(factor, -1, -2))) if upper else factor), info


def _cholesky_vjp(g: Any, L: Tensor, upper: bool) -> Tensor:
    """L^-H pi(L^H gL) L^-1, where pi shares the lower triangle between both."""
    gl, low = (mh(g[0]), mh(L)) if upper else (g[0], L)
    inner = mh(low) @ gl
    shared = (inner.tril() + mh(inner.tril(-1))) * 0.5
    return solve_triangular(low, solve_triangular(mh(low), shared, upper=True), upper=False, left=False)  # type: ignore[no-any-return]


def _np_cholesky(a: Any, upper: bool = False, check_errors: bool = False) -> Any:
    factor = np.linalg.cholesky(a)
    return (np.conj(np.swapaxes(factor, -1, -2)) if upper else factor), zeros_info(a)


_SPD = {"dtypes": "fc", "ulp": 64.0, "samples": lambda t: [(symmetric(t),), (symmetric(t), {"upper": True})]}
cholesky_ex = host("linalg_cholesky_ex(Tensor A, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)", _cholesky, _cholesky_vjp,
                   ref=_np_cholesky, doc="The Cholesky factor of positive definite matrices; info is positive where there is none.",
                   samples=_SPD["samples"])
linalg_cholesky = composite("linalg_cholesky(Tensor A, *, bool upper=False) -> Tensor", ref=lambda a, upper=False: _np_cholesky(a, upper)[0],
                            doc="The Cholesky factor L of A = L L^H.", **_SPD)(lambda a, upper: cholesky_ex(a, upper=upper, check_errors=True)[0])
cholesky = alias("cholesky(Tensor self, bool upper=False) -> Tensor", linalg_cholesky)


# triangular systems


def _trtrs(a: Array, b: Array, upper: bool, unit: bool) -> Array:
    x, _ = lapack("trtrs", a, b)(a, b, lower=not upper, unitdiag=unit)
    return x  # type: ignore[no-any-return]


def _substituted(a: Array, b: Array, upper: bool) -> Array:
    """Back substitution as LAPACK's trsm does it: infinities and NaN where it divides by zero."""
    x = np.array(b, np.result_type(a, b))
    n = a.shape[-1]
    with np.errstate(all="ignore"):
        for i in range(n - 1, -1, -1) if upper else range(n):
            x[..., i, :] /= a[..., i, i, None]
            rest = slice(0, i) if upper else slice(i + 1, n)
            x[..., rest, :] -= a[..., rest, i, None] * x[..., None, i, :]
    return x


def _solve_triangular(a: Array, b: Array, upper: bool, left: bool, unitriangular: bool) -> Array:
    check_square("linalg.solve_triangular", a)
    check_matrix("linalg.solve_triangular", b)
    if b.shape[-2 if left else -1] != a.shape[-1]:
        raise LinAlgError(f"linalg.solve_triangular: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                          f"({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})")
    if not left:
        return np.ascontiguousarray(np.swapaxes(_solve_triangular(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), not upper, True, unitriangular), -1, -2))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(b, (*batch, *b.shape[-2:]))
    if not b.size:
        return np.zeros(b.shape, b.dtype)
    diagonal = np.diagonal(a, 0, -2, -1)
    if not unitriangular and not diagonal.all():  # LAPACK refuses: the answer is what back substitution gives, inf and NaN
        return _substituted(a, b, upper)
    return each(lambda m, r: (_trtrs(m, r, upper, unitriangular),), a, b)[0]


def _triangular_vjp(g: Tensor, A: Tensor, out: Tensor, upper: bool, left: bool, unitriangular: bool) -> tuple[Tensor, Tensor]:
    gb = solve_triangular(mh(A), g, upper=not upper, left=left, unitriangular=unitriangular)
    ga = -(gb @ mh(out)) if left else -(mh(out) @ gb)
    off = int(unitriangular)
    return (ga.triu(off) if upper else ga.tril(-off)), gb


def _np_triangular(a: Any, b: Any, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    a = np.triu(a, int(unitriangular)) if upper else np.tril(a, -int(unitriangular))
    a = a + np.eye(a.shape[-1]) if unitriangular else a
    return np.linalg.solve(a, b) if left else np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


solve_triangular = host("linalg_solve_triangular(Tensor A, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor", _solve_triangular,
                        _triangular_vjp, ref=_np_triangular, doc="The solution X of A X = B for a triangular A, whose other half is not read.",
                        samples=lambda t: [(batched(t), t((2, 3, 2)), {"upper": True}), (batched(t), t((3, 2)), {"upper": False, "unitriangular": True}),
                                           (batched(t), t((2, 3)), {"upper": False, "left": False})])


@composite("triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
           ref=lambda b, a, upper=True, transpose=False, unitriangular=False: (_np_triangular(a, b, upper, True, unitriangular), a), dtypes="fc", ulp=64.0,
           samples=lambda t: [(t((2, 3, 2)), batched(t))], doc="The older name of linalg.solve_triangular.")
def triangular_solve(b: Tensor, a: Tensor, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    m = a.mT if transpose else a
    return solve_triangular(m, b, upper=upper != transpose, unitriangular=unitriangular), a.clone()


@composite("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", dtypes="fc", ulp=64.0, samples=lambda t: [(t((2, 3, 2)), batched(t))],
           ref=lambda b, low, upper=False: _np_cholesky_solve(b, low, upper), doc="The solution X of A X = self, from the Cholesky factor of A.")
def cholesky_solve(b: Tensor, factor: Tensor, upper: bool) -> Any:
    check_matrix("cholesky_solve", factor)
    low = mh(factor) if upper else factor
    return solve_triangular(mh(low), solve_triangular(low, b, upper=False), upper=True)


def _np_cholesky_solve(b: Any, factor: Any, upper: bool = False) -> Any:
    low = np.tril(np.conj(np.swapaxes(factor, -1, -2)) if upper else factor)
    return np.linalg.solve(low @ np.conj(np.swapaxes(low, -1, -2)), b)


cholesky_inverse = composite("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", dtypes="fc", ulp=64.0, samples=lambda t: [(batched(t),)],
                             ref=lambda f, upper=False: _np_cholesky_solve(np.eye(f.shape[-1]), f, upper),
                             doc="The inverse of a matrix, from its Cholesky factor.")(lambda f, upper: cholesky_solve(eye_like(f), f, upper))


# QR


def _qr(a: Array, mode: str) -> tuple[Array, Array]:
    check_matrix("linalg.qr", a)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    if mode == "r":
        return np.zeros(0, a.dtype), np.asarray(np.linalg.qr(a, mode="r")).astype(a.dtype)
    q, r = np.linalg.qr(a, mode=mode)  # type: ignore[call-overload]
    return q.astype(a.dtype), r.astype(a.dtype)


def _qr_vjp(g: Any, Q: Tensor, R: Tensor, A_meta: Any, mode: str) -> Tensor:
    """Roberts and Roberts, "QR and LQ decomposition matrix backpropagation algorithms for square, wide, and deep matrices", 2020."""
    m, n = A_meta.shape[-2:]
    if mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you are "
                           "going to differentiate through linalg.qr.")
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    gq, gr = g
    if m >= n:
        return _tall_qr_vjp(gq, gr, Q, R)
    gr1, gr2 = gr.narrow(-1, 0, m), gr.narrow(-1, m, n - m)
    first = _tall_qr_vjp(gq + Q @ R.narrow(-1, m, n - m) @ mh(gr2), gr1, Q, R.narrow(-1, 0, m))
    return joined(first, Q @ gr2, -1)


def _tall_qr_vjp(gq: Tensor, gr: Tensor, q: Tensor, r: Tensor) -> Tensor:
    upper = (gr @ mh(r) - mh(q) @ gq).triu()
    both = upper + mh(upper)
    both = with_diagonal(both, both.diagonal(0, -2, -1) * 0.5)
    return solve_triangular(mh(r), q @ both + gq, upper=False, left=False)


linalg_qr = host("linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", _qr, _qr_vjp, ref=lambda a, mode="reduced": tuple(np.linalg.qr(a, mode=mode)),
                 samples=lambda t: [(batched(t),), (t((2, 4, 3)),), (t((2, 3, 4)),)], doc="A = Q R with orthonormal columns and an upper triangle.")
qr = composite("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", ref=lambda a, some=True: tuple(np.linalg.qr(a, mode="reduced" if some else "complete")),
               dtypes="fc", ulp=64.0, samples=lambda t: [(batched(t),)],
               doc="The older name of linalg.qr.")(lambda a, some: linalg_qr(a, "reduced" if some else "complete"))
geqrf = host("geqrf(Tensor self) -> (Tensor a, Tensor tau)", lambda a: _geqrf(a), ref=lambda a: _geqrf(a), samples=lambda t: [(t((2, 4, 3)),)],
             doc="QR as LAPACK keeps it: R above the diagonal, reflectors below it and in tau.")


def _geqrf(a: Array) -> tuple[Array, ...]:
    check_matrix("geqrf", a)
    return each(lambda m: lapack("geqrf", m)(m)[:2] if m.size else (m.copy(), np.zeros(min(m.shape), m.dtype)), a)


# eigenvalues


def _triangle(a: Array, UPLO: str, name: str) -> str:
    check_square(name, a)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper()


def _eigh(a: Array, UPLO: str) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(a, _triangle(a, UPLO, "linalg.eigh"))  # type: ignore[call-overload]
    return values.astype(a.real.dtype), vectors.astype(a.dtype)


def _gaps(values: Tensor) -> Tensor:
    """Differences of eigenvalues, 1 on the diagonal."""
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
    return gaps + eye_like(values)


def _eigh_vjp(g: Any, eigenvalues: Tensor, eigenvectors: Tensor) -> Tensor:
    inner = (mh(eigenvectors) @ g[1]) / _gaps(eigenvalues)
    return eigenvectors @ with_diagonal(inner, g[0].to(inner.dtype)) @ mh(eigenvectors)


eigh = host("linalg_eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)", _eigh, _eigh_vjp,
            ref=lambda a, UPLO="L": tuple(np.linalg.eigh(a, UPLO)), samples=real_only(lambda t: [(symmetric(t),), (symmetric(t), "U")]), ulp=256.0,
            doc="Eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read.")
eigvalsh = host("linalg_eigvalsh(Tensor A, str UPLO='L') -> Tensor",
                lambda a, UPLO: np.linalg.eigvalsh(a, _triangle(a, UPLO, "linalg.eigvalsh")).astype(a.real.dtype),  # type: ignore[call-overload]
                lambda g, A, UPLO: _values_vjp(g, eigh(A, UPLO)[1]), ref=lambda a, UPLO="L": np.linalg.eigvalsh(a, UPLO), samples=lambda t: [(symmetric(t),)],
                doc="Eigenvalues, ascending, of Hermitian matrices.")


def _values_vjp(g: Tensor, vectors: Tensor) -> Tensor:
    return (vectors * g.unsqueeze(-2)) @ mh(vectors)


def _complex_eig(a: Array) -> tuple[Array, Array]:
    check_square("linalg.eig", a)
    if not np.isfinite(a).all():
        raise RuntimeError("linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = np.linalg.eig(a)
    out = np.result_type(a.dtype, np.complex64)
    return values.astype(out), vectors.astype(out)


def _eig_vjp(g: Any, A_meta: Any, eigenvalues: Tensor, eigenvectors: Tensor) -> Tensor:
    """Boeddeker et al., "On the computation of complex-valued gradients with application to statistically optimum beamforming", 2017."""
    v = eigenvectors
    # LAPACK turns each vector so that its largest element is real. A change of the vectors turns back by that element's phase.
    top = v.abs().argmax(-2, keepdim=True)
    turn = (g[1].conj() * v).sum(-2, keepdim=True).imag / v.gather(-2, top).real
    gv = g[1].scatter_add(-2, top, (turn * 1j).to(v.dtype))
    inner = mh(v) @ gv
    lengths = inner.diagonal(0, -2, -1).real.to(inner.dtype)
    inner = (inner - mh(v) @ (v * lengths.unsqueeze(-2))) / _gaps(eigenvalues).conj()
    ga = solve(mh(v), with_diagonal(inner, g[0]) @ mh(v))
    return ga if A_meta.dtype.is_complex else ga.real


eig = host("linalg_eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)", _complex_eig, _eig_vjp, ref=lambda a: _complex_eig(a), ulp=512.0,
           samples=lambda t: [(batched(t, 2),)], doc="Eigenvalues and eigenvectors, complex, of square matrices.")
eigvals = host("linalg_eigvals(Tensor A) -> Tensor", lambda a: _complex_eig(a)[0], lambda g, A: _eigvals_vjp(g, A), ref=lambda a: _complex_eig(a)[0],
               samples=lambda t: [(batched(t, 2),)], ulp=256.0, doc="Eigenvalues, complex, of square matrices.")


def _eigvals_vjp(g: Tensor, A: Tensor) -> Any:
    v = eig(A)[1]
    ga = solve(mh(v), g.unsqueeze(-1) * mh(v))
    return ga if A.dtype.is_complex else ga.real


# singular values


def _svd(a: Array, full_matrices: bool, driver: Any) -> tuple[Array, Array, Array]:
    check_matrix("linalg.svd", a)
    if driver is not None:
        raise RuntimeError("linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")
    try:
        u, s, vh = np.linalg.svd(a, full_matrices)
    except np.linalg.LinAlgError:
        raise LinAlgError("linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.") from None
    return u.astype(a.dtype), s.astype(a.real.dtype), vh.astype(a.dtype)


def _svd_vjp(g: Any, U: Tensor, S: Tensor, Vh: Tensor) -> Tensor:
    """Townsend, "Differentiating the singular value decomposition", 2016; complex vectors in the gauge where U's and V's phases turn together."""
    k = S._shape[-1]
    m, n = U._shape[-2], Vh._shape[-1]
    u, vh, gu, gvh = U.narrow(-1, 0, k), Vh.narrow(-2, 0, k), g[0].narrow(-1, 0, k), g[2].narrow(-2, 0, k)
    gaps = (S.unsqueeze(-2) - S.unsqueeze(-1)) * (S.unsqueeze(-2) + S.unsqueeze(-1)) + eye_like(S)
    left, right = mh(u) @ gu, vh @ mh(gvh)
    left, right = left - mh(left), right - mh(right)
    inner = (left / gaps) * S.unsqueeze(-2) + S.unsqueeze(-1) * (right / gaps)
    diagonal = g[1].to(inner.dtype)
    if inner.dtype.is_complex:
        diagonal = diagonal + left.diagonal(0, -2, -1) / (S * 2)
    inner = with_diagonal(inner, diagonal)
    ga = u @ inner @ vh
    if m > k:
        rest = gu / S.unsqueeze(-2)
        ga = ga + (rest - u @ (mh(u) @ rest)) @ vh
    if n > k:
        rest = gvh / S.unsqueeze(-1)
        ga = ga + u @ (rest - (rest @ mh(vh)) @ vh)
    return ga


linalg_svd = host("linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)", _svd, _svd_vjp,
                  ref=lambda a, full_matrices=True, driver=None: tuple(np.linalg.svd(a, full_matrices)), ulp=512.0,
                  samples=real_only(lambda t: [(batched(t),), (t((2, 4, 3)), False), (t((2, 3, 4)), False)]), doc="A = U diag(S) Vh with singular values descending.")
svdvals = host("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", lambda a, driver: _svd(a, False, driver)[1], lambda g, A: _svdvals_vjp(g, A),
               ref=lambda a, driver=None: np.linalg.svd(a, compute_uv=False), samples=lambda t: [(batched(t),), (t((2, 4, 3)),)], doc="Singular values, descending.")


def _svdvals_vjp(g: Tensor, A: Tensor) -> Any:
    u, _, vh = linalg_svd(A, False)
    return (u * g.unsqueeze(-2)) @ vh


def _np_svd(a: Any, some: bool) -> Any:
    u, s, vh = np.linalg.svd(a, not some)
    return u, s, np.swapaxes(vh, -1, -2)


@composite("svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)", dtypes="fc", ulp=512.0,
           ref=lambda a, some=True, compute_uv=True: _np_svd(a, some),
           samples=real_only(lambda t: [(batched(t),)]), doc="The older name of linalg.svd; gives V instead of its conjugate transpose.")
def svd(a: Tensor, some: bool, compute_uv: bool) -> Any:
    if compute_uv:
        u, s, vh = linalg_svd(a, not some)
        return u, s, mh(vh)
    m, n = a._shape[-2:]
    return a.new_zeros((*a._shape[:-2], m, m)), svdvals(a), a.new_zeros((*a._shape[:-2], n, n))


__all__ = ["NONDIFF", "cholesky_ex", "cholesky_solve", "eig", "eigh", "eigvals", "eigvalsh", "linalg_qr", "linalg_svd", "solve_triangular", "svd", "svdvals"]
