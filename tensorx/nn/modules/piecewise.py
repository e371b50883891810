"""Activations made of straight lines."""

from __future__ import annotations

import warnings
from typing import Any

import tensorx as tx
from tensorx.nn import functional as F
from tensorx.nn.parameter import Parameter

from .module import Module


def shown(*parts: str, inplace: bool = False) -> str:
    """``a=1, b=2``, and ``inplace=True`` behind it if that is so: what `extra_repr` of most activations says."""
    return ", ".join([*parts, "inplace=True"] if inplace else parts)


class Hardtanh(Module):
    """``x`` limited to [min_val, max_val]; no gradient at the ends. AssertionError unless ``min_val`` is smaller.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Hardtanh(-2.0, 2.0)(tx.tensor([-3.0, 0.5]))
        tensor([-2.0000,  0.5000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for new, old in (("min_val", min_value), ("max_val", max_value)):
            if old is not None:
                message = f"keyword argument `{new}ue` is deprecated and rename to `{new}`"
                warnings.warn(message, FutureWarning, stacklevel=2)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"Hardtanh: max_val must be above min_val; got {self.max_val} and {self.min_val}.")

    def forward(self, input: Any) -> Any:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return shown(f"min_val={self.min_val}", f"max_val={self.max_val}", inplace=self.inplace)


class ReLU6(Hardtanh):
    """``x`` limited to [0, 6]; ``inplace`` overwrites the input.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ReLU6()(tx.tensor([-1.0, 7.0]))
        tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return shown(inplace=self.inplace)


class LeakyReLU(Module):
    """``x`` where positive, else ``negative_slope * x``; ``inplace`` overwrites the input.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.LeakyReLU(0.1)(tx.tensor([-1.0, 2.0]))
        tensor([-0.1000,  2.0000])
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Any) -> Any:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return shown(f"negative_slope={self.negative_slope}", inplace=self.inplace)


class PReLU(Module):
    """``x`` where positive, else ``weight * x`` with one learnt weight, or one a channel (dimension 1 of the input).

    Shape: (N, C, ...) with C = ``num_parameters`` unless that is 1; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.PReLU(init=0.5)(tx.tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(tx.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to ``init``."""
        with tx.no_grad():
            self.weight.fill_(self.init)

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """``x`` where positive, else times a slope: random in [lower, upper) in training, else their mean.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.RReLU(0.25, 0.75).eval()(tx.tensor([-1.0, 2.0]))
        tensor([-0.5000,  2.0000])
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Any) -> Any:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return shown(f"lower={self.lower}", f"upper={self.upper}", inplace=self.inplace)


class Threshold(Module):
    """``x`` where above ``threshold``, else ``value``; ``inplace`` overwrites the input.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Threshold(1.0, -1.0)(tx.tensor([0.5, 2.0]))
        tensor([-1.,  2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Any) -> Any:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return shown(f"threshold={self.threshold}", f"value={self.value}", inplace=self.inplace)


class Hardshrink(Module):
    """``x`` outside of [-lambd, lambd], else 0.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Hardshrink()(tx.tensor([-1.0, 0.25, 2.0]))
        tensor([-1.,  0.,  2.])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(Module):
    """``x`` moved towards 0 by ``lambd``, and 0 in between. RuntimeError for a negative ``lambd``.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Softshrink()(tx.tensor([-1.0, 0.25, 2.0]))
        tensor([-0.5000,  0.0000,  1.5000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Hardswish(Module):
    """``x * relu6(x + 3) / 6``; ``inplace`` overwrites the input.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Hardswish()(tx.tensor([-1.5, 0.0, 3.0]))
        tensor([-0.3750,  0.0000,  3.0000])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.hardswish(input, self.inplace)


class Hardsigmoid(Module):
    """``relu6(x + 3) / 6``; ``inplace`` overwrites the input.

    Shape: any; the output has the input's.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Hardsigmoid()(tx.tensor([-4.0, 0.0, 3.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.hardsigmoid(input, self.inplace)
