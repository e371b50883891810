"""Linear layers."""

from __future__ import annotations

import math
from typing import Any

import tensorx as tx
from tensorx.nn import functional as F
from tensorx.nn import init
from tensorx.nn.parameter import Parameter, UninitializedParameter

from .lazy import LazyModuleMixin
from .module import Module


class Identity(Module):
    """Returns its input; takes and ignores any arguments, so that it can stand in for another layer.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Identity()(tx.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """``y = x @ weight.T + bias`` for ``x`` of shape (..., in_features).

    Weight (out_features, in_features) and bias (out_features) start uniform in ``+-1/sqrt(in_features)``.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Linear(20, 30)
        Linear(in_features=20, out_features=30, bias=True)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(tx.empty((out_features, in_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(tx.empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the initial weights again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """``y[k] = x1 @ weight[k] @ x2 + bias[k]``.

    Weight (out_features, in1_features, in2_features) and bias start uniform in ``+-1/sqrt(in1_features)``.

    Shape: (..., in1_features) and (..., in2_features) give (..., out_features). ValueError unless ``in1_features`` is
    positive.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Bilinear(20, 30, 40)(tx.ones(8, 20), tx.ones(8, 30)).shape
        tensorx.Size([8, 40])
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear: argument 'in1_features' must be > 0; got {in1_features}.")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(tx.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(tx.empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the initial weights again."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class LazyLinear(LazyModuleMixin, Linear):
    """A :class:`Linear` that takes ``in_features`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyLinear(3)
        >>> layer(tx.ones(2, 4)).shape
        tensorx.Size([2, 3])
        >>> layer
        Linear(in_features=4, out_features=3, bias=True)
    """

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the initial weights again, once there are any."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Weights for inputs of the last size of ``input``."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:
            if input.shape[-1] != self.weight.shape[-1]:
                raise RuntimeError(
                    f"LazyLinear: the input's last size must be that of the weight, {self.weight.shape[-1]}; got "
                    f"{input.shape[-1]}"
                )
            self.in_features = input.shape[-1]


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear by the name that PyTorch gives the output projection of attention."""
