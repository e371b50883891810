"""Singular values of large matrices from random samples of their range."""

from __future__ import annotations

from typing import Any

from tensorx.errors import ShapeError
from tensorx.ops.factorings import linalg_qr, linalg_svd
from tensorx.ops.linalg import check_matrix, mh
from tensorx.tensor import Tensor


def _basis(a: Tensor, q: int, niter: int) -> Tensor:
    """Orthonormal columns that nearly span the range of ``a``: Halko, Martinsson and Tropp, "Finding structure with randomness", 2011, algorithm 4.4."""
    from tensorx.ops.random import randn
    basis = linalg_qr(a @ randn(a._shape[-1], q, dtype=a.dtype, device=a.device))[0]
    for _ in range(niter):
        basis = linalg_qr(mh(a) @ basis)[0]
        basis = linalg_qr(a @ basis)[0]
    return basis  # type: ignore[no-any-return]


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The ``q`` largest singular values of ``A - M`` with their vectors (U, S, V), from random samples refined ``niter`` times.

    ``A``: [..., m, n]. The result depends on the random numbers where the rank exceeds ``q``. ShapeError unless ``A`` holds matrices.

    >>> import tensorx
    >>> U, S, V = tensorx.svd_lowrank(tensorx.eye(4), q=2)
    >>> U.shape, S.shape, V.shape
    (tensorx.Size([4, 2]), tensorx.Size([2]), tensorx.Size([4, 2]))
    """
    check_matrix("svd_lowrank", A)
    a: Any = A if M is None else A - M
    wide = a._shape[-2] < a._shape[-1]
    a = mh(a) if wide else a
    basis = _basis(a, 6 if q is None else q, 2 if niter is None else niter)
    u, s, vh = linalg_svd(mh(basis) @ a, False)
    u, v = basis @ u, mh(vh)
    return (v, s, u) if wide else (u, s, v)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of the rows of ``A`` [..., m, n]: `svd_lowrank` of ``A``, from whose columns their means are taken if ``center``.

    ``q`` is min(6, m, n) unless given. ValueError for ``q`` or ``niter`` out of range.

    >>> import tensorx
    >>> [x.shape for x in tensorx.pca_lowrank(tensorx.arange(12.0).reshape(4, 3), q=2)]
    [tensorx.Size([4, 2]), tensorx.Size([2]), tensorx.Size([3, 2])]
    """
    check_matrix("pca_lowrank", A)
    m, n = A._shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ShapeError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
