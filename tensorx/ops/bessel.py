"""Bessel functions and orthogonal polynomials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx.ops import expr as E
from tensorx.ops.families import elementwise
from tensorx.ops.linalg import alias
from tensorx.ops.special import intrinsic, scipy, unary
from tensorx.ops.table import NONDIFF, TO_FLOAT

ENDS = (0.0, 1.0, -1.0, 8.0, math.nan)


def _over(x: Any, f: Any, at_zero: float) -> Any:
    """f / x, and its limit at 0; the divisor is never 0, so that the quotient's own derivative is none there."""
    return E.where(E.eq(x, 0), E.const(at_zero, x.dtype), f / E.where(E.eq(x, 0), E.const(1, x.dtype), x))


i0 = unary("i0(Tensor self)", intrinsic("i0"), lambda g, out, x: g * E.apply("i1", x), scipy("i0"), "Modified Bessel function of order 0.", special=ENDS)
i0e = unary("special_i0e(Tensor input)", intrinsic("i0e"), lambda g, out, x: g * (E.apply("i1e", x) - E.sign(x) * out), scipy("i0e"),
            "exp(-abs(input)) times i0.", special=ENDS)
i1 = unary("special_i1(Tensor input)", intrinsic("i1"), lambda g, out, x: g * (E.apply("i0", x) - _over(x, out, 0.5)), scipy("i1"),
           "Modified Bessel function of order 1.", special=ENDS)
i1e = unary("special_i1e(Tensor input)", intrinsic("i1e"), lambda g, out, x: g * (E.apply("i0e", x) - out * E.sign(x) - _over(x, out, 0.5)), scipy("i1e"),
            "exp(-abs(input)) times i1.", special=ENDS)
alias("special_i0(Tensor input) -> Tensor", i0)
#: Rows without a gradient, as in PyTorch.
for _name, _body, _domain, _doc in (
        ("bessel_j0", "j0", (-12, 12), "Bessel function of the first kind of order 0."), ("bessel_j1", "j1", (-12, 12), "Bessel function of the first kind of order 1."),
        ("bessel_y0", "y0", (0.2, 12), "Bessel function of the second kind of order 0."), ("bessel_y1", "y1", (0.2, 12), "Bessel function of the second kind of order 1."),
        ("modified_bessel_i0", "i0", (-12, 12), "Modified Bessel function of the first kind of order 0."),
        ("modified_bessel_i1", "i1", (-12, 12), "Modified Bessel function of the first kind of order 1."),
        ("modified_bessel_k0", "k0", (0.2, 12), "Modified Bessel function of the second kind of order 0."),
        ("modified_bessel_k1", "k1", (0.2, 12), "Modified Bessel function of the second kind of order 1."),
        ("scaled_modified_bessel_k0", "k0e", (0.2, 12), "exp(input) times modified_bessel_k0."),
        ("scaled_modified_bessel_k1", "k1e", (0.2, 12), "exp(input) times modified_bessel_k1.")):
    unary(f"special_{_name}(Tensor input)", intrinsic(_body), NONDIFF, scipy(_body), _doc, domain=_domain, special=ENDS, ulp=512.0)
airy_ai = unary("special_airy_ai(Tensor input)", intrinsic("airy_ai"), NONDIFF, lambda x: scipy("airy")(x)[0], "Airy's function Ai.", domain=(-6, 4), special=ENDS, ulp=512.0)
spherical_j0 = unary("special_spherical_bessel_j0(Tensor input)", lambda x: E.where(E.isinf(x), E.const(0, x.dtype), _over(x, E.sin(x), 1.0)), NONDIFF,
                     lambda x: np.sinc(x / np.pi), "sin(input) / input, and 1 at 0.", special=ENDS, ulp=512.0)


def _kind(n: Any, x: Any, way: int) -> Any:
    """Chebyshev polynomials of the third (way -1) and fourth kind from those of the second."""
    from scipy import special
    return special.eval_chebyu(n, x) + way * np.where(n > 0, special.eval_chebyu(n - 1, x), 0)


def _degrees(f: Any, shifted: bool = False) -> Any:
    """An oracle of (x, n); degrees are whole, and negative ones give 0."""
    def ref(x: Any, n: Any) -> Any:
        degree = np.trunc(np.asarray(n)).astype(np.int64)
        return np.where(degree < 0, 0.0, f(np.maximum(degree, 0), 2 * x - 1 if shifted else x * 1.0))
    return ref


def _polynomial(name: str, body: str, f: Any, doc: str, shifted: bool = False) -> None:
    elementwise(f"special_{name}(Tensor input, Tensor n) -> Tensor", lambda x, n: E.apply(body, x * 2 - 1 if shifted else x, n), NONDIFF, promote=TO_FLOAT, dtypes="bif",
                ref=_degrees(f, shifted), domain=((0.0, 0.9) if shifted else (-0.9, 0.9), (0, 5)), special=(0.0, 1.0, -1.0, 3.0), ulp=512.0, doc=doc)


for _way, _letter, _order, _f in (("t", "t", "first", scipy("eval_chebyt")), ("u", "u", "second", scipy("eval_chebyu")),
                                  ("v", "v", "third", lambda n, x: _kind(n, x, -1)), ("w", "w", "fourth", lambda n, x: _kind(n, x, 1))):
    _polynomial(f"chebyshev_polynomial_{_letter}", f"chebyshev_{_letter}", _f, f"Chebyshev polynomial of the {_order} kind, of degree n.")
    _polynomial(f"shifted_chebyshev_polynomial_{_letter}", f"chebyshev_{_letter}", _f, f"Chebyshev polynomial of the {_order} kind of 2 input - 1, of degree n.", True)
for _name, _body, _scipy, _who in (("hermite_polynomial_h", "hermite_h", "eval_hermite", "Hermite (physicist's)"), ("hermite_polynomial_he", "hermite_he", "eval_hermitenorm", "Hermite (probabilist's)"),
                                   ("laguerre_polynomial_l", "laguerre", "eval_laguerre", "Laguerre"), ("legendre_polynomial_p", "legendre", "eval_legendre", "Legendre")):
    _polynomial(_name, _body, scipy(_scipy), f"{_who} polynomial of degree n.")
