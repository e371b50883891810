"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import tensorx as tx
from tensorx.nn import functional as F
from tensorx.nn import init
from tensorx.nn.parameter import Parameter, UninitializedParameter, is_lazy

from .lazy import LazyModuleMixin
from .module import Module

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def _tuple(value: Any, n: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


class _ConvNd(Module):
    """What the convolutions share: their settings, weights, and repr.

    Weights have shape (out, in / groups, *kernel), of transposed convolutions (in, out / groups, *kernel).
    """

    ndim: int
    transposed = False

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
        output_padding: Any = 0,
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
        self.output_padding = _tuple(output_padding, self.ndim)
        self.weight = Parameter(tx.empty(self._weight_shape(), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(tx.empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        if self.transposed:
            return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

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


class _Convolution(_ConvNd):
    """The constructor and forward of the convolutions that are not transposed."""

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
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )

    def forward(self, input: Any) -> Any:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._pad_amounts(), mode=self.padding_mode), 0
        run = (F.conv1d, F.conv2d, F.conv3d)[self.ndim - 1]
        return run(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Convolution):
    """Cross-correlation of (N, C, L) or (C, L) with learned (out, C / groups, k) filters.

    ``padding`` is a number, one for each dimension, 'valid' (none) or 'same' (as large an output as the input);
    ``padding_mode`` is 'zeros', 'reflect', 'replicate' or 'circular'.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Conv1d(3, 8, 3, padding=1)
        Conv1d(3, 8, kernel_size=(3,), stride=(1,), padding=(1,))
    """

    ndim = 1


class Conv2d(_Convolution):
    """Cross-correlation of (N, C, H, W) or (C, H, W) with learned (out, C / groups, kh, kw) filters.

    ``padding`` and ``padding_mode`` are as in :class:`Conv1d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Conv2d(3, 8, 3, padding=1)
        Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    """

    ndim = 2


class Conv3d(_Convolution):
    """Cross-correlation of (N, C, D, H, W) or (C, D, H, W) with learned (out, C / groups, kd, kh, kw) filters.

    ``padding`` and ``padding_mode`` are as in :class:`Conv1d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Conv3d(1, 2, 2)(tx.ones(1, 1, 3, 3, 3)).shape
        tensorx.Size([1, 2, 2, 2, 2])
    """

    ndim = 3


class _ConvTransposeNd(_ConvNd):
    """The constructor and forward of the transposed convolutions."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
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
            output_padding,
        )

    def _output_padding(self, input: Any, output_size: Any) -> tuple[int, ...]:
        """The output padding that makes the output ``output_size`` (with or without batch and channels)."""
        if output_size is None:
            return self.output_padding
        ndim, lead = self.ndim, input.dim() - self.ndim
        sizes = list(output_size)
        if len(sizes) == lead + ndim:
            sizes = sizes[lead:]
        if len(sizes) != ndim:
            raise ValueError(
                f"ConvTranspose{ndim}D: for {input.dim()}D input, output_size must have {ndim} or {lead + ndim} "
                f"elements (got {len(sizes)})"
            )
        padding = _tuple(self.padding, ndim)
        steps = zip(input.shape[lead:], self.stride, padding, self.dilation, self.kernel_size)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in steps]
        most = [n + s - 1 for n, s in zip(least, self.stride)]
        if any(not low <= size <= high for low, size, high in zip(least, sizes, most)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} "
                f"(for an input of {input.shape[lead:]})"
            )
        return tuple(size - low for size, low in zip(sizes, least))

    def forward(self, input: Any, output_size: Any = None) -> Any:
        more = self._output_padding(input, output_size)
        run = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.ndim - 1]
        padding = _tuple(self.padding, self.ndim)  # a transposed convolution knows no 'same'
        return run(input, self.weight, self.bias, self.stride, padding, more, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of (N, C, L) or (C, L) with learned (C, out / groups, k) filters: the adjoint of
    :class:`Conv1d`, which enlarges by ``stride``.

    ``output_padding`` lengthens the end of the output; ``forward(input, output_size)`` chooses it.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ConvTranspose1d(3, 8, 3, stride=2)(tx.ones(1, 3, 4), output_size=(10,)).shape
        tensorx.Size([1, 8, 10])
    """

    ndim = 1


class ConvTranspose2d(_ConvTransposeNd):
    """:class:`ConvTranspose1d` for (N, C, H, W) or (C, H, W).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ConvTranspose2d(3, 8, 2, stride=2)
        ConvTranspose2d(3, 8, kernel_size=(2, 2), stride=(2, 2))
    """

    ndim = 2


class ConvTranspose3d(_ConvTransposeNd):
    """:class:`ConvTranspose1d` for (N, C, D, H, W) or (C, D, H, W).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.ConvTranspose3d(2, 3, 2, stride=2)(tx.ones(1, 2, 2, 2, 2)).shape
        tensorx.Size([1, 3, 4, 4, 4])
    """

    ndim = 3


class _LazyConvXdMixin(LazyModuleMixin):
    """What the lazy convolutions share: ``in_channels`` comes from the first input."""

    ndim: int
    groups: int
    in_channels: int
    out_channels: int
    weight: Any
    bias: Any
    _weight_shape: Any

    def _forget_weights(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the initial weights again, once there are any."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]  # of the convolution

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Weights for inputs with the channels of ``input``."""
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (self.ndim + 1, self.ndim + 2):
            raise RuntimeError(
                f"Expected {self.ndim + 1}D (unbatched) or {self.ndim + 2}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-self.ndim - 1]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if is_lazy(self.weight):
            self.weight.materialize(self._weight_shape())
        if is_lazy(self.bias):
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyConvolution(_LazyConvXdMixin):
    """The constructor of the lazy convolutions."""

    def __init__(
        self,
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
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._forget_weights(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    """The constructor of the lazy transposed convolutions."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        settings = (kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype)
        super().__init__(0, 0, *settings)
        self._forget_weights(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConvolution, Conv1d):
    """A :class:`Conv1d` that takes ``in_channels`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyConv1d(3, 2)
        >>> y = layer(tx.ones(1, 4, 3))
        >>> layer
        Conv1d(4, 3, kernel_size=(2,), stride=(1,))
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvolution, Conv2d):
    """A :class:`Conv2d` that takes ``in_channels`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyConv2d(3, 2)
        >>> y = layer(tx.ones(1, 4, 3, 3))
        >>> layer
        Conv2d(4, 3, kernel_size=(2, 2), stride=(1, 1))
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvolution, Conv3d):
    """A :class:`Conv3d` that takes ``in_channels`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyConv3d(3, 2)
        >>> y = layer(tx.ones(1, 4, 3, 3, 3))
        >>> layer
        Conv3d(4, 3, kernel_size=(2, 2, 2), stride=(1, 1, 1))
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A :class:`ConvTranspose1d` that takes ``in_channels`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyConvTranspose1d(3, 2)
        >>> y = layer(tx.ones(1, 4, 3))
        >>> layer
        ConvTranspose1d(4, 3, kernel_size=(2,), stride=(1,))
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A :class:`ConvTranspose2d` that takes ``in_channels`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyConvTranspose2d(3, 2)
        >>> y = layer(tx.ones(1, 4, 3, 3))
        >>> layer
        ConvTranspose2d(4, 3, kernel_size=(2, 2), stride=(1, 1))
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A :class:`ConvTranspose3d` that takes ``in_channels`` from its first input.

    Example:
        >>> import tensorx as tx
        >>> layer = tx.nn.LazyConvTranspose3d(3, 2)
        >>> y = layer(tx.ones(1, 4, 3, 3, 3))
        >>> layer
        ConvTranspose3d(4, 3, kernel_size=(2, 2, 2), stride=(1, 1, 1))
    """

    cls_to_become = ConvTranspose3d
