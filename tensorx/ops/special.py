"""Special functions: gamma and its kin, error functions, logarithms of products, entropies; `tensorx.special` beside the plain names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx.ops import expr as E
from tensorx.ops import unary as U
from tensorx.ops.arithmetic import POINTS
from tensorx.ops.families import composite, elementwise
from tensorx.ops.linalg import alias
from tensorx.ops.reduction import logsumexp
from tensorx.ops.table import TO_FLOAT
from tensorx.tensor import Tensor


def scipy(name: str) -> Any:
    """SciPy's function as an oracle."""
    def run(*args: Any) -> Any:
        from scipy import special
        return getattr(special, name)(*args)
    return run


def unary(schema: str, body: Any, vjp: Any, ref: Any, doc: str, **fields: Any) -> Any:
    """A function of one real number."""
    return elementwise(f"{schema} -> Tensor", body, vjp, ref=ref, doc=doc, **{"promote": TO_FLOAT, "dtypes": "bif", "ulp": 32.0, **fields})


def intrinsic(name: str) -> Any:
    """The body that is one intrinsic."""
    return lambda *args: E.apply(name, *args)


# gamma


lgamma = unary("lgamma(Tensor self)", E.lgamma, lambda g, out, x: g * E.digamma(x), scipy("gammaln"), "Logarithm of the magnitude of the gamma function.",
               domain=(2.3, 7.0), special=(1.0, 2.0, math.inf, math.nan))
digamma = unary("digamma(Tensor self)", E.digamma, lambda g, out, x: g * E.trigamma(x), scipy("digamma"), "Derivative of lgamma.", domain=(0.3, 6.0),
                special=(1.0, 10.0, math.inf, math.nan))
trigamma = unary("_trigamma(Tensor self)", E.trigamma, lambda g, out, x: g * (E.zeta(E.const(3, x.dtype), x) * -2.0), lambda x: scipy("polygamma")(1, x),
                 "Derivative of digamma.", domain=(0.3, 6.0))
zeta = elementwise("special_zeta(Tensor input, Tensor other) -> Tensor", intrinsic("zeta"), lambda g, out, s, q: (NotImplemented, -(g * s * E.zeta(s + 1, q))), promote=TO_FLOAT,
                   dtypes="bif", ref=scipy("zeta"), domain=((1.5, 6.0), (0.5, 5.0)), ulp=64.0, doc="Hurwitz's zeta function, sum of (k + other) ** -input.")


def _polygamma(n: int, x: Any) -> Any:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n < 2:
        return E.digamma(x) if n == 0 else E.trigamma(x)
    return E.zeta(E.const(n + 1, x.dtype), x) * (math.gamma(n + 1) if n < 170 else math.inf) * (-1.0) ** (n + 1)


polygamma = elementwise("polygamma(int n, Tensor self) -> Tensor", _polygamma, lambda g, out, n, x: g * _polygamma(n + 1, x), promote=TO_FLOAT, dtypes="bif", ulp=64.0,
                        ref=lambda n, x: scipy("polygamma")(n, x), samples=lambda t: [(n, t((3, 4), 1, 5)) for n in (0, 1, 2, 4)],
                        doc="The n-th derivative of digamma.")


def _mvlgamma(x: Any, p: int) -> Any:
    if p < 1:
        raise RuntimeError("mvlgamma: p has to be greater than or equal to 1")
    total = E.lgamma(x)
    for i in range(1, p):
        total = total + E.lgamma(x - 0.5 * i)
    return total + p * (p - 1) / 4 * math.log(math.pi)


def _mvlgamma_vjp(g: Any, out: Any, x: Any, p: int) -> Any:
    total = E.digamma(x)
    for i in range(1, p):
        total = total + E.digamma(x - 0.5 * i)
    return g * total


mvlgamma = unary("mvlgamma(Tensor self, int p)", _mvlgamma, _mvlgamma_vjp, lambda x, p: sum(scipy("gammaln")(x - i / 2) for i in range(p)) + p * (p - 1) / 4 * math.log(math.pi),
                 "Logarithm of the multivariate gamma function of dimension p.", samples=lambda t: [(t((3, 4), 3, 6), p) for p in (1, 3)])


def _gamma_density(g: Any, a: Any, x: Any) -> Any:
    """The derivative of P(a, x) in x; that in a is not defined, as in PyTorch."""
    return g * E.exp((a - 1) * E.log(x) - x - E.lgamma(a))


for _schema, _way in (("igamma(Tensor self", 1), ("igammac(Tensor self", -1), ("special_gammainc(Tensor input", 1), ("special_gammaincc(Tensor input", -1)):
    elementwise(f"{_schema}, Tensor other) -> Tensor", intrinsic("igamma" if _way > 0 else "igammac"),
                lambda g, out, a, x, way=_way: (NotImplemented, _gamma_density(g, a, x) if way > 0 else -_gamma_density(g, a, x)), dtypes="f",
                ref=scipy("gammainc" if _way > 0 else "gammaincc"), samples=lambda t: [(t((3, 4), 0.5, 4), t((3, 4), 0.2, 5)), (t((4,), 8, 14), t((3, 4), 8, 16))], ulp=128.0,
                doc=f"The {'lower' if _way > 0 else 'upper'} regularized incomplete gamma function of order self.")


# error functions and the normal distribution


erfinv = unary("erfinv(Tensor self)", E.erfinv, lambda g, out, x: g * (E.exp(out * out) * (math.sqrt(math.pi) / 2)), scipy("erfinv"), "Inverse of erf.",
               domain=(-0.95, 0.95), special=(0.0, 1.0, -1.0, 2.0, math.nan))
erfcx = unary("special_erfcx(Tensor input)", E.erfcx, lambda g, out, x: g * (x * out * 2 - 2 / math.sqrt(math.pi)), scipy("erfcx"), "exp(input ** 2) * erfc(input).",
              domain=(-1.5, 4.0), special=(*POINTS, 30.0, 0.75))


def _ndtr(x: Any) -> Any:
    return E.erfc(x * -math.sqrt(0.5)) * 0.5


def _log_ndtr(x: Any) -> Any:
    """From the scaled function to the left of -1, where the value itself vanishes."""
    t = x * math.sqrt(0.5)
    return E.where(x < -1.0, E.log(E.erfcx(-t) * 0.5) - t * t, E.log1p(E.erfc(t) * -0.5))


ndtr = unary("special_ndtr(Tensor input)", _ndtr, lambda g, out, x: g * (E.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))), scipy("ndtr"),
             "The normal distribution function.", special=POINTS)
ndtri = unary("special_ndtri(Tensor input)", E.ndtri, lambda g, out, x: g * (E.exp(out * out * 0.5) * math.sqrt(2 * math.pi)), scipy("ndtri"), "Inverse of ndtr.",
              domain=(0.0, 0.98), special=(0.0, 1.0, 0.5, -1.0, math.nan))
log_ndtr = unary("special_log_ndtr(Tensor input)", _log_ndtr, lambda g, out, x: g * (math.sqrt(2 / math.pi) / E.erfcx(x * -math.sqrt(0.5))), scipy("log_ndtr"),
                 "Logarithm of the normal distribution function.", special=(0.0, 1.0, -1.0, -40.0, math.inf, math.nan), ulp=64.0)


# logarithms with limits


def _pairs(t: Any) -> Any:
    return [(t((3, 4)), t((3, 4), 0.2, 3)), (t((2, 1, 4)), t((3, 1), 0.2, 3))]


def _xlogy(a: Any, b: Any, log: Any = E.log) -> Any:
    """0 where a is 0, whatever its logarithm; NaN where b is NaN."""
    return E.where(E.isnan(b), b, E.where(E.eq(a, 0), E.const(0, a.dtype), a * log(b)))


xlogy = elementwise("xlogy(Tensor self, Tensor other) -> Tensor", _xlogy,
                    lambda g, out, a, b: (E.where(E.eq(a, 0) & (b <= 0), 0.0, g * E.log(b)), g * a / b), promote=TO_FLOAT, dtypes="bif",
                    ref=scipy("xlogy"), samples=_pairs, doc="self * log(other), and 0 where self is 0.")
special_xlogy = elementwise("special_xlogy(Tensor input, Tensor other) -> Tensor", xlogy.body, xlogy.vjp, promote=TO_FLOAT, dtypes="bif", ref=xlogy.ref,
                            samples=_pairs, doc="input * log(other), and 0 where input is 0.")
xlog1py = elementwise("special_xlog1py(Tensor input, Tensor other) -> Tensor", lambda a, b: _xlogy(a, b, E.log1p),
                      lambda g, out, a, b: (E.where(E.eq(a, 0) & (b <= -1), 0.0, g * E.log1p(b)), g * a / (b + 1)), promote=TO_FLOAT, dtypes="bif",
                      ref=scipy("xlog1py"), samples=_pairs, doc="input * log1p(other), and 0 where input is 0.")


def _entr(x: Any) -> Any:
    return E.where(x < 0, -math.inf, E.where(E.eq(x, 0), 0.0, -(x * E.log(x))))


entr = unary("special_entr(Tensor input)", _entr, lambda g, out, x: g * (-1.0 - E.log(x)), scipy("entr"), "-input * log(input): a term of an entropy.",
             domain=(0.1, 3.0), special=POINTS)


def _clamped(x: Any, eps: Any) -> Any:
    return x if eps is None else E.where(x < eps, eps, E.where(x > 1 - eps, 1 - eps, x))


def _logit(x: Any, eps: Any) -> Any:
    y = _clamped(x, eps)
    return E.log(y / (1 - y))


def _logit_vjp(g: Any, out: Any, x: Any, eps: Any) -> Any:
    slope = g / (x * (1 - x))
    if eps is None:
        return E.where((x < 0) | (x > 1), E.const(math.nan, x.dtype), slope)
    return E.where((x < eps) | (x > 1 - eps), E.const(0, x.dtype), slope)


def _np_logit(x: Any, eps: Any = None) -> Any:
    y = x if eps is None else np.clip(x, eps, 1 - eps)
    return np.log(y / (1 - y))


logit = unary("logit(Tensor self, float? eps=None)", _logit, _logit_vjp, _np_logit, "Inverse of sigmoid; self is limited to [eps, 1 - eps] where eps is given.",
              domain=(0.0, 0.95), samples=lambda t: [(t((3, 4)),), (t((3, 4)), 0.2)])


def _sinc(x: Any) -> Any:
    a = x * math.pi
    return E.where(E.eq(x, 0), E.const(1, x.dtype), E.sin(a) / a)


def _sinc_vjp(g: Any, out: Any, x: Any) -> Any:
    a = x * math.pi
    slope = (a * E.cos(a) - E.sin(a)) / (a * x)
    q = a * a  # near 0 the terms cancel: the series, to a**11 / 5e8
    series = (q * (q * (q * (q / -3991680.0 + 1 / 45360) - 1 / 840) + 1 / 30) - 1 / 3) * a * math.pi
    return g * E.where(E.real(a * a.conj()) < 0.0625, series, slope).conj()


sinc = elementwise("sinc(Tensor self) -> Tensor", _sinc, _sinc_vjp, promote=TO_FLOAT, ref=np.sinc, domain=(-0.1, 0.9), ulp=32.0, samples=lambda t: [(t((3, 4)),)] if t.dtype.kind else [],
                   doc="sin(pi self) / (pi self), and 1 at 0.")


# other names


@composite("special_softmax(Tensor input, int dim, *, ScalarType? dtype=None) -> Tensor", dtypes="f", ulp=16.0, samples=lambda t: [(t((3, 4)), 1)],
           ref=lambda x, dim, dtype=None: np.exp(x) / np.exp(x).sum(dim, keepdims=True), doc="Another name of softmax.")
def special_softmax(x: Tensor, dim: int, dtype: Any) -> Any:
    return (x if dtype is None else x.to(dtype)).softmax(dim)


@composite("special_log_softmax(Tensor input, int dim, *, ScalarType? dtype=None) -> Tensor", dtypes="f", ulp=16.0, samples=lambda t: [(t((3, 4)), 1)],
           ref=lambda x, dim, dtype=None: np.log(np.exp(x) / np.exp(x).sum(dim, keepdims=True)), doc="Another name of log_softmax.")
def special_log_softmax(x: Tensor, dim: int, dtype: Any) -> Any:
    return (x if dtype is None else x.to(dtype)).log_softmax(dim)


_SAME = {"expit": U.sigmoid, "exp2": U.exp2, "expm1": U.expm1, "log1p": U.log1p, "erf": U.erf, "erfc": U.erfc, "erfinv": erfinv, "gammaln": lgamma,
         "digamma": digamma, "psi": digamma, "sinc": sinc}
for _name, _op in _SAME.items():
    alias(f"special_{_name}(Tensor input) -> Tensor", _op)
for _schema, _op in (("logit(Tensor input, float? eps=None)", logit),
                     ("round(Tensor input, *, int decimals=0)", U.round),
                     ("polygamma(int n, Tensor input)", polygamma), ("multigammaln(Tensor input, int p)", mvlgamma),
                     ("logsumexp(Tensor input, int[1] dim, bool keepdim=False)", logsumexp)):
    alias(f"special_{_schema} -> Tensor", _op)
METHODS: dict[str, Any] = {"polygamma": lambda self, n: polygamma(n, self), "polygamma_": lambda self, n: self.copy_(polygamma(n, self))}
__all__ = ["METHODS", "digamma", "entr", "erfinv", "lgamma", "polygamma", "sinc", "zeta"]
