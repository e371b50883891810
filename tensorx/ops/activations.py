"""Activation rows. Rules select their branch before they use exp, so that neither they nor their own gradients meet inf * 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import DTypeError, ZeroDivision
from tensorx.ops import expr as E
from tensorx.ops import philox
from tensorx.ops.arithmetic import given
from tensorx.ops.dispatch import call
from tensorx.ops.families import composite, elementwise
from tensorx.ops.random import reserve
from tensorx.ops.table import KEEP, TO_FLOAT
from tensorx.tensor import Tensor, normalize_dim

POINTS = (0.0, -0.0, 1.0, -1.0, 100.0, -100.0, np.inf, -np.inf, np.nan)
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805  # Klambauer et al., "Self-normalizing neural networks", 2017


def logistic(x):
    """The sigmoid for use in rules: differentiable again without inf * 0, on either side of zero."""
    e = E.exp(E.where(x >= 0, -x, x))
    return E.where(x >= 0, 1 / (1 + e), e / (1 + e))


def below(x, limit=0.0):
    """``x`` where it is at most ``limit`` (or NaN), else 0: the operand of an exp that is not selected elsewhere."""
    return E.where(x > limit, 0.0, x)


def np_sigmoid(x):
    return 1 / (1 + np.exp(-x))


# exponentials


def _negative(x):
    """``x`` where negative (or NaN), else 0, so that the second derivative of ELU at 0 is 0."""
    return E.where(x >= 0, 0.0, x)


def _elu(x, alpha, scale, input_scale):
    return E.where(x > 0, x * scale, E.expm1(_negative(x) * input_scale) * (alpha * scale))


def _elu_vjp(g, out, x, alpha, scale, input_scale):
    return E.where(x > 0, g * scale, g * (E.exp(_negative(x) * input_scale) * (alpha * scale * input_scale)))


def _np_elu(x, alpha=1.0, scale=1.0, input_scale=1.0):
    return scale * np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x) * input_scale))


elu = elementwise("elu(Tensor self, float alpha=1.0, float scale=1.0, float input_scale=1.0) -> Tensor", _elu, _elu_vjp, dtypes="f", special=POINTS, ref=_np_elu,
                  samples=lambda t: [(t((3, 4)),), (t((3, 4)), 0.7), (t((2, 3, 2)), 0.7, 1.5, 0.5)],
                  doc="scale * self where positive, else scale * alpha * (exp(input_scale * self) - 1).")
selu = elementwise("selu(Tensor self) -> Tensor", lambda x: _elu(x, SELU_ALPHA, SELU_SCALE, 1.0), lambda g, out, x: _elu_vjp(g, out, x, SELU_ALPHA, SELU_SCALE, 1.0),
                   dtypes="f", special=POINTS, ref=lambda x: _np_elu(x, SELU_ALPHA, SELU_SCALE),
                   doc="ELU with the scales that keep mean 0 and variance 1 from layer to layer.")

_celu = elementwise("_celu(Tensor self, float alpha) -> Tensor", lambda x, a: _elu(x, a, 1.0, 1 / a), lambda g, out, x, a: _elu_vjp(g, out, x, a, 1.0, 1 / a),
                    dtypes="f", ref=lambda x, alpha: _np_elu(x, alpha, 1.0, 1 / alpha), samples=lambda t: [(t((3, 4)), 1.0), (t((3, 4)), 2.0)],
                    doc="self where positive, else alpha * (exp(self / alpha) - 1).")


def _check_alpha(alpha: float) -> None:
    if alpha == 0:
        raise ZeroDivision("celu: ZeroDivisionError: argument 'alpha' must not be 0")


@composite("celu(Tensor self, float alpha=1.0) -> Tensor", dtypes="f", ref=lambda x, alpha=1.0: _np_elu(x, alpha, 1.0, 1 / alpha),
           samples=lambda t: [(t((3, 4)),), (t((3, 4)), 2.0)], doc="self where positive, else alpha * (exp(self / alpha) - 1).")
def celu(x: Any, alpha: float) -> Any:
    _check_alpha(alpha)
    return _celu(x, alpha)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`celu` in place.

    >>> import tensorx
    >>> tensorx.celu_(tensorx.tensor([-1., 2.]))
    tensor([-0.6321,  2.0000])
    """
    _check_alpha(alpha)
    return call(_celu, (input, float(alpha)), (input,))


def _softplus(x, beta, threshold):
    y = x * beta
    return E.where(y > threshold, x, E.log1p(E.exp(below(y, threshold))) / beta)


def _softplus_vjp(g, out, x, beta, threshold):
    y = x * beta
    return E.where(y > threshold, g, g * logistic(y))


softplus = elementwise("softplus(Tensor self, float beta=1.0, float threshold=20.0) -> Tensor", _softplus, _softplus_vjp, dtypes="f", special=POINTS, ulp=16.0,
                       ref=lambda x, beta=1.0, threshold=20.0: np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta),
                       samples=lambda t: [(t((3, 4)),), (t((3, 4)), 0.5), (t((3, 4)), 2.0, 3.0)],
                       doc="log(1 + exp(beta * self)) / beta; self where beta * self is above threshold.")


def _no_bool(x):
    """``x``; DTypeError if promotion made it of a bool."""
    if given(x).kind == dtypes.BOOL:
        raise DTypeError("operands must be numbers; got bool. Hint: cast with .to()")
    return x


def _softsign_vjp(g, out, x):
    r = E.abs(x)
    if not x.dtype.is_complex:
        return g / ((1 + r) * (1 + r))
    inner = E.real(g) * E.real(x) + E.imag(g) * E.imag(x)
    return g / (1 + r) - x * E.where(E.eq(r, 0), 0.0, inner / (r * (1 + r) * (1 + r)))


softsign = elementwise("softsign(Tensor self) -> Tensor", lambda x: _no_bool(x) / (1 + E.abs(x)), _softsign_vjp, dtypes="ifc", promote=TO_FLOAT, special=(0.0, -1.0, 1e3),
                       ref=lambda x: x / (1 + np.abs(x)), doc="self / (1 + abs(self)).")
log_sigmoid = elementwise("logsigmoid(Tensor self) -> Tensor", lambda x: E.min(x, 0) - E.log1p(E.exp(-E.abs(x))), lambda g, out, x: g * logistic(-x), dtypes="f",
                          special=POINTS, ref=lambda x: -np.logaddexp(0, -x), doc="log(sigmoid(self)) without overflow.")
tanhshrink = elementwise("tanhshrink(Tensor self) -> Tensor", lambda x: x - E.tanh(x), lambda g, out, x: g * (E.tanh(x) * E.tanh(x)).conj(), promote=TO_FLOAT, ulp=64.0,
                         special=(0.0, 1.0, 100.0, -100.0, np.nan), ref=lambda x: x - np.tanh(x), doc="self - tanh(self).")


def _mish_parts(x):
    """exp(x), and n with tanh(log(1 + exp(x))) = n / (n + 2); beyond 20 the tanh is 1 in double precision."""
    e = E.exp(below(x, 20.0))
    return e, e * (e + 2)


def _mish(x):
    _, n = _mish_parts(x)
    return E.where(x > 20, x, x * (n / (n + 2)))


def _mish_vjp(g, out, x):
    e, n = _mish_parts(x)
    low = E.where(x > 20, 0.0, E.where(E.eq(e, 0), 0.0, x))  # -inf * 0 is no slope
    return E.where(x > 20, g, g * (n / (n + 2) + low * (4 * e * (e + 1) / ((n + 2) * (n + 2)))))


mish = elementwise("mish(Tensor self) -> Tensor", _mish, _mish_vjp, dtypes="f", ulp=16.0, special=(0.0, -0.0, 1.0, -1.0, 30.0, np.inf, np.nan),
                   ref=lambda x: x * np.tanh(np.logaddexp(0, x)), doc="self * tanh(softplus(self)).")


# piecewise linear


leaky_relu = elementwise("leaky_relu(Tensor self, float negative_slope=0.01) -> Tensor", lambda x, a: E.where(x > 0, x, x * a),
                         lambda g, out, x, a: E.where(x > 0, g, g * a), dtypes="f", special=POINTS,
                         ref=lambda x, negative_slope=0.01: np.where(x > 0, x, x * negative_slope), samples=lambda t: [(t((3, 4)),), (t((3, 4)), 0.3)],
                         doc="self where positive, else negative_slope * self.")
hardswish = elementwise("hardswish(Tensor self) -> Tensor", lambda x: x * (E.min(E.max(x + 3, 0), 6) / 6),
                        lambda g, out, x: E.where(x <= -3, 0.0, E.where(x < 3, g * (x / 3 + 0.5), g)), dtypes="f", special=(0.0, 3.0, -3.0, 4.0, -4.0, np.nan),
                        ref=lambda x: x * np.clip(x + 3, 0, 6) / 6, domain=(-5, 5), doc="self * relu6(self + 3) / 6.")
hardsigmoid = elementwise("hardsigmoid(Tensor self) -> Tensor", lambda x: E.min(E.max(x + 3, 0), 6) / 6, lambda g, out, x: E.where((x > -3) & (x < 3), g / 6, 0.0),
                          dtypes="f", special=(0.0, 3.0, -3.0, 4.0, -4.0, np.inf, -np.inf, np.nan), domain=(-5, 5), ref=lambda x: np.clip(x + 3, 0, 6) / 6,
                          doc="relu6(self + 3) / 6.")
hardshrink = elementwise("hardshrink(Tensor self, float lambd=0.5) -> Tensor", lambda x, w: E.where((x >= -w) & (x <= w), 0.0, x),
                         lambda g, out, x, w: E.where((x >= -w) & (x <= w), 0.0, g), dtypes="f", special=(0.0, 0.5, -0.5, np.inf, np.nan),
                         ref=lambda x, lambd=0.5: np.where((x >= -lambd) & (x <= lambd), 0, x), samples=lambda t: [(t((3, 4)),), (t((3, 4)), 1.25)],
                         doc="self outside of [-lambd, lambd], else 0.")
soft_shrink = elementwise("_softshrink(Tensor self, float lambd) -> Tensor", lambda x, w: E.where(x > w, x - w, E.where(x < -w, x + w, E.where(E.isnan(x), x, 0.0))),
                          lambda g, out, x, w: E.where((x >= -w) & (x <= w), 0.0, g), dtypes="f",
                          ref=lambda x, lambd: np.where(np.isnan(x), x, np.sign(x) * np.maximum(abs(x) - lambd, 0)),
                          samples=lambda t: [(t((3, 4)), 0.5), (t((3, 4)), 1.25)], doc="self moved towards 0 by lambd, and 0 in between.")


@composite("softshrink(Tensor self, float lambd=0.5) -> Tensor", dtypes="f", ref=lambda x, lambd=0.5: np.sign(x) * np.maximum(abs(x) - lambd, 0),
           samples=lambda t: [(t((3, 4)),), (t((3, 4)), 1.25)], doc="self moved towards 0 by lambd, and 0 in between.")
def softshrink(x: Any, lambd: float) -> Any:
    if lambd < 0:
        raise RuntimeError(f"softshrink: argument 'lambd' must be greater or equal to 0; got {lambd}")
    return soft_shrink(x, lambd)


def _as_given(number, x):
    """A limit as the operand's dtype holds it: 2.5 is 2 for integers."""
    return E.cast(E.cast(number, given(_no_bool(x))), x.dtype)


threshold = elementwise("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
                        lambda x, low, value: E.where(x <= _as_given(low, x), _as_given(value, x), x), lambda g, out, x, low, value: E.where(x <= low, 0.0, g),
                        promote=KEEP, dtypes="if", ref=lambda x, threshold, value: np.where(x <= threshold, value, x),
                        samples=lambda t: [(t((3, 4)), 1, 2), (t((2, 3, 2)), 0, -1)], doc="self where above threshold, else value.")
hardtanh = elementwise("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
                       lambda x, low, high: E.min(E.max(x, _as_given(low, x)), _as_given(high, x)),
                       lambda g, out, x, low, high: E.where((x <= low) | (x >= high), 0.0, g), promote=KEEP, dtypes="if",
                       ref=lambda x, min_val=-1, max_val=1: np.clip(x, min_val, max_val), samples=lambda t: [(t((3, 4)), 0, 1), (t((3, 4)), 0, 2)],
                       doc="Values limited to [min_val, max_val]; no gradient at the ends.")
_prelu = elementwise("_prelu_kernel(Tensor self, Tensor weight) -> Tensor", lambda x, w: E.where(x > 0, x, x * w),
                     lambda g, out, x, w: (E.where(x > 0, g, g * w), E.where(x > 0, 0.0, g * x)), dtypes="f",
                     ref=lambda x, weight: np.where(x > 0, x, x * weight), public="prelu", doc="self where positive, else weight * self.")


def _np_prelu(x, weight):
    return np.where(x > 0, x, x * (weight if weight.size == 1 else weight.reshape([-1 if i == 1 else 1 for i in range(x.ndim)])))


@composite("prelu(Tensor self, Tensor weight) -> Tensor", dtypes="f", ref=_np_prelu,
           samples=lambda t: [(t((3, 4)), t((1,))), (t((2, 3, 4)), t((3,))), (t((2, 3)), t(()))],
           doc="self where positive, else weight * self, with one weight or one a channel (dimension 1).")
def prelu(x: Tensor, weight: Tensor) -> Any:
    if x.dtype is not weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {x.dtype.name} and {weight.dtype.name}")
    if len(weight._shape) > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {len(weight._shape)}")
    if weight.numel() != 1:
        if not x._shape:
            raise RuntimeError("prelu: Not allow zero-dim input tensor.")
        channels = x._shape[1] if len(x._shape) > 1 else 1
        if channels != weight.numel():
            raise RuntimeError("prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                               f"{weight.numel()} and channel size = {channels}.")
    rank = len(x._shape)
    return _prelu(x, weight.reshape([weight.numel() if i == min(1, rank - 1) else 1 for i in range(rank)]) if weight._shape else weight)


# gates


gate = elementwise("_gate(Tensor self, Tensor other) -> Tensor", lambda a, b: a * E.sigmoid(b),
                   lambda g, out, a, b: (g * logistic(b), g * a * (logistic(b) * logistic(-b))), dtypes="f", ref=lambda a, b: a * np_sigmoid(b), ulp=8.0,
                   public="glu", doc="self * sigmoid(other).")


def _np_glu(x, dim=-1):
    a, b = np.split(x, 2, dim)
    return a * np_sigmoid(b)


@composite("glu(Tensor self, int dim=-1) -> Tensor", dtypes="f", ulp=8.0, ref=_np_glu, samples=lambda t: [(t((3, 4)),), (t((4, 3)), 0)],
           doc="The first half along dim times the sigmoid of the second.")
def glu(x: Any, dim: int) -> Any:
    if not x._shape:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    n = x._shape[normalize_dim(dim, len(x._shape), "glu")]
    if n % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {n}")
    return gate(x.narrow(dim, 0, n // 2), x.narrow(dim, n // 2, n // 2))


# random slopes


def _statistic(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("random rows have no value oracle")


def _slope(x, lower, upper, seed, offset):
    u = E.cast(philox.uniform(dtypes.float32, seed, offset), x.dtype)
    return u * (upper - lower) + lower


random_leaky = elementwise("_rrelu(Tensor self, float lower, float upper, Seed seed, Seed offset) -> Tensor",
                           lambda x, lower, upper, seed, offset: E.where(x <= 0, x * _slope(x, lower, upper, seed, offset), x),
                           lambda g, out, x, lower, upper, seed, offset: E.where(x <= 0, g * _slope(x, lower, upper, seed, offset), g), dtypes="f", ref=_statistic,
                           samples=lambda t: [(t((3, 4)), 0.1, 0.3, 7, 3)], doc="self where positive, else self times a random slope; backward draws it again.")


def rrelu(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, generator: Any = None, *, inplace: bool = False) -> Tensor:
    """``input`` where positive, else times a slope: random in [lower, upper) in training, else their mean.

    >>> import tensorx
    >>> tensorx.rrelu(tensorx.tensor([-1., 2.]), 0.25, 0.75)
    tensor([-0.5000,  2.0000])
    """
    if lower > upper or not (math.isfinite(lower) and math.isfinite(upper)):
        raise RuntimeError(f"rrelu: Lower bound should be less than or equal to the upper bound; got {lower} and {upper}")
    op, args = (random_leaky, (input, lower, upper, *reserve(generator))) if training else (leaky_relu, (input, (lower + upper) / 2))
    return call(op, args, (input,) if inplace else None)


def rrelu_(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, generator: Any = None) -> Tensor:
    """`rrelu` in place.

    >>> import tensorx
    >>> tensorx.rrelu_(tensorx.tensor([-1., 2.]), 0.25, 0.75)
    tensor([-0.5000,  2.0000])
    """
    return rrelu(input, lower, upper, training, generator, inplace=True)
