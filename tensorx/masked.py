"""Reductions and normalisations that leave elements out: ``mask`` is True where an element takes part.

>>> import tensorx
>>> x, mask = tensorx.tensor([1., 2., 4.]), tensorx.tensor([True, False, True])
>>> tensorx.masked.mean(x, mask=mask)
tensor(2.5000)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorx as tx
from tensorx.dtypes import INT
from tensorx.ops.scatters import neutral
from tensorx.tensor import Tensor, normalize_dim

Dim = int | Sequence[int] | None


def _dims(x: Tensor, dim: Dim) -> tuple[int, ...]:
    """The dimensions that are reduced, from the front; all for None and ()."""
    given = (dim,) if isinstance(dim, int) else tuple(dim or ())
    return tuple(normalize_dim(d, x.dim(), "masked") for d in given) or tuple(range(x.dim()))


def _full(x: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask in the shape of ``x``. IndexError for one of more dimensions."""
    if mask is None:
        return None
    if mask.dim() > x.dim():
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return mask.to(tx.bool).expand(x.shape)


def _without(x: Tensor, mask: Tensor | None, value: Any, dtype: Any = None) -> Tensor:
    """``x`` with ``value`` where it is left out."""
    x = x if dtype is None else x.to(dtype)
    full = _full(x, mask)
    return x if full is None else x.masked_fill(~full, value)


def _count(x: Tensor, mask: Tensor | None, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """How many elements take part."""
    full = _full(x, mask)
    return (tx.ones_like(x, dtype=tx.bool) if full is None else full).sum(dims, keepdim)


def _floats(x: Tensor, dtype: Any) -> Any:
    """The dtype to compute in: the one asked for, or the default float dtype for integers."""
    return dtype or (x.dtype if x.dtype.kind > INT else tx.get_default_dtype())


def sum(input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:  # noqa: E501
    """The sum of the elements that take part, 0 of none."""
    return _without(input, mask, 0, dtype).sum(_dims(input, dim), keepdim, dtype=dtype)


def prod(input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:  # noqa: E501
    """The product of the elements that take part, 1 of none."""
    x = _without(input, mask, 1, dtype)
    for d in sorted(_dims(input, dim), reverse=True):
        x = x.prod(d, keepdim, dtype=dtype)
    return x


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Running sums of the elements that take part."""
    return _without(input, mask, 0, dtype).cumsum(dim, dtype=dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Running products of the elements that take part."""
    return _without(input, mask, 1, dtype).cumprod(dim, dtype=dtype)


def _extreme(name: str, doc: str) -> Callable[..., Tensor]:
    def f(input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:  # noqa: E501
        x = _without(input, mask, neutral(name, dtype or input.dtype), dtype)
        return getattr(x, name)(_dims(input, dim), keepdim)  # type: ignore[no-any-return]

    f.__name__, f.__doc__ = name, doc
    return f


def _place(name: str, doc: str) -> Callable[..., Tensor]:
    def f(input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:  # noqa: E501
        x = _without(input, mask, neutral("amax" if name == "argmax" else "amin", dtype or input.dtype), dtype)
        return getattr(x, name)(dim, keepdim).to(x.dtype)  # type: ignore[no-any-return]

    f.__name__, f.__doc__ = name, doc
    return f


amax = _extreme("amax", "The largest of the elements that take part.")
amin = _extreme("amin", "The smallest of the elements that take part.")
argmax = _place("argmax", "Where the largest of the elements that take part is, in the operand's dtype as in PyTorch.")
argmin = _place("argmin", "Where the smallest of the elements that take part is, in the operand's dtype.")


def mean(input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:  # noqa: E501
    """The mean of the elements that take part, NaN of none."""
    dims = _dims(input, dim)
    return sum(input, dims, keepdim=keepdim, dtype=_floats(input, dtype), mask=mask) / _count(input, mask, dims, keepdim)  # noqa: E501


def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:  # noqa: E501
    """The lower median of the elements that take part, NaN of none."""
    x = _without(input, mask, math.nan, _floats(input, dtype))
    return (x.nanmedian(dim, keepdim) if mask is not None else x.median(dim, keepdim))[0]  # type: ignore[no-any-return]


def norm(
    input: Tensor, ord: float = 2.0, dim: Dim = None, *,
    keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The vector norm of the elements that take part."""
    x = _without(input, mask, math.inf if ord < 0 else 0, dtype)
    return tx.linalg.vector_norm(x, ord, _dims(input, dim), keepdim)


def var(
    input: Tensor, dim: Dim = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The variance of the elements that take part, in two passes."""
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    free = correction if correction is not None else int(unbiased is None or unbiased)
    dims, d = _dims(input, dim), _floats(input, dtype)
    centred = input.to(d) - mean(input, dims, keepdim=True, dtype=d, mask=mask)
    squares = sum(centred * centred, dims, keepdim=keepdim, mask=mask)
    return squares / (_count(input, mask, dims, keepdim) - free).clamp_min(0)


def std(
    input: Tensor, dim: Dim = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The standard deviation of the elements that take part."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """softmax among the elements that take part; 0 elsewhere."""
    return _without(input, mask, -math.inf, _floats(input, dtype)).softmax(dim)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """log(softmax) among the elements that take part; -inf elsewhere."""
    return _without(input, mask, -math.inf, _floats(input, dtype)).log_softmax(dim)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """softmax of the negatives among the elements that take part; 0 elsewhere."""
    return (-_without(input, mask, math.inf, _floats(input, dtype))).softmax(dim)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The elements that take part divided by their norm (at least ``eps``); 0 elsewhere."""
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _without(input, mask, 0, dtype) / size.clamp_min(eps)


def logaddexp(
    input: Tensor, other: Tensor, *,
    dtype: Any = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """log(exp(input) + exp(other)), each where its mask is True."""
    return tx.logaddexp(_without(input, input_mask, -math.inf, dtype), _without(other, other_mask, -math.inf, dtype))


def logsumexp(input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:  # noqa: E501
    """log(sum(exp)) of the elements that take part."""
    return _without(input, mask, -math.inf, _floats(input, dtype)).logsumexp(_dims(input, dim), keepdim)


__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip
