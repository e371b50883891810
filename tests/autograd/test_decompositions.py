"""Gradients of matrix factorings through functions that do not see the arbitrary phases of complex vectors."""

from __future__ import annotations

import numpy as np
import pytest

import tensorx
from tensorx.autograd import gradcheck, gradgradcheck


def matrix(shape, device, kind="c128"):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape)
    if kind == "c128":
        x = x + 1j * rng.standard_normal(shape)
    return tensorx.tensor(x, device=device).requires_grad_()


def adjoint(x):
    return x.mT.conj()


def hermitian(f):
    return lambda x: f(x + adjoint(x))


def definite(f):
    return lambda x: f(x @ adjoint(x) + tensorx.eye(x.shape[-1], dtype=x.dtype, device=x.device))


def eigh(x):
    values, vectors = tensorx.linalg.eigh(x)
    return values, vectors.abs(), vectors[..., :1] @ adjoint(vectors[..., :1])


def eig(x):
    values, vectors = tensorx.linalg.eig(x)
    return values.abs().sum(), vectors.abs().sum()


def svd(x):
    u, s, vh = tensorx.linalg.svd(x, False)
    return u.abs(), s, vh.abs(), (u * s.exp().unsqueeze(-2).to(u.dtype)) @ vh


def qr(x):
    q, r = tensorx.linalg.qr(x)
    return q.abs(), r.abs(), q @ adjoint(q)


def lu(x):
    _, low, up = tensorx.linalg.lu(x)
    return low, up


SQUARE = {
    "eigh": hermitian(eigh), "eig": eig, "svd": svd, "qr": qr, "lu": lu,
    "cholesky": definite(tensorx.linalg.cholesky), "eigvalsh": hermitian(tensorx.linalg.eigvalsh),
    "slogdet": lambda x: tuple(tensorx.linalg.slogdet(x)), "logdet": definite(tensorx.logdet),
    "pinv": tensorx.linalg.pinv, "matrix_exp": tensorx.linalg.matrix_exp, "inv": tensorx.linalg.inv,
}  # fmt: skip
ORIENTED = {"svd": svd, "qr": qr, "lu": lu, "pinv": tensorx.linalg.pinv, "svdvals": tensorx.linalg.svdvals}


@pytest.mark.parametrize("kind", ["f64", "c128"])
@pytest.mark.parametrize("name", SQUARE)
def test_square(name, kind, device, need):
    need("f64", kind)
    x = matrix((3, 3), device, kind)
    assert gradcheck(SQUARE[name], (x,), fast_mode=True)
    assert gradgradcheck(SQUARE[name], (x,), fast_mode=True)


@pytest.mark.parametrize("kind", ["f64", "c128"])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
@pytest.mark.parametrize("name", ORIENTED)
def test_oriented(name, shape, kind, device, need):
    need("f64", kind)
    x = matrix((2, *shape), device, kind)
    assert gradcheck(ORIENTED[name], (x,), fast_mode=True)
    assert gradgradcheck(ORIENTED[name], (x,), fast_mode=True)


def test_determinant_of_a_singular_matrix(device, need):
    need("f64")
    x = tensorx.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=tensorx.float64, device=device, requires_grad=True)
    assert gradcheck(tensorx.det, (x,))
    x = tensorx.zeros(3, 3, dtype=tensorx.float64, device=device, requires_grad=True)
    assert gradcheck(tensorx.det, (x,))
