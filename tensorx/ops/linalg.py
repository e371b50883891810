"""HOST rows of linear algebra: solutions, inverses, determinants; what all linear algebra shares.

Gradients: Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic differentiation", 2008.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorx.dtypes import FLOAT
from tensorx.errors import LinAlgError, ShapeError
from tensorx.ops import bind
from tensorx.ops.families import composite, row
from tensorx.ops.kinds.transfer import HOST
from tensorx.ops.table import NONDIFF, Op
from tensorx.tensor import Tensor

Array = np.ndarray[Any, Any]


def narrow_floats(body: Callable[..., Any]) -> Callable[..., Any]:
    """LAPACK has no half precision: f16 and bf16 operands become f32, and floating-point results their dtype again."""
    @functools.wraps(body)
    def run(*args: Any) -> Any:
        half = next((a.dtype for a in args if isinstance(a, np.ndarray) and a.dtype.itemsize == 2 and a.dtype.kind not in "iu"), None)
        if half is not None:
            args = tuple(a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype == half else a for a in args)
        try:
            with np.errstate(all="ignore"):
                found = body(*args)
        except np.linalg.LinAlgError as error:
            raise LinAlgError(f"linalg: {error}") from None
        results = tuple(np.asarray(r) for r in (found if isinstance(found, tuple) else (found,)))
        if half is not None:
            results = tuple(r.astype(half) if r.dtype.kind == "f" else r for r in results)
        return results if isinstance(found, tuple) else results[0]
    return run


def host(schema: str, body: Callable[..., Any], vjp: Any = NONDIFF, **fields: Any) -> Op:
    """A HOST row of linear algebra, for floating-point and complex matrices."""
    return row(schema, HOST, narrow_floats(body), vjp, **{"dtypes": "fc", "ulp": 64.0, **fields})


def alias(schema: str, op: Op, **fields: Any) -> Op:
    """Another name of a row: the same arguments in the same order, under ``schema``."""
    def body(*args: Any) -> Any:
        return bind.run(op, args, None)
    same = {"ref": op.ref, "dtypes": op.dtypes, "samples": op.samples, "domain": op.domain, "special": op.special, "ulp": op.ulp, "promote": op.promote,
            "doc": f"Another name of {op.schema.name}."}
    return composite(schema, **{**same, **fields})(body)


def mh(x: Tensor) -> Tensor:
    """The conjugate transpose."""
    return x.mT.conj() if x.dtype.is_complex else x.mT


def eye_like(x: Tensor, n: int | None = None) -> Tensor:
    """The identity of ``x``'s dtype and device."""
    from tensorx.ops import factories
    return factories.eye(x._shape[-1] if n is None else n, dtype=x.dtype, device=x.device)


def joined(a: Tensor, b: Tensor, dim: int) -> Tensor:
    """Two blocks of a matrix as one."""
    from tensorx.ops.joining import cat
    return cat((a, b), dim)  # type: ignore[no-any-return]


def with_diagonal(x: Tensor, d: Tensor) -> Tensor:
    """``x`` with the diagonal ``d``."""
    return x.masked_fill(eye_like(x, x._shape[-1]).real.bool(), 0) + d.diag_embed()


def batched(t: Any, n: int = 3, shift: float = 4.0) -> Tensor:
    """For samples: two well-conditioned matrices."""
    x = t((2, n, n), -1, 1)
    return x + eye_like(x) * shift if x.dtype.kind >= FLOAT else x


def symmetric(t: Any, n: int = 3, shift: float = 4.0) -> Tensor:
    """For samples: two Hermitian matrices, positive definite if ``shift`` is large."""
    x = t((2, n, n), -1, 1)
    return (x + mh(x)) * 0.5 + eye_like(x) * shift if x.dtype.kind >= FLOAT else x


def check_square(name: str, a: Any) -> None:
    """ShapeError unless ``a`` is batches of square matrices."""
    if a.ndim < 2:
        raise ShapeError(f"{name}: The input tensor A must have at least 2 dimensions; got shape {tuple(a.shape)}")
    if a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"{name}: A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices")


def check_matrix(name: str, a: Any) -> None:
    """ShapeError unless ``a`` has two dimensions or more."""
    if a.ndim < 2:
        raise ShapeError(f"{name}: The input tensor A must have at least 2 dimensions; got shape {tuple(a.shape)}")


def each(f: Callable[..., Any], *arrays: Array, inner: int = 2) -> tuple[Array, ...]:
    """``f`` on every matrix of a batch; its results stacked. Of an empty batch one matrix of ones tells the shapes."""
    batch = arrays[0].shape[:-inner]
    count = math.prod(batch)
    if not count:
        found = f(*(np.ones(a.shape[len(batch):], a.dtype) for a in arrays))
        return tuple(np.zeros((*batch, *np.shape(part)), np.asarray(part).dtype) for part in found)
    flats = [a.reshape(count, *a.shape[len(batch):]) for a in arrays]
    found = [f(*items) for items in zip(*flats, strict=True)]
    return tuple(np.stack(parts).reshape((*batch, *np.shape(parts[0]))) for parts in zip(*found, strict=True))


def lapack(name: str, *arrays: Array) -> Callable[..., Any]:
    """LAPACK's routine for the arrays' dtype."""
    from scipy.linalg import get_lapack_funcs
    return get_lapack_funcs(name, arrays)  # type: ignore[no-any-return]  # untyped


def raise_bad(name: str, info: Array, text: Callable[[int], str]) -> None:
    """LinAlgError for the first matrix whose ``info`` is not 0."""
    bad = np.flatnonzero(np.reshape(info, -1))
    if bad.size:
        where = f"(Batch element {bad[0]}): " if info.ndim else ""
        raise LinAlgError(f"{name}: {where}{text(int(np.reshape(info, -1)[bad[0]]))}")


def zeros_info(a: Array) -> Array:
    """``info`` of a batch that went well."""
    return np.zeros(a.shape[:-2], np.int32)


# solve


def is_vector(a: Any, b: Any) -> bool:
    """Whether the right-hand side is one vector a matrix."""
    return b.ndim == 1 or (b.ndim == a.ndim - 1 and tuple(b.shape) == tuple(a.shape[:-1]))


def _gesv(a: Array, b: Array) -> tuple[Array, Array]:
    gesv = lapack("gesv", a, b)
    _, _, x, info = gesv(a, b)
    return (x if info == 0 else np.full_like(b, np.nan)), np.array(info, np.int32)


def _solve_ex(a: Any, b: Any, left: bool, check_errors: bool, name: str = "linalg.solve_ex") -> Any:
    check_square(name, a)
    if a.dtype != b.dtype:
        raise LinAlgError(f"{name}: Expected A and B to have the same dtype; got {a.dtype} and {b.dtype}")
    vector = is_vector(a, b)
    rhs = b[..., None] if vector else b
    if not left and vector:
        raise ShapeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)")
    if not left:
        a, rhs = np.swapaxes(a, -1, -2), np.swapaxes(rhs, -1, -2)
    if rhs.ndim < 2 or rhs.shape[-2] != a.shape[-1]:
        raise ShapeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} ({a.shape[-2]}x{a.shape[-1]} and {rhs.shape[-2:]})")
    try:
        x, info = np.linalg.solve(a, rhs).astype(b.dtype), None
    except np.linalg.LinAlgError:
        batch = np.broadcast_shapes(a.shape[:-2], rhs.shape[:-2])
        x, info = each(_gesv, np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(rhs, (*batch, *rhs.shape[-2:])))
        if check_errors:
            raise_bad(name, info, lambda i: "The solver failed because the input matrix is singular.")
    if not left:
        x = np.swapaxes(x, -1, -2)
    x = np.ascontiguousarray(x[..., 0] if vector else x)
    return x, zeros_info(np.broadcast_to(a, (*x.shape[:x.ndim - (1 if vector else 2)], *a.shape[-2:]))) if info is None else info


def _solve_rule(g: Tensor, A: Tensor, x: Tensor, left: bool) -> tuple[Tensor, Tensor]:
    """B = A X: gB = A^-H gX, gA = -gB X^H."""
    gb = solve(mh(A), g, left=left)
    vector = len(g._shape) == 1 or g._shape == A._shape[:-1]
    left_, right = (gb.unsqueeze(-1), x.unsqueeze(-1)) if vector else (gb, x)
    if left or vector:
        return -(left_ @ mh(right)), gb
    return -(mh(right) @ left_), gb


def _systems(t: Any) -> Any:
    return [(t.invertible(3), t((3, 2))), (batched(t), t((2, 3))), (t.invertible(3), t((2, 3)), {"left": False})]


solve = host("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", lambda a, b, left: _solve_ex(a, b, left, True, "linalg.solve")[0],
             lambda g, A, out, left: _solve_rule(g, A, out, left), ref=lambda a, b, left=True: _np_solve(a, b, left),
             samples=lambda t: [(t.invertible(3), t((3, 2))), (t.invertible(3), t((3,))), *_systems(t)[1:]], doc="The solution X of A X = B.")
solve_ex = host("linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)", _solve_ex,
                lambda g, A, result, left: _solve_rule(g[0], A, result, left), ref=lambda a, b, left=True, check_errors=False: (_np_solve(a, b, left), zeros_info(a)),
                samples=_systems, doc="The solution X of A X = B; info is positive for a singular A.")


def _np_solve(a: Any, b: Any, left: bool = True) -> Any:
    if is_vector(a, b):
        return np.linalg.solve(a, b[..., None])[..., 0]
    return np.linalg.solve(a, b) if left else np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


# inverse


def _inv_one(a: Array) -> tuple[Array, Array]:
    _, _, info = lapack("getrf", a)(a)
    return (np.full_like(a, np.nan) if info else np.linalg.inv(a)), np.array(info, np.int32)


def _inv_ex(a: Array, check_errors: bool) -> tuple[Array, Array]:
    check_square("linalg.inv", a)
    try:
        return np.linalg.inv(a), zeros_info(a)
    except np.linalg.LinAlgError:
        x, info = each(_inv_one, a)
    if check_errors:
        raise_bad("linalg.inv", info, lambda i: f"The diagonal element {i} is zero, the inversion could not be completed because the input matrix is singular.")
    return x, info


inv_ex = host("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", _inv_ex,
              lambda g, inverse: -(mh(inverse) @ g[0] @ mh(inverse)), ref=lambda a, check_errors=False: (np.linalg.inv(a), zeros_info(a)),
              samples=lambda t: [(t.invertible(3),), (batched(t),)], doc="The inverse; info is positive for a singular A.")
inv = composite("linalg_inv(Tensor A) -> Tensor", ref=np.linalg.inv, dtypes="fc", ulp=64.0, samples=lambda t: [(batched(t),)],
                doc="The inverse of square matrices.")(lambda a: inv_ex(a, check_errors=True)[0])
inverse = alias("inverse(Tensor self) -> Tensor", inv)


# determinants


def _det(a: Array) -> Array:
    check_square("linalg.det", a)
    return np.linalg.det(a).astype(a.dtype)


def _cofactor(a: Array) -> Array:
    """The matrix of cofactors, d det / dA, singular matrices included: with A = U S V^H it is conj(U) C V^T det U det V^H, where C has the
    products of all other singular values."""
    u, s, vh = np.linalg.svd(a)
    n = s.shape[-1]
    others = np.where(np.eye(n, dtype=bool), 1, s[..., None, :]).prod(-1)
    scale = np.linalg.det(u) * np.linalg.det(vh)
    return (np.conj(u) * (others * scale[..., None])[..., None, :] @ np.conj(vh)).astype(a.dtype)


def _cofactor_vjp(g: Tensor, self: Tensor, out: Tensor) -> Tensor:
    """C = det(A) A^-T, so dC = tr(A^-1 dA) C - C dA^T A^-T."""
    b = inv(self).mT.conj()
    return (g * out.conj()).sum((-2, -1), True) * b - b @ g.mT @ out.conj()


cofactor = host("_cofactor(Tensor self) -> Tensor", _cofactor, _cofactor_vjp, ref=lambda a: np.linalg.det(a)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2),
                samples=lambda t: [(batched(t),)], public="linalg_det", doc="The matrices of cofactors, the derivative of det.")
det = host("det(Tensor self) -> Tensor", _det, lambda g, self: g.unsqueeze(-1).unsqueeze(-1) * cofactor(self).conj(), ref=np.linalg.det,
           samples=lambda t: [(t.invertible(3),), (batched(t, 2),)], doc="The determinant of square matrices.")
linalg_det = alias("linalg_det(Tensor A) -> Tensor", det, samples=lambda t: [(batched(t),)])


def _slogdet(a: Array) -> tuple[Array, Array]:
    check_square("linalg.slogdet", a)
    sign, log = np.linalg.slogdet(a)
    return np.asarray(sign, a.dtype), np.asarray(log, a.real.dtype)


def _slogdet_vjp(g: Any, self: Tensor) -> Tensor:
    """d log det = tr(A^-1 dA); its imaginary part turns the sign."""
    slope = g[1].unsqueeze(-1).unsqueeze(-1)
    if self.dtype.is_complex:
        from tensorx.ops.arithmetic import complex as complex_
        turn = -(g[0].conj() * slogdet(self)[0]).imag.unsqueeze(-1).unsqueeze(-1)
        slope = complex_(slope, turn)
    return slope * inv(mh(self))


def _np_slogdet(a: Any) -> Any:
    return tuple(np.linalg.slogdet(a))


slogdet = host("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", _slogdet, _slogdet_vjp, ref=_np_slogdet,
               samples=lambda t: [(t.invertible(3),), (batched(t),)], doc="The sign, and the logarithm of the magnitude, of the determinant.")
linalg_slogdet = alias("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", slogdet, samples=lambda t: [(batched(t),)])


@composite("logdet(Tensor self) -> Tensor", ref=lambda a: np.log(np.linalg.det(a)), dtypes="fc", ulp=64.0, samples=lambda t: [(batched(t),)],
           doc="The logarithm of the determinant; NaN if that is negative, -inf if it is 0.")
def logdet(x: Tensor) -> Any:
    sign, log = slogdet(x)
    if x.dtype.is_complex:
        return log + sign.log()
    return log.masked_fill(sign == -1, float("nan"))
