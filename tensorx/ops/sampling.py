"""Draws from distributions over tensors: multinomial, and the less common fills (Cauchy, geometric, log-normal)."""

from __future__ import annotations

import math
from typing import Any

from tensorx import dtypes
from tensorx.dtypes import dtype as DType
from tensorx.ops import expr as E
from tensorx.ops import factories, philox
from tensorx.ops.arguments import checked
from tensorx.ops.dispatch import call
from tensorx.ops.families import elementwise, row
from tensorx.ops.kinds.create import CREATE
from tensorx.ops.random import KEYS, Generator, _statistic, rand, randint, reserve
from tensorx.ops.searching import searchsorted
from tensorx.ops.table import KEEP, NONDIFF
from tensorx.tensor import Tensor


def _raced(p: E.Expr, seed: E.Expr, offset: E.Expr) -> E.Expr:
    wait = philox.log(1 - philox.uniform(p.dtype, seed, offset)) * -1.0
    return E.where(p > 0, p * philox.reciprocal(wait), -1.0)


_race = elementwise("_race(Tensor p, Seed seed, Seed offset) -> Tensor", _raced, promote=KEEP, ref=_statistic, dtypes="f", samples=lambda t: [(t((3, 4), 0, 1), 7, 3)],
                    public="multinomial", doc="How early each of competing exponential clocks of rate p rings: the order of the largest is a draw without replacement.")
_cauchy = row(f"_cauchy(int[] size, Scalar median, Scalar sigma, *, {KEYS}) -> Tensor", CREATE,
              lambda d, median, sigma, seed, offset: philox.cauchy(d.compute, seed, offset) * sigma + median, NONDIFF, ref=_statistic, dtypes="f",
              samples=lambda t: [((3, 4), 0.0, 1.0, 7, 3)], doc="Cauchy numbers.")
_log_normal = row(f"_log_normal(int[] size, Scalar mean, Scalar std, *, {KEYS}) -> Tensor", CREATE,
                  lambda d, mean, std, seed, offset: philox.exp(philox.normal(d.compute, seed, offset) * std + mean), NONDIFF, ref=_statistic, dtypes="f",
                  samples=lambda t: [((3, 4), 0.0, 1.0, 7, 3)], doc="Numbers whose logarithm is normal.")
_geometric = row(f"_geometric(int[] size, Scalar scale, *, {KEYS}) -> Tensor", CREATE, lambda d, scale, seed, offset: _trials(d, scale, seed, offset), NONDIFF,
                 ref=_statistic, dtypes="f", samples=lambda t: [((3, 4), -1.5, 7, 3)], doc="Trials up to the first success; scale is 1 / log(1 - p).")


def _trials(d: DType, scale: E.Expr, seed: E.Expr, offset: E.Expr) -> E.Expr:
    return E.max(E.ceil(philox.log(1 - philox.uniform(d.compute, seed, offset)) * scale), 1.0)


def _check_weights(p: Tensor) -> None:
    """RuntimeError for weights that no distribution has. Waits for the device, as values decide."""
    bad = ~(p.isfinite() & (p >= 0)).all() | (p.sum(-1) <= 0).any()
    if bad.item():
        if not bool((p.isfinite() & (p >= 0)).all()):
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


@checked
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Indices drawn with the weights in ``input`` (a vector, or one a row), with or without replacement. RuntimeError for weights that are negative,
    not finite or all zero, and for more draws without replacement than there are weights.

    >>> import tensorx
    >>> tensorx.multinomial(tensorx.tensor([0., 0., 3.]), 4, replacement=True)
    tensor([2, 2, 2, 2])
    """
    if input.dim() not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if input.dtype.kind != dtypes.FLOAT:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype.name}")
    k = input._shape[-1]
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > k:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    p = input.detach()
    p = p if p.dtype is p.dtype.compute else p.to(p.dtype.compute)
    if input.numel() and input.device.type not in ("meta", "null"):
        _check_weights(p)
    if not replacement or num_samples == 1:
        found = call(_race, (p, *reserve(generator)))
        drawn = found.argmax(-1, True) if num_samples == 1 else found.topk(num_samples, -1)[1]
    else:
        edges = p.cumsum(-1)
        u = rand((*p._shape[:-1], num_samples), generator=generator, dtype=p.dtype, device=p.device)
        drawn = searchsorted(edges, u * edges.narrow(-1, k - 1, 1), right=True)
    return drawn if out is None else out.resize_(drawn._shape).copy_(drawn)  # type: ignore[no-any-return]


@checked
def randint_like(input: Tensor, *args: Any, low: int | None = None, high: int | None = None, dtype: DType | None = None, layout: Any = None, device: Any = None,
                 requires_grad: bool = False, memory_format: Any = None, generator: Generator | None = None) -> Tensor:
    """``randint_like(input, [low=0,] high)``: integers in [low, high) in the shape, dtype and device of ``input``.

    >>> import tensorx
    >>> tensorx.randint_like(tensorx.zeros(2, 3), 5).shape
    tensorx.Size([2, 3])
    """
    values = list(args)
    high = values.pop() if high is None else high
    low = values.pop() if values else (low or 0)
    made = factories.empty_like(input, dtype=dtype, layout=layout, device=device, memory_format=memory_format)
    drawn = randint(low, high, made._shape, dtype=made.dtype, device=made.device, generator=generator, out=None if made.is_contiguous() else made)
    return drawn.requires_grad_() if requires_grad else drawn


def _floats(name: str, t: Tensor) -> None:
    if t.dtype.kind != dtypes.FLOAT:
        raise NotImplementedError(f'"{name}" not implemented for \'{t.dtype.name}\'')


def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Cauchy numbers, in place."""
    _floats("cauchy_cpu", self)
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return call(_cauchy, (self._shape, median, sigma, *reserve(generator), self.dtype, self.device), (self,))  # type: ignore[no-any-return]


def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None) -> Tensor:
    """Numbers whose logarithm has this mean and standard deviation, in place."""
    _floats("log_normal_cpu", self)
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return call(_log_normal, (self._shape, mean, std, *reserve(generator), self.dtype, self.device), (self,))  # type: ignore[no-any-return]


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """How many trials of probability ``p`` it takes to succeed, in place."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    d = self.dtype if self.dtype.kind == dtypes.FLOAT else dtypes.float32
    args = (self._shape, 1 / math.log1p(-p), *reserve(generator), d, self.device)
    return call(_geometric, args, (self,)) if d is self.dtype else self.copy_(call(_geometric, args))  # type: ignore[no-any-return]


METHODS: dict[str, Any] = {"multinomial": multinomial, "cauchy_": cauchy_, "log_normal_": log_normal_, "geometric_": geometric_}
