"""Activations."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.nn import functional as F

from .module import Module


class ReLU(Module):
    """``max(x, 0)``; ``inplace`` overwrites the input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ReLU()(tx.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.relu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    """Hyperbolic tangent.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Tanh()(tx.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """

    def forward(self, input: Any) -> Any:
        return tx.tanh(input)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Sigmoid()(tx.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """

    def forward(self, input: Any) -> Any:
        return tx.sigmoid(input)


class GELU(Module):
    """``x * Phi(x)`` with the normal distribution's Phi; ``approximate='tanh'`` uses the tanh formula.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.GELU()(tx.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(Module):
    """``x * sigmoid(x)``; ``inplace`` overwrites the input.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.SiLU()(tx.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.silu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Softmax(Module):
    """``exp(x) / sum(exp(x))`` along ``dim``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Softmax(dim=0)(tx.tensor([0.0, 1.0]))
        tensor([0.2689, 0.7311])
    """

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """``log(softmax(x))`` along ``dim``, computed without overflow.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.LogSoftmax(dim=0)(tx.tensor([0.0, 1.0]))
        tensor([-1.3133, -0.3133])
    """

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
