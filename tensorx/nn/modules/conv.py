"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.nn import functional as F
from tensorx.nn import init
from tensorx.nn.parameter import Parameter

from .module import Module

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def _tuple(value: Any, n: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


class _ConvNd(Module):
    """What the convolutions share: their settings, weights of shape (out, in / groups, *kernel), and repr."""

    ndim: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels, self.out_channels, self.groups, self.padding_mode = (
            in_channels,
            out_channels,
            groups,
            padding_mode,
        )
        self.kernel_size, self.stride, self.dilation = (_tuple(v, self.ndim) for v in (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else _tuple(padding, self.ndim)
        self.transposed, self.output_padding = False, (0,) * self.ndim
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(tx.empty(shape, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(tx.empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    @staticmethod
    def _check(ins: int, outs: int, stride: Any, padding: Any, groups: int, padding_mode: str) -> None:
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if ins % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if outs % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same', 'valid'")
            if padding == "same" and any(s != 1 for s in _tuple(stride, 1)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {PADDING_MODES}, but got padding_mode='{padding_mode}'")

    def reset_parameters(self) -> None:
        """Draw the initial weights again: uniform in ``+-1/sqrt(fan_in)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def _pad_amounts(self) -> list[int]:
        """(before, after) of each dimension, last first, as ``F.pad`` takes them."""
        amounts: list[Any] = []
        for i in reversed(range(self.ndim)):
            if self.padding == "same":
                total = self.dilation[i] * (self.kernel_size[i] - 1)
                amounts += [total // 2, total - total // 2]
            else:
                amounts += [0, 0] if self.padding == "valid" else [self.padding[i]] * 2
        return amounts

    def extra_repr(self) -> str:
        ones, zeros = (1,) * self.ndim, (0,) * self.ndim
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        settings = (("padding", zeros), ("dilation", ones), ("output_padding", zeros), ("groups", 1))
        text += "".join(f", {name}={getattr(self, name)}" for name, usual in settings if getattr(self, name) != usual)
        text += ", bias=False" if self.bias is None else ""
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")


class Conv2d(_ConvNd):
    """Cross-correlation of (N, C, H, W) with learned (out, C / groups, kh, kw) filters.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Conv2d(3, 8, 3, padding=1)
        Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    """

    ndim = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Any) -> Any:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._pad_amounts(), mode=self.padding_mode), 0
        return F.conv2d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)
