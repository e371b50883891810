"""CONTRACT rows: the matmul family."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx.ops.families import composite, row
from tensorx.ops.kinds.contract import CONTRACT, Product
from tensorx.tensor import Tensor

mm_ = row("_product(Tensor self, Tensor other) -> Tensor", CONTRACT, lambda a, b: Product(a, b),
          lambda g, self, other, needs: (mm_(g, other.mT.conj()) if needs[0] else None, mm_(self.mT.conj(), g) if needs[1] else None), ref=np.matmul, dtypes="ifc",
          samples=lambda t: [(t((3, 4)), t((4, 5))), (t((2, 3, 4)), t((4, 5))), (t((2, 1, 3, 4)), t((5, 4, 2))), (t((3, 0)), t((0, 2)))],
          ulp=32, public="matmul", doc="Matrix product of the last two dimensions; leading ones broadcast.")


def _addmm_vjp(g: Tensor, self_meta: Any, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any, needs: Any) -> tuple[Any, ...]:
    return (g * beta if beta != 1 else g, mm_(g, mat2.mT.conj()) * alpha if needs[1] else None, mm_(mat1.mT.conj(), g) * alpha if needs[2] else None)


addmm = row("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", CONTRACT,
            lambda c, a, b, beta, alpha: Product(*_matrices("addmm", a, b, 2), c, alpha, beta), _addmm_vjp, dtypes="ifc", ulp=32,
            ref=lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b),
            samples=lambda t: [(t((3, 5)), t((3, 4)), t((4, 5))), (t((5,)), t((3, 4)), t((4, 5)), {"beta": 2, "alpha": 3})],
            doc="beta * self + alpha * (mat1 @ mat2), in one kernel.")
baddbmm = row("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", CONTRACT,
              lambda c, a, b, beta, alpha: Product(*_matrices("baddbmm", a, b, 3), c, alpha, beta),
              lambda g, self_meta, batch1, batch2, beta, alpha, needs: _addmm_vjp(g, self_meta, batch1, batch2, beta, alpha, needs), dtypes="ifc", ulp=32,
              ref=lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b),
              samples=lambda t: [(t((2, 3, 5)), t((2, 3, 4)), t((2, 4, 5)))], doc="beta * self + alpha * (batch1 @ batch2), batch by batch.")


def _matrices(name: str, a: Tensor, b: Tensor, ndim: int) -> tuple[Tensor, Tensor]:
    if len(a._shape) != ndim or len(b._shape) != ndim:
        raise RuntimeError(f"{name}: expected {ndim}D tensors, but got {len(a._shape)}D and {len(b._shape)}D")
    return a, b


@composite("matmul(Tensor self, Tensor other) -> Tensor", ref=np.matmul, dtypes="ifc", symbol="@", ulp=32,
           samples=lambda t: [(t((3, 4)), t((4, 5))), (t((4,)), t((4,))), (t((2, 3, 4)), t((4,))), (t((4,)), t((2, 4, 3))), (t((2, 3, 4)), t((4, 5)))],
           doc="Product of matrices, vectors or batches of them, with NumPy's rules.")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    na, nb = len(a._shape), len(b._shape)
    if not na or not nb:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {na}D and {nb}D")
    if na > 2 and nb <= 2:  # one product with all leading axes joined, instead of a batch of them
        if nb == 1:
            return mm_(a.reshape(math.prod(a._shape[:-1]), a._shape[-1]), b.unsqueeze(1)).reshape(a._shape[:-1])
        if 0 not in a._shape:
            return mm_(a.reshape(-1, a._shape[-1]), b).reshape((*a._shape[:-1], b._shape[-1]))
    r = mm_(a.unsqueeze(0) if na == 1 else a, b.unsqueeze(1) if nb == 1 else b)
    if na == 1:
        r = r.squeeze(-2)
    return r.squeeze(-1) if nb == 1 else r


@composite("mm(Tensor self, Tensor mat2) -> Tensor", ref=np.matmul, dtypes="ifc", ulp=32, samples=lambda t: [(t((3, 4)), t((4, 5)))], doc="Product of two matrices.")
def mm(a: Tensor, b: Tensor) -> Tensor:
    return mm_(*_matrices("mm", a, b, 2))


@composite("bmm(Tensor self, Tensor mat2) -> Tensor", ref=np.matmul, dtypes="ifc", ulp=32, samples=lambda t: [(t((2, 3, 4)), t((2, 4, 5)))],
           doc="Products of two batches of matrices.")
def bmm(a: Tensor, b: Tensor) -> Tensor:
    _matrices("bmm", a, b, 3)
    if a._shape[0] != b._shape[0]:
        raise RuntimeError(f"bmm: batch1 and batch2 must have the same number of batches; got {a._shape[0]} and {b._shape[0]}")
    return mm_(a, b)


@composite("mv(Tensor self, Tensor vec) -> Tensor", ref=np.matmul, dtypes="ifc", ulp=32, samples=lambda t: [(t((3, 4)), t((4,)))], doc="Product of a matrix and a vector.")
def mv(a: Tensor, b: Tensor) -> Tensor:
    return matmul(a, b)


@composite("dot(Tensor self, Tensor tensor) -> Tensor", ref=np.dot, dtypes="ifc", ulp=32, samples=lambda t: [(t((4,)), t((4,)))], doc="Inner product of two vectors.")
def dot(a: Tensor, b: Tensor) -> Tensor:
    if len(a._shape) != 1 or len(b._shape) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(a._shape)}D and {len(b._shape)}D tensors")
    if a._shape != b._shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{a._shape[0]}] and src [{b._shape[0]}] to have the same number of elements")
    return matmul(a, b)


@composite("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", ref=lambda x, w, b=None: x @ w.T + (0 if b is None else b), dtypes="ifc", ulp=32,
           samples=lambda t: [(t((3, 4)), t((5, 4)), t((5,))), (t((2, 3, 4)), t((5, 4)))], doc="input @ weight.T + bias.")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    wt = weight.t()
    if bias is None or len(weight._shape) != 2 or len(x._shape) < 2:
        return matmul(x, wt) if bias is None else matmul(x, wt) + bias
    if len(x._shape) == 2:
        return addmm(bias, x, wt)
    lead = x._shape[:-1]
    if 0 in x._shape:
        return matmul(x, wt) + bias
    return addmm(bias, x.reshape(-1, x._shape[-1]), wt).reshape((*lead, weight._shape[0]))
