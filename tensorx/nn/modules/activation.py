"""Activations."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.nn import functional as F

from .module import Module
from .multihead import MultiheadAttention  # noqa: F401  PyTorch has it in this file
from .piecewise import (  # noqa: F401  PyTorch has them in this file
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    PReLU,
    ReLU6,
    RReLU,
    Softshrink,
    Threshold,
    shown,
)


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
        return shown(inplace=self.inplace)


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
        return shown(inplace=self.inplace)


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


class ELU(Module):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``; ``inplace`` overwrites the input.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ELU()(tx.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Any) -> Any:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return shown(f"alpha={self.alpha}", inplace=self.inplace)


class SELU(Module):
    """ELU with the scales that keep mean 0 and variance 1 from layer to layer.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.SELU()(tx.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.selu(input, self.inplace)

    def extra_repr(self) -> str:
        return shown(inplace=self.inplace)


class CELU(Module):
    """``x`` where positive, else ``alpha * (exp(x / alpha) - 1)``; ``inplace`` overwrites the input.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.CELU(2.0)(tx.tensor([-1.0, 2.0]))
        tensor([-0.7869,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Any) -> Any:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return shown(f"alpha={self.alpha}", inplace=self.inplace)


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta``; ``x`` where ``beta * x`` is above ``threshold``.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Softplus()(tx.tensor([0.0, 30.0]))
        tensor([ 0.6931, 30.0000])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Any) -> Any:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softsign(Module):
    """``x / (1 + abs(x))``.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Softsign()(tx.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Any) -> Any:
        return F.softsign(input)


class Tanhshrink(Module):
    """``x - tanh(x)``.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Tanhshrink()(tx.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2384])
    """

    def forward(self, input: Any) -> Any:
        return F.tanhshrink(input)


class LogSigmoid(Module):
    """``log(sigmoid(x))`` without overflow.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.LogSigmoid()(tx.tensor([0.0, -100.0]))
        tensor([  -0.6931, -100.0000])
    """

    def forward(self, input: Any) -> Any:
        return F.logsigmoid(input)


class Mish(Module):
    """``x * tanh(softplus(x))``; ``inplace`` overwrites the input.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Mish()(tx.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.mish(input, self.inplace)

    def extra_repr(self) -> str:
        return shown(inplace=self.inplace)


class GLU(Module):
    """The first half of ``x`` along ``dim`` times the sigmoid of the second. RuntimeError for an odd extent.

    Shape: (..., 2 n, ...) gives (..., n, ...).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.GLU()(tx.tensor([1.0, 2.0, 0.0, 100.0]))
        tensor([0.5000, 2.0000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(Module):
    """``softmax(-x)`` along ``dim``.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Softmin(dim=0)(tx.tensor([0.0, 1.0]))
        tensor([0.7311, 0.2689])
    """

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax2d(Module):
    """Softmax over the channels of images: dimension -3 of (N, C, H, W) or (C, H, W). ValueError for other ranks.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Softmax2d()(tx.zeros(2, 1, 1)).flatten()
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Any) -> Any:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D (got {input.dim()}D input)")
        return F.softmax(input, -3, _stacklevel=5)
