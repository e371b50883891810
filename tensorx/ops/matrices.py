"""Functions of matrices: norms, rank, pseudo-inverse, least squares, powers, exponential, products of many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx.dtypes import bool_
from tensorx.errors import ShapeError
from tensorx.ops.factorings import svdvals
from tensorx.ops.families import composite
from tensorx.ops.joining import cat
from tensorx.ops.linalg import (
    Array,
    alias,
    batched,
    check_matrix,
    check_square,
    each,
    eye_like,
    host,
    inv,
    inv_ex,
    mh,
    solve,
)
from tensorx.ops.statistics import vector_norm
from tensorx.tensor import Tensor, normalize_dim

# norms


def _two_dims(name: str, x: Tensor, dim: Sequence[int]) -> tuple[int, int]:
    if len(x._shape) < 2:
        raise ShapeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if len(dim) != 2:
        raise ShapeError(f"{name}: dim must be a 2-tuple. Got {list(dim)}")
    a, b = (normalize_dim(d, len(x._shape)) for d in dim)
    if a == b:
        raise ShapeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    return a, b


def _some(x: Tensor, dim: int, order: Any) -> Tensor:
    """The largest value of none is 0; of the smallest there is none."""
    if x._shape[dim] or isinstance(order, str) or order < 0:
        return x
    return x.new_zeros([1 if i == dim % len(x._shape) else n for i, n in enumerate(x._shape)])  # type: ignore[no-any-return]


def _matrix_norm(x: Tensor, order: Any, dim: Sequence[int], keepdim: bool, dtype: Any) -> Any:
    name = "linalg.matrix_norm"
    rows, columns = _two_dims(name, x, dim)
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype.name}")
    if order == "fro":
        return vector_norm(x, 2, (rows, columns), keepdim, dtype=dtype)
    x = x if dtype is None else x.to(dtype)
    if order in ("nuc", 2, -2):
        values = svdvals(x.movedim((rows, columns), (-2, -1)))
        values = _some(values, -1, order)
        result = values.sum(-1) if order == "nuc" else values.amax(-1) if order == 2 else values.amin(-1)
    elif isinstance(order, str) or abs(order) not in (1, math.inf):
        raise RuntimeError(f"{name}: Order {order} not supported.")
    else:
        summed, kept = (rows, columns) if abs(order) == 1 else (columns, rows)
        sums = _some(x.abs().sum(summed, True), kept, order)
        result = (sums.amax((kept, summed)) if order > 0 else sums.amin((kept, summed)))
    if keepdim:
        low, high = sorted((rows, columns))
        result = result.unsqueeze(low).unsqueeze(high)
    return result


def _np_matrix_norm(x: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, dtype: Any = None) -> Any:
    return np.linalg.norm(x, ord, tuple(dim), keepdim)


_ORDERS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)
matrix_norm = composite("linalg_matrix_norm(Tensor A, Any ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", dtypes="fc",
                        ulp=64.0, ref=_np_matrix_norm, samples=lambda t: [(batched(t), o) for o in _ORDERS] + [(t((2, 3, 4)), "nuc", (0, 2), True)],
                        doc="The norm of matrices: Frobenius, nuclear, or of order 1, 2, inf and their negatives.")(_matrix_norm)


@composite("linalg_norm(Tensor A, Any ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", dtypes="fc", ulp=64.0,
           ref=lambda x, ord=None, dim=None, keepdim=False, dtype=None: np.linalg.norm(x if ord is not None or dim is not None else x.reshape(-1), ord, dim, keepdim),
           samples=lambda t: [(t((3, 4)),), (t((2, 3)), "nuc"), (t((2, 3, 4)), 1, (0, 2)), (t((5,)), 3)], doc="The norm of vectors or matrices, whichever dim (or the operand) says.")
def linalg_norm(x: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if isinstance(ord, str):
        if dim is not None and len(dim) != 2:
            raise RuntimeError(f"linalg.norm: If ord is a str, dim must be None or a tuple of two; got {dim}")
        if dim is None and x.dim() != 2:
            raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {x.dim()}D.")
        return _matrix_norm(x, ord, (0, 1) if dim is None else dim, keepdim, dtype)
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if dim is None and ord is not None and x.dim() not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {x.dim()}D.")
    if ord is not None and (len(dim) == 2 if dim is not None else x.dim() == 2):
        return _matrix_norm(x, ord, (0, 1) if dim is None else dim, keepdim, dtype)
    return vector_norm(x, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def nuclear(x: Tensor, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """``norm`` of order 'nuc'."""
    if dim is None and x.dim() != 2:
        raise RuntimeError(f"nuclear_norm: Expected a tensor with 2 dimensions, but got {x.dim()}")
    return _matrix_norm(x, "nuc", (0, 1) if dim is None else dim, keepdim, dtype)


@composite("linalg_cond(Tensor A, Any p=None) -> Tensor", dtypes="fc", ulp=256.0, ref=lambda a, p=None: np.linalg.cond(a, p) if a.size else np.zeros(a.shape[:-2]),
           samples=lambda t: [(batched(t),), (batched(t), 1), (batched(t), "fro"), (batched(t), -2)], doc="The condition number in a norm; of order 2 unless p is given.")
def cond(a: Tensor, p: Any) -> Any:
    check_matrix("linalg.cond", a)
    if not a.numel():
        return a.real.new_zeros(a._shape[:-2])
    if p is None or p in (2, -2):
        values = svdvals(a)
        largest, smallest = values.amax(-1), values.amin(-1)
        return smallest / largest if p == -2 else largest / smallest
    if p not in _ORDERS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_square("linalg.cond", a)
    inverse, info = inv_ex(a)
    found = _matrix_norm(a, p, (-2, -1), False, None) * _matrix_norm(inverse, p, (-2, -1), False, None)
    return found.masked_fill(info > 0, math.inf)


# rank and pseudo-inverse


def _values(a: Array, hermitian: bool) -> Array:
    return np.abs(np.linalg.eigvalsh(a)) if hermitian else np.linalg.svd(a, compute_uv=False)


def _threshold(a: Array, largest: Array, atol: Any, rtol: Any) -> Array:
    """max(atol, rtol * the largest value); without rtol, machine precision times the extent unless atol is positive."""
    if rtol is None:
        default = np.finfo(a.real.dtype).eps * max(a.shape[-2:])
        rtol = default if atol is None else np.where(np.asarray(atol) > 0, 0.0, default)
    return np.maximum(np.asarray(0.0 if atol is None else atol), np.asarray(rtol) * largest)


def _matrix_rank(a: Array, tol: Any, hermitian: bool, atol: Any, rtol: Any) -> Array:
    check_matrix("linalg.matrix_rank", a)
    if tol is not None:
        atol, rtol = tol, 0.0
    values = _values(a, hermitian)
    largest = values.max(-1, initial=0)
    return np.asarray((values > _threshold(a, largest, atol, rtol)[..., None]).sum(-1), np.int64)


matrix_rank = host("linalg_matrix_rank(Tensor A, Any tol=None, bool hermitian=False, *, Any atol=None, Any rtol=None) -> Tensor", _matrix_rank,
                   ref=lambda a, tol=None, hermitian=False, atol=None, rtol=None: np.linalg.matrix_rank(a, tol, hermitian), samples=lambda t: [(batched(t),), (batched(t), 3.0)],
                   doc="The number of singular values above a threshold.")


def _pinv(a: Array, rcond: Any, hermitian: bool, atol: Any, rtol: Any) -> Array:
    check_matrix("linalg.pinv", a)
    if rcond is not None:
        atol, rtol = 0.0, rcond
    if not a.size:
        return np.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    if hermitian:
        values, u = np.linalg.eigh(a)
        vh = np.conj(np.swapaxes(u, -1, -2))
    else:
        u, values, vh = np.linalg.svd(a, full_matrices=False)
    keep = np.abs(values) > _threshold(a, np.abs(values).max(-1), atol, rtol)[..., None]
    inverse = np.where(keep, 1 / np.where(keep, values, 1), 0)
    return (np.conj(np.swapaxes(vh, -1, -2)) @ (inverse[..., None] * np.conj(np.swapaxes(u, -1, -2)))).astype(a.dtype)


def pinv_vjp(g: Tensor, p: Tensor, a: Tensor) -> Any:
    """Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate", 1973."""
    gh, ph = mh(g), mh(p)
    if a._shape[-2] <= a._shape[-1]:
        k = gh @ p
        kph = k @ ph
        return kph - mh(p @ k) - (a @ p) @ kph + (ph @ p) @ (gh - k @ a)
    k = p @ gh
    phk = ph @ k
    return phk - mh(k @ p) + (gh - a @ k) @ p @ ph - (phk @ p) @ a


pinv = host("linalg_pinv(Tensor A, Any rcond=None, bool hermitian=False, *, Any atol=None, Any rtol=None) -> Tensor", _pinv, lambda g, A, out: pinv_vjp(g, out, A),
            ref=lambda a, rcond=None, hermitian=False, atol=None, rtol=None: np.linalg.pinv(a, rcond) if rcond is not None else np.linalg.pinv(a),
            samples=lambda t: [(batched(t),), (t((2, 4, 3)),), (t((2, 3, 4)), 1e-6)], doc="The Moore-Penrose inverse; singular values below a threshold count as 0.")
pinverse = composite("pinverse(Tensor self, float rcond=1e-15) -> Tensor", ref=lambda a, rcond=1e-15: np.linalg.pinv(a, rcond), dtypes="fc", ulp=64.0,
                     samples=lambda t: [(batched(t),)], doc="The older name of linalg.pinv.")(lambda a, rcond: pinv(a, rcond))


# least squares


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _lstsq(a: Array, b: Array, rcond: float | None, driver: str | None) -> Any:
    check_matrix("linalg.lstsq", a)
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = b.ndim == a.ndim - 1
    if not vector and b.ndim != a.ndim:
        raise ShapeError("torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1")
    rhs = b[..., None] if vector else b
    m, n = a.shape[-2:]
    if rhs.shape[-2] != m:
        raise ShapeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({'-1' if vector else '-2'})")
    batch = np.broadcast_shapes(a.shape[:-2], rhs.shape[:-2])
    a, rhs = np.broadcast_to(a, (*batch, m, n)), np.broadcast_to(rhs, (*batch, m, rhs.shape[-1]))
    cut = np.finfo(a.real.dtype).eps * max(m, n) if rcond is None else rcond
    x, _, rank, values = each(lambda p, q: np.linalg.lstsq(p, q, cut), a, rhs)
    none = np.zeros(0, a.real.dtype)
    full = m > n and driver != "gelsy" and bool((rank == n).all())
    residuals = (np.abs(rhs - a @ x) ** 2).sum(-2) if full else none
    x = (x[..., 0] if vector else x).astype(b.dtype)
    residuals = residuals[..., 0] if vector and residuals.size else residuals
    ranks = rank.astype(np.int64) if driver != "gels" else np.zeros(0, np.int64)
    return x, residuals.astype(a.real.dtype), ranks, values.astype(a.real.dtype) if driver in ("gelsd", "gelss") else none


def _lstsq_vjp(g: Any, A: Tensor, B: Tensor) -> Any:
    """X = A^+ B. At the optimum the residuals depend on A and B alone, not through X."""
    vector = len(B._shape) == len(A._shape) - 1
    gx, b = (t.unsqueeze(-1) if vector else t for t in (g[0], B))
    p = pinv(A)
    x = p @ b
    ga, gb = pinv_vjp(gx @ mh(b), p, A), mh(p) @ gx
    if g[1].numel():
        off = (b - A @ x) * (g[1].unsqueeze(-1) if vector else g[1]).unsqueeze(-2) * 2
        ga, gb = ga - off @ mh(x), gb + off
    return ga, gb.squeeze(-1) if vector else gb


def _np_lstsq(a: Any, b: Any, rcond: Any = None, driver: Any = None) -> Any:
    return _lstsq(a, b, rcond, driver)


lstsq = host("linalg_lstsq(Tensor A, Tensor B, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)", _lstsq,
             _lstsq_vjp, ref=_np_lstsq, samples=lambda t: [(batched(t), t((2, 3, 2))), (t((2, 4, 3)), t((2, 4, 2)), {"driver": "gels"})], ulp=256.0,
             doc="The solution of least squares of A X - B, the squared residuals, the rank and the singular values that the driver gives.")


# powers, exponential, products


@composite("matrix_power(Tensor self, int n) -> Tensor", dtypes="ifc", ulp=256.0, ref=lambda a, n: np.linalg.matrix_power(a, n),
           samples=lambda t: [(batched(t), 3), (batched(t), 0)] + ([(batched(t), -2)] if t.dtype.kind > 1 else []), doc="The n-th power of square matrices, the inverse's for negative n.")
def matrix_power(a: Tensor, n: int) -> Any:
    check_square("linalg.matrix_power", a)
    if n == 0:
        return a.masked_fill(a.new_ones((), dtype=bool_), 0) + eye_like(a)  # its gradient is 0
    base = inv(a) if n < 0 else a
    n, result = abs(n), None
    while n:
        if n & 1:
            result = base if result is None else result @ base
        n >>= 1
        base = base @ base if n else base
    return result.clone() if result is a else result


linalg_matrix_power = alias("linalg_matrix_power(Tensor A, int n) -> Tensor", matrix_power)


def _expm(a: Array) -> Array:
    from scipy.linalg import expm
    check_square("linalg.matrix_exp", a)
    return expm(a).astype(a.dtype) if a.size else a.copy()  # type: ignore[no-any-return]


def _expm_vjp(g: Tensor, self: Tensor) -> Any:
    """The derivative is the upper right block of exp [[A^H, G], [0, A^H]] (Mathias, "A chain rule for matrix functions", 1996)."""
    a, n = mh(self), self._shape[-1]
    both = cat((cat((a, g), -1), cat((g * 0, a), -1)), -2)
    return matrix_exp(both).narrow(-2, 0, n).narrow(-1, n, n)


def _np_expm(a: Any) -> Any:
    from scipy.linalg import expm
    return expm(a)


matrix_exp = host("matrix_exp(Tensor self) -> Tensor", _expm, _expm_vjp, ref=_np_expm, samples=lambda t: [(t((2, 3, 3), -1, 1),)], ulp=256.0,
                  doc="The exponential of square matrices.")
linalg_matrix_exp = alias("linalg_matrix_exp(Tensor A) -> Tensor", matrix_exp)


def _chain(sizes: Sequence[int]) -> list[list[int]]:
    """Where to split a chain of products so that it costs least (Cormen et al., "Introduction to Algorithms", matrix-chain multiplication)."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i][j], split[i][j] = min(options)
    return split


@composite("linalg_multi_dot(Tensor[] tensors) -> Tensor", dtypes="ifc", ulp=256.0, ref=lambda tensors: np.linalg.multi_dot(tensors),
           samples=lambda t: [((t((2, 3)), t((3, 4)), t((4, 2))),), ((t((3,)), t((3, 4)), t((4,))),)], doc="The product of many matrices, in the cheapest order.")
def multi_dot(tensors: Sequence[Tensor]) -> Any:
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0].dim() == 1, tensors[-1].dim() == 1
    ready = [t.unsqueeze(0) if i == 0 and first else t.unsqueeze(-1) if i == len(tensors) - 1 and last else t for i, t in enumerate(tensors)]
    for i, t in enumerate(ready):
        if t.dim() != 2:
            raise ShapeError(f"multi_dot(): tensor {i} must be 2D but got {tensors[i].dim()}D")
        if i and ready[i - 1]._shape[1] != t._shape[0]:
            raise ShapeError(f"multi_dot(): tensors {i - 1} and {i} with shapes {list(ready[i - 1]._shape)} and {list(t._shape)} cannot be multiplied")
    split = _chain([ready[0]._shape[0], *(t._shape[1] for t in ready)])

    def product(i: int, j: int) -> Any:
        return ready[i] if i == j else product(i, split[i][j]) @ product(split[i][j] + 1, j)
    result = product(0, len(ready) - 1)
    result = result.squeeze(0) if first else result
    return result.squeeze(-1) if last else result


# tensors as matrices


@composite("linalg_tensorinv(Tensor A, int ind=2) -> Tensor", dtypes="fc", ulp=256.0, ref=lambda a, ind=2: np.linalg.tensorinv(a, ind),
           samples=lambda t: [(t.invertible(4).reshape(2, 2, 4), 2), (t.invertible(4).reshape(4, 2, 2), 1)], doc="The inverse of a tensor as a map between its first ind and its other dimensions.")
def tensorinv(a: Tensor, ind: int) -> Any:
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    left, right = a._shape[:ind], a._shape[ind:]
    if math.prod(left) != math.prod(right):
        raise ShapeError(f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {math.prod(right)} != {math.prod(left)}")
    return inv(a.reshape(math.prod(left), math.prod(right))).reshape(*right, *left)


@composite("linalg_tensorsolve(Tensor A, Tensor B, int[]? dims=None) -> Tensor", dtypes="fc", ulp=256.0, ref=lambda a, b, dims=None: np.linalg.tensorsolve(a, b, dims),
           samples=lambda t: [(t.invertible(4).reshape(2, 2, 4), t((2, 2)))], doc="The solution X of tensordot(A, X) = B.")
def tensorsolve(a: Tensor, b: Tensor, dims: Sequence[int] | None) -> Any:
    if dims is not None:
        rank = a.dim()
        moved = [normalize_dim(d, rank) for d in dims]
        a = a.movedim(moved, list(range(rank - len(moved), rank)))
    shape = a._shape[b.dim():]
    n = math.prod(shape)
    if n != b.numel() or math.prod(a._shape[: b.dim()]) != n:
        raise ShapeError(f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got {n} != {b.numel()}")
    return solve(a.reshape(n, n), b.reshape(n)).reshape(shape)
