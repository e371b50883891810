"""Dropout of whole channels, and alpha dropout. Masks are drawn by Philox, so one seed gives the same bits on every device."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorx import dtypes
from tensorx.ops import expr as E
from tensorx.ops import philox
from tensorx.ops.activations import SELU_ALPHA, SELU_SCALE
from tensorx.ops.dispatch import call
from tensorx.ops.families import elementwise
from tensorx.ops.random import native_dropout, reserve
from tensorx.tensor import Tensor

ALPHA = SELU_ALPHA * SELU_SCALE  # minus the limit of SELU at -inf: what a dropped element becomes


def _statistic(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("random rows have no value oracle")


def _np_by_noise(x: Any, noise: Any) -> Any:
    return x * noise


def _alpha(x, p, seed, offset, kept, dropped):
    keep = philox.uniform(dtypes.float32, seed, offset) >= E.cast(p, dtypes.float32)
    return E.where(keep, kept(x), dropped)


by_noise = elementwise("_by_noise(Tensor self, Tensor noise) -> Tensor", lambda x, noise: E.where(E.eq(noise, 0), 0.0, x * noise),
                       lambda g, out, x, noise: (E.where(E.eq(noise, 0), 0.0, g * noise), E.where(E.eq(noise, 0), 0.0, g * x)), dtypes="f", ref=_np_by_noise,
                       samples=lambda t: [(t((2, 3, 4)), t((2, 3, 1)))], public="dropout", doc="self * noise; 0 where noise is 0.")
alpha_by_noise = elementwise("_alpha_by_noise(Tensor self, Tensor noise, float scale, float shift, float dropped) -> Tensor",
                             lambda x, noise, scale, shift, dropped: E.where(E.eq(noise, 0), dropped, x * scale + shift),
                             lambda g, out, x, noise, scale, shift, dropped: (E.where(E.eq(noise, 0), 0.0, g * scale), None), dtypes="f",
                             ref=lambda x, noise, scale, shift, dropped: x * scale + shift, samples=lambda t: [(t((2, 3, 4)), t.index((2, 3, 1), 1) + 1, 2.0, 0.5, -1.0)],
                             public="alpha_dropout", doc="scale * self + shift; dropped where noise is 0.")
native_alpha_dropout = elementwise(
    "_alpha_dropout(Tensor self, float p, float scale, float shift, float dropped, Seed seed, Seed offset) -> Tensor",
    lambda x, p, scale, shift, dropped, seed, offset: _alpha(x, p, seed, offset, lambda v: v * scale + shift, dropped),
    lambda g, out, x, p, scale, shift, dropped, seed, offset: _alpha(g, p, seed, offset, lambda v: v * scale, 0.0), dtypes="f", ref=_statistic,
    samples=lambda t: [(t((3, 4)), 0.5, 0.75, 0.5, -0.5, 7, 3)], doc="Alpha dropout; backward draws the mask again.")


def check_probability(p: float) -> None:
    """ValueError unless p is in [0, 1]."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _noise(x: Tensor, p: float) -> Tensor:
    """A dropped tensor of ones, one a channel of (N, C, ...)."""
    if len(x._shape) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    ones = x.new_ones((*x._shape[:2], *(1 for _ in x._shape[2:])))
    return call(native_dropout, (ones, float(p), *reserve(None)))  # type: ignore[no-any-return]  # one result


def _coefficients(p: float) -> tuple[float, float, float]:
    """(scale, shift, dropped) that keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    scale = 1 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    shift = ALPHA * scale * p
    return scale, shift, shift - ALPHA * scale


def _family(name: str, doc: str, draw: Callable[[Tensor, float], tuple[Any, tuple[Any, ...]]], channels: bool) -> tuple[Any, Any]:
    """(function, in-place form) of a kind of dropout. ``draw`` gives the row and its arguments for 0 < p < 1."""
    def run(input: Tensor, p: float, train: bool, inplace: bool) -> Tensor:
        check_probability(p)
        if not train or p == 0 or not input.numel():
            return input
        if channels and len(input._shape) < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        if p == 1:
            return input.mul_(0) if inplace else input * 0
        op, args = draw(input, float(p))
        return call(op, args, (input,) if inplace else None)  # type: ignore[no-any-return]  # one result

    def outofplace(input: Tensor, p: float, train: bool) -> Tensor:
        return run(input, p, train, False)

    def inplace(input: Tensor, p: float, train: bool) -> Tensor:
        return run(input, p, train, True)
    for f, suffix, more in ((outofplace, "", ""), (inplace, "_", " In place.")):
        f.__name__ = f.__qualname__ = name + suffix
        f.__doc__ = (f"{doc}{more} ValueError unless 0 <= p <= 1.\n\n    >>> import tensorx\n"
                     f"    >>> tensorx.{name}{suffix}(tensorx.ones(1, 2), 0.0, True)\n    tensor([[1., 1.]])\n    ")
    return outofplace, inplace


alpha_dropout, alpha_dropout_ = _family(
    "alpha_dropout", "Dropout for SELU: elements become its negative limit with probability ``p``; mean and variance stay.",
    lambda x, p: (native_alpha_dropout, (x, p, *_coefficients(p), *reserve(None))), False)
feature_dropout, feature_dropout_ = _family(
    "feature_dropout", "Dropout of whole channels (dimension 1); the others are scaled by 1 / (1 - p).",
    lambda x, p: (by_noise, (x, _noise(x, p))), True)
feature_alpha_dropout, feature_alpha_dropout_ = _family(
    "feature_alpha_dropout", "Alpha dropout of whole channels (dimension 1).", lambda x, p: (alpha_by_noise, (x, _noise(x, p), *_coefficients(p))), True)
