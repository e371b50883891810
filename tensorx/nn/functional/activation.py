"""Activations."""

from __future__ import annotations

import warnings
from typing import Any

import tensorx as tx


def relu(input: Any, inplace: bool = False) -> Any:
    """``max(input, 0)``; NaN stays NaN.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.relu(tx.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return input.relu_() if inplace else tx.relu(input)


def relu_(input: Any) -> Any:
    """:func:`relu` in place.

    Example:
        >>> import tensorx as tx
        >>> x = tx.tensor([-1.0, 2.0])
        >>> tx.nn.functional.relu_(x)
        tensor([0., 2.])
    """
    return input.relu_()


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """``input`` limited to [min_val, max_val]; no gradient at the ends.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.hardtanh(tx.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    return input.hardtanh_(min_val, max_val) if inplace else tx.hardtanh(input, min_val, max_val)


def relu6(input: Any, inplace: bool = False) -> Any:
    """``input`` limited to [0, 6].

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.relu6(tx.tensor([-1.0, 7.0]))
        tensor([0., 6.])
    """
    return hardtanh(input, 0, 6, inplace)


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


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """``exp(input) / sum(exp(input))`` along ``dim``; ``dtype`` casts first.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.softmax(tx.tensor([[0.0, 0.0], [0.0, 1.0]]), dim=1)
        tensor([[0.5000, 0.5000],
                [0.2689, 0.7311]])
    """
    dim = _implicit_dim("softmax", input.dim(), _stacklevel) if dim is None else dim
    return tx.softmax(input, dim) if dtype is None else tx.softmax(input, dim, dtype=dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """``log(softmax(input, dim))`` without overflow; ``dtype`` casts first.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.log_softmax(tx.tensor([0.0, 1.0]), dim=0)
        tensor([-1.3133, -0.3133])
    """
    dim = _implicit_dim("log_softmax", input.dim(), _stacklevel) if dim is None else dim
    return tx.log_softmax(input, dim) if dtype is None else tx.log_softmax(input, dim, dtype=dtype)


def _implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    message = f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
    warnings.warn(message + "argument.", stacklevel=stacklevel)
    return 0 if ndim in (0, 1, 3) else 1
