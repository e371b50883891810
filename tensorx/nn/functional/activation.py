"""Activations that are made of exponentials; those made of straight lines are in ``piecewise``."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.warning import warn


def tanh(input: Any) -> Any:
    """Hyperbolic tangent.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.tanh(tx.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """
    return tx.tanh(input)


def sigmoid(input: Any) -> Any:
    """``1 / (1 + exp(-input))``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.sigmoid(tx.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """
    return tx.sigmoid(input)


def gelu(input: Any, approximate: str = "none") -> Any:
    """``input * Phi(input)``; ``approximate`` is 'none' or 'tanh'.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.gelu(tx.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.1587,  0.0000,  1.9545])
    """
    return tx.gelu(input, approximate=approximate)


def silu(input: Any, inplace: bool = False) -> Any:
    """``input * sigmoid(input)``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.silu(tx.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.2689,  0.0000,  1.7616])
    """
    return input.silu_() if inplace else tx.silu(input)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """``input`` where positive, else ``alpha * (exp(input) - 1)``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.elu(tx.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return input.elu_(alpha) if inplace else tx.elu(input, alpha)


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """:func:`elu` in place.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.elu_(tx.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return input.elu_(alpha)


def selu(input: Any, inplace: bool = False) -> Any:
    """ELU with the scales that keep mean 0 and variance 1 from layer to layer.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.selu(tx.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """
    return input.selu_() if inplace else tx.selu(input)


def selu_(input: Any) -> Any:
    """:func:`selu` in place.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.selu_(tx.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """
    return input.selu_()


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """``input`` where positive, else ``alpha * (exp(input / alpha) - 1)``.

    RuntimeError where ``alpha`` is 0.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.celu(tx.tensor([-1.0, 2.0]), alpha=2.0)
        tensor([-0.7869,  2.0000])
    """
    return tx.celu_(input, alpha) if inplace else tx.celu(input, alpha)


def celu_(input: Any, alpha: float = 1.0) -> Any:
    """:func:`celu` in place.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.celu_(tx.tensor([-1.0, 2.0]), alpha=2.0)
        tensor([-0.7869,  2.0000])
    """
    return tx.celu_(input, alpha)


def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """``log(1 + exp(beta * input)) / beta``; ``input`` where ``beta * input`` is above ``threshold``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.softplus(tx.tensor([0.0, 30.0]))
        tensor([ 0.6931, 30.0000])
    """
    return tx.softplus(input, beta, threshold)


def softsign(input: Any) -> Any:
    """``input / (1 + abs(input))``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.softsign(tx.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return tx.softsign(input)


def tanhshrink(input: Any) -> Any:
    """``input - tanh(input)``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.tanhshrink(tx.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])
    """
    return tx.tanhshrink(input)


def logsigmoid(input: Any) -> Any:
    """``log(sigmoid(input))`` without overflow.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.logsigmoid(tx.tensor([0.0, -100.0]))
        tensor([  -0.6931, -100.0000])
    """
    return tx.logsigmoid(input)


def mish(input: Any, inplace: bool = False) -> Any:
    """``input * tanh(softplus(input))``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.mish(tx.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """
    return input.mish_() if inplace else tx.mish(input)


def glu(input: Any, dim: int = -1) -> Any:
    """The first half of ``input`` along ``dim`` times the sigmoid of the second. RuntimeError for an odd extent.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.glu(tx.tensor([1.0, 2.0, 0.0, 100.0]))
        tensor([0.5000, 2.0000])
    """
    return tx.glu(input, dim)


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """``exp(input) / sum(exp(input))`` along ``dim``; ``dtype`` casts first.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.softmax(tx.tensor([[0.0, 0.0], [0.0, 1.0]]), dim=1)
        tensor([[0.5000, 0.5000],
                [0.2689, 0.7311]])
    """
    dim = _implicit_dim("softmax", input.dim()) if dim is None else dim
    return tx.softmax(input, dim) if dtype is None else tx.softmax(input, dim, dtype=dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """``log(softmax(input, dim))`` without overflow; ``dtype`` casts first.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.log_softmax(tx.tensor([0.0, 1.0]), dim=0)
        tensor([-1.3133, -0.3133])
    """
    dim = _implicit_dim("log_softmax", input.dim()) if dim is None else dim
    return tx.log_softmax(input, dim) if dtype is None else tx.log_softmax(input, dim, dtype=dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """``softmax(-input)`` along ``dim``; ``dtype`` casts first.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.softmin(tx.tensor([0.0, 1.0]), dim=0)
        tensor([0.7311, 0.2689])
    """
    dim = _implicit_dim("softmin", input.dim()) if dim is None else dim
    return tx.softmax(-input, dim) if dtype is None else tx.softmax(-input, dim, dtype=dtype)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A random draw from the categories that ``logits`` weigh, smoothed at temperature ``tau`` to have gradients.

    With ``hard`` the result is one-hot, and has the gradient of the smooth one. ``eps`` has no effect; giving another
    one warns, as in PyTorch.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.gumbel_softmax(tx.zeros(2, 3), hard=True).sum(-1)
        tensor([1., 1.])
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    noise = -tx.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    best = soft.max(dim, keepdim=True)[1]
    return tx.zeros_like(logits).scatter_(dim, best, 1.0) - soft.detach() + soft


def _implicit_dim(name: str, ndim: int) -> int:
    message = f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
    warn(message + "argument.")
    return 0 if ndim in (0, 1, 3) else 1
