"""HOST rows: LAPACK through NumPy, staged over host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorx.errors import ShapeError
from tensorx.ops.families import row
from tensorx.ops.kinds.transfer import HOST
from tensorx.tensor import Tensor


def _solve(a: Any, b: Any, left: bool) -> Any:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"linalg.solve: A must be batches of square matrices, but they are {a.shape[-2] if a.ndim > 1 else 1} by {a.shape[-1]} matrices")
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    wide = np.result_type(a.dtype, np.float32) if a.dtype.kind in "fc" else np.float32  # LAPACK has no half precision; bfloat16 is not NumPy's
    rhs = b[..., None] if vector else b
    if not left:
        a, rhs = np.swapaxes(a, -1, -2), np.swapaxes(rhs, -1, -2)
    try:
        x = np.linalg.solve(a.astype(wide), rhs.astype(wide)).astype(b.dtype)
    except np.linalg.LinAlgError:
        raise RuntimeError("linalg.solve: The solver failed because the input matrix is singular.") from None
    if not left:
        x = np.swapaxes(x, -1, -2)
    return np.ascontiguousarray(x[..., 0] if vector else x)


def _solve_vjp(g: Tensor, A: Tensor, out: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    """B = A X: gB = A^-H gX, gA = -gB X^H (Giles, "An extended collection of matrix derivative results", 2008)."""
    gb = solve(A.mT.conj(), g, left=left)
    vector = len(g._shape) == 1 or g._shape == A._shape[:-1]
    left_, right = (gb.unsqueeze(-1), out.unsqueeze(-1)) if vector else (gb, out)
    if left or vector:
        return -(left_ @ right.mT.conj()), gb
    return -(right.mT.conj() @ left_), gb


solve = row("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", HOST, _solve, _solve_vjp, dtypes="fc",
            ref=lambda a, b, left=True: np.linalg.solve(a, b), samples=lambda t: [(t.invertible(3), t((3, 2))), (t.invertible(3), t((3,)))],
            doc="The solution X of A X = B.")
