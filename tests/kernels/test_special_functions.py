"""Errors of the special functions in units of the last place, against SciPy (f32) and against itself in f64.

Functions with zeros on the way are measured relative to 1, or to their amplitude there.
"""

from __future__ import annotations

import numpy as np
import pytest
from intrinsic_harness import TYPES, Intrinsics

special = pytest.importorskip("scipy.special")


def uniform(low, high, n=4000):
    return np.random.default_rng(7).uniform(low, high, n)


def powers(low, high, n=4000):
    return np.exp(np.random.default_rng(8).uniform(low, high, n))


def signed(x):
    return np.concatenate([x, -x])


P = np.concatenate([powers(-85, -1), uniform(0.001, 0.999), 1 - powers(-15, -2)])
X = signed(np.concatenate([uniform(0, 30), powers(-20, 4)]))
POSITIVE = np.concatenate([uniform(0, 30), powers(-20, 4.4)])
# name: (reference, arguments, bound for f32, bound for f64 in ulp, what errors are relative to beside the value)
UNARY = {
    "erfinv": (special.erfinv, signed(np.concatenate([uniform(0, 1), 1 - powers(-15, -2), powers(-40, -2)])), 6, 12, 0),
    "erfcx": (special.erfcx, np.concatenate([uniform(-9, 9), powers(-20, 80)]), 12, 40, 0),
    "ndtri": (special.ndtri, P, 16, 40, 1e-2),
    "i0": (special.i0, X, 12, 40, 0), "i0e": (special.i0e, X, 8, 12, 0),
    "i1": (special.i1, X, 12, 40, 0), "i1e": (special.i1e, X, 16, 12, 0),
    "k0": (special.k0, POSITIVE, 16, 64, 0), "k0e": (special.k0e, POSITIVE, 12, 32, 0),
    "k1": (special.k1, POSITIVE, 16, 64, 0), "k1e": (special.k1e, POSITIVE, 12, 32, 0),
    "j0": (special.j0, X, 16, 32, 1), "j1": (special.j1, X, 16, 32, 1),
    "y0": (special.y0, POSITIVE, 16, 32, 1), "y1": (special.y1, POSITIVE, 16, 32, 1),
    "digamma": (special.digamma, np.concatenate([uniform(0.01, 40), powers(-10, 20)]), 16, 32, 1),
    "trigamma": (lambda x: special.polygamma(1, x), np.concatenate([uniform(0.01, 40), powers(-6, 12)]), 24, 48, 0),
    "airy_ai": (lambda x: special.airy(x)[0], uniform(-12, 12), 64, 300, 0.5),
}  # fmt: skip
N = 3000
BINARY = {
    "zeta": (special.zeta, (uniform(1.2, 12, N), powers(-2, 5, N)), 48, 150, 0),
    "igamma": (special.gammainc, (np.concatenate([uniform(0.1, 9, N), uniform(10, 300, N)]),) * 2, 200, 600, 0.05),
    "igammac": (special.gammaincc, (np.concatenate([powers(-6, 2, N), uniform(10, 300, N)]),) * 2, 200, 600, 0.05),
}  # fmt: skip


def spread(name, arguments):
    """Pairs for the functions of two: the incomplete gamma functions near and far from a = x."""
    a, b = arguments
    if name in ("igamma", "igammac"):
        b = a * np.random.default_rng(9).uniform(0.3, 2.0, a.size)
    return a, b


@pytest.mark.parametrize("code", ["f32", "f64"])
def test_errors(device, need, code):
    need(code, compiler=True)
    table = UNARY | BINARY
    kernels = {}
    for arity, names in ((1, list(UNARY)), (2, list(BINARY))):
        for name in names:
            kernels[name] = ((code,) * arity, [(f"tx_{name}_{code}", tuple(range(arity)), code)])
    run = Intrinsics(device.runtime, kernels)
    failures = []
    for name, (function, arguments, *bounds, beside) in table.items():
        given = spread(name, arguments) if isinstance(arguments, tuple) else (arguments,)
        given = tuple(x.astype(TYPES[code]) for x in given)
        (got,) = run(name, *given).values()
        with np.errstate(all="ignore"):
            wanted = np.asarray(function(*(x.astype(np.float64) for x in given)))
            scale = np.maximum(np.abs(wanted), beside)
            info = np.finfo(TYPES[code])
            off = np.abs(got.astype(np.float64) - wanted) / np.maximum(scale * info.eps, info.smallest_normal)
            same = (got == wanted) | (np.isnan(got) & np.isnan(wanted)) | (np.abs(wanted) > float(info.max) * 0.99)
        off = np.where(same, 0, off)
        worst = int(np.nanargmax(np.where(np.isnan(off), np.inf, off)))
        if not off[worst] <= bounds[code == "f64"]:
            at = ", ".join(repr(x[worst]) for x in given)
            failures.append(f"{name}_{code}({at}) = {got[worst]!r}, not {wanted[worst]!r}: {off[worst]:.3g} ulp")
    assert not failures, "\n".join(failures)


ORTHOGONAL = {
    "chebyshev_t": special.eval_chebyt, "chebyshev_u": special.eval_chebyu, "hermite_h": special.eval_hermite,
    "hermite_he": special.eval_hermitenorm, "laguerre": special.eval_laguerre, "legendre": special.eval_legendre,
    "chebyshev_v": lambda n, x: special.eval_chebyu(n, x) - np.where(n > 0, special.eval_chebyu(n - 1, x), 0),
    "chebyshev_w": lambda n, x: special.eval_chebyu(n, x) + np.where(n > 0, special.eval_chebyu(n - 1, x), 0),
}  # fmt: skip


def test_orthogonal_polynomials(device, need):
    """Of degree 0 to 12, within and beyond [-1, 1], relative to the polynomial's size there."""
    need(compiler=True)
    run = Intrinsics(
        device.runtime, {n: (("f32", "f32"), [(f"tx_{n}_f32", (0, 1), "f32")]) for n in ORTHOGONAL}
    )
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-1, 1, 2000), rng.uniform(-3, 3, 2000), [1, -1, 0, 1, -1]]).astype(np.float32)
    degree = rng.integers(-1, 13, x.size).astype(np.float32)
    for name, function in ORTHOGONAL.items():
        (got,) = run(name, x, degree).values()
        whole = np.maximum(degree, 0).astype(np.int64)
        wanted = np.where(degree < 0, 0, function(whole, x.astype(np.float64)))
        size = np.abs(function(whole, np.maximum(np.abs(x), 1).astype(np.float64)))
        if name == "laguerre":
            size = np.abs(function(whole, -np.abs(x).astype(np.float64)))
        if name.startswith("hermite"):
            size = hermite_size(name, whole, x)
        assert (np.abs(got - wanted) <= 4e-5 * np.maximum(size, 1)).all(), name


def hermite_size(name, degree, x):
    """The recurrence with all signs positive."""
    step, scale = (2.0, 2.0) if name == "hermite_h" else (1.0, 1.0)
    p, q = np.ones(x.size), step * np.abs(x).astype(np.float64)
    found = np.where(degree == 0, p, q)
    for k in range(1, 13):
        p, q = q, step * np.abs(x) * q + scale * k * p
        found = np.where(degree == k + 1, q, found)
    return found


def test_integers_and_exponents(device, need):
    need(compiler=True)
    calls = {"gcd": (("i32", "i32"), [("tx_gcd_i32", (0, 1), "i32")])}
    calls["frexp"] = (("f32",), [("tx_frexpm_f32", (0,), "f32"), ("tx_frexpe_f32", (0,), "f32")])
    run = Intrinsics(device.runtime, calls)
    rng = np.random.default_rng(4)
    a, b = rng.integers(-1000, 1000, (2, 2000)).astype(np.int32)
    a[:4], b[:4] = [0, 5, 0, -(2**31)], [0, 0, -7, -1]
    assert np.array_equal(run("gcd", a, b)["tx_gcd_i32"], np.gcd(a, b))
    x = np.concatenate([signed(powers(-80, 80)), [0.0, -0.0, 1, 0.5]]).astype(np.float32)
    mantissa, exponent = np.frexp(x)
    got = run("frexp", x)
    assert np.array_equal(got["tx_frexpm_f32"], mantissa) and np.array_equal(got["tx_frexpe_f32"], exponent)
