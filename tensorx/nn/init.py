"""Initial values for parameters, as PyTorch's ``nn.init``; each fills its tensor in place, without recording, and
returns it.

Random values are drawn on the tensor's own device. The generator gives the same bits everywhere, so one seed means one
set of initial weights on all devices.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import tensorx as tx

_GAINS = {
    **dict.fromkeys(
        (
            "linear",
            "sigmoid",
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_transpose1d",
            "conv_transpose2d",
            "conv_transpose3d",
        ),
        1.0,
    ),
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps a signal's variance through ``nonlinearity``; ``param`` is the slope of ``leaky_relu``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.init.calculate_gain("leaky_relu", 2.0)
        0.6324555320336759
    """
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """How many inputs one output sees, and how many outputs one input reaches."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Uniform in [a, b).

    Example:
        >>> import tensorx as tx
        >>> x = tx.nn.init.uniform_(tx.empty(100), -1.0, 1.0)
        >>> bool((x.abs() <= 1).all())
        True
    """
    with tx.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Normal with this mean and standard deviation.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.init.normal_(tx.empty(2, 3)).shape
        tensorx.Size([2, 3])
    """
    with tx.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Any, val: float) -> Any:
    """``val`` everywhere.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.init.constant_(tx.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    with tx.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Any) -> Any:
    """One everywhere.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.init.ones_(tx.empty(2))
        tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Zero everywhere.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.init.zeros_(tx.empty(2))
        tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


def eye_(tensor: Any) -> Any:
    """The identity matrix; only for two dimensions.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.init.eye_(tx.empty(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with tx.no_grad():
        return tensor.copy_(tx.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """The identity of convolutions: weights (out, in, ...) that give as many input channels as they can, for 3 to 5
    dimensions.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.init.dirac_(tx.empty(2, 2, 3))
        tensor([[[0., 1., 0.],
                 [0., 0., 0.]],
                [[0., 0., 0.],
                 [0., 1., 0.]]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    size = tensor.shape[0] // groups
    channels = list(range(min(size, tensor.shape[1]))) * groups
    outputs = [d + size * (i * groups // len(channels)) for i, d in enumerate(channels)]
    centre = [n // 2 for n in tensor.shape[2:]]
    with tx.no_grad():
        tensor.zero_()
        if channels:
            where = (tx.tensor(index, device=tensor.device) for index in (outputs, channels))
            tensor[(*where, *centre)] = 1.0
    return tensor


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """A matrix (first dimension by all others) with orthonormal rows or columns, times ``gain`` (Saxe et al. 2013).

    Example:
        >>> import tensorx as tx
        >>> w = tx.nn.init.orthogonal_(tx.empty(2, 3))
        >>> tx.allclose(w @ w.mT, tx.eye(2), atol=1e-5)
        True
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    with tx.no_grad():
        rows = tensor.shape[0]
        flat = tx.empty(rows, tensor.numel() // rows, dtype=tensor.dtype, device=tensor.device)
        flat.normal_(0, 1, generator=generator)
        wide = rows < flat.shape[1]
        q, r = tx.linalg.qr(flat.mT if wide else flat)
        q = q * r.diagonal().sign()  # makes q uniform (Mezzadri 2006)
        return tensor.copy_((q.mT if wide else q).reshape(tensor.shape)).mul_(gain)


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal with this standard deviation, but a fraction ``sparsity`` of each column is zero (Martens 2010).

    Example:
        >>> import tensorx as tx
        >>> (tx.nn.init.sparse_(tx.empty(10, 2), 0.3) == 0).sum(0)
        tensor([3, 3])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    zeros = math.ceil(sparsity * tensor.shape[0])
    with tx.no_grad():
        tensor.normal_(0, std, generator=generator)
        order = tx.empty_like(tensor, dtype=tx.float32).uniform_(generator=generator).argsort(0)
        return tensor.scatter_(0, order[:zeros], 0.0)


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform in ``+-gain * sqrt(6 / (fan_in + fan_out))`` (Glorot & Bengio 2010).

    Example:
        >>> import tensorx as tx
        >>> bool((tx.nn.init.xavier_uniform_(tx.empty(4, 2)).abs() <= 1).all())
        True
    """
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal with standard deviation ``gain * sqrt(2 / (fan_in + fan_out))`` (Glorot & Bengio 2010).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.init.xavier_normal_(tx.empty(4, 2)).shape
        tensorx.Size([4, 2])
    """
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Uniform in ``+-gain * sqrt(3 / fan)`` (He et al. 2015).

    Example:
        >>> import tensorx as tx
        >>> bool((tx.nn.init.kaiming_uniform_(tx.empty(4, 6), nonlinearity="relu").abs() <= 1).all())
        True
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else uniform_(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Normal with standard deviation ``gain / sqrt(fan)`` (He et al. 2015).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.init.kaiming_normal_(tx.empty(4, 6), nonlinearity="relu").shape
        tensorx.Size([4, 6])
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Normal, with values outside [a, b] drawn again.

    By rejection: candidates are drawn for the whole tensor until every element has accepted one. Where the interval
    holds little of the normal's mass, the candidates are uniform in it and accepted in proportion to the density.

    Example:
        >>> import tensorx as tx
        >>> bool((tx.nn.init.trunc_normal_(tx.empty(100), std=2.0).abs() <= 2).all())
        True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        message = "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
        warnings.warn(message + "The distribution of values may be incorrect.", stacklevel=2)
    if tensor.device.type in ("meta", "null"):
        return tensor  # nothing to draw, and no values that could end the loop
    inside = _phi((b - mean) / std) - _phi((a - mean) / std)
    with tx.no_grad():
        fresh, waiting = tx.empty_like(tensor), None
        while waiting is None or waiting.any():
            if inside > 0.3:
                fresh.normal_(mean, std, generator=generator)
                # compared with the bounds as the tensor's dtype holds them, so that rounding never leaves [a, b]
                accepted = (fresh >= a) & (fresh <= b)
            else:
                fresh.uniform_(a, b, generator=generator)
                peak = ((max(a, min(mean, b)) - mean) / std) ** 2
                density = (((fresh - mean) / std) ** 2 - peak).mul(-0.5).exp()
                accepted = tx.empty_like(fresh).uniform_(generator=generator) < density
            take = accepted if waiting is None else accepted & waiting
            tensor.copy_(tx.where(take, fresh, tensor))
            waiting = ~accepted if waiting is None else waiting & ~accepted
    return tensor


def _phi(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _deprecated(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` by the name that it had before, with a warning."""
    new, old = function.__name__, function.__name__[:-1]

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        message = f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`."
        warnings.warn(message, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = old
    renamed.__doc__ = f"Deprecated name of :func:`{new}`; warns.\n\n    >>> {old}.__name__\n    {old!r}"
    return renamed


uniform, normal, constant, eye = _deprecated(uniform_), _deprecated(normal_), _deprecated(constant_), _deprecated(eye_)
dirac, sparse, orthogonal = _deprecated(dirac_), _deprecated(sparse_), _deprecated(orthogonal_)
xavier_uniform, xavier_normal = _deprecated(xavier_uniform_), _deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = _deprecated(kaiming_uniform_), _deprecated(kaiming_normal_)
