"""Pooling layers (the file is named as PyTorch's, so that pickled names and imports fit)."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module
from .unpooling import FractionalMaxPool2d, FractionalMaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d


class _MaxPoolNd(Module):
    """What the maximum poolings share: their settings and repr."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def extra_repr(self) -> str:
        names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)

    def _window(self) -> tuple[Any, ...]:
        return self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of (N, C, L) or (C, L); RuntimeError for other inputs.

    With ``return_indices`` also its place. See :func:`tensorx.nn.functional.max_pool1d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.MaxPool1d(3, stride=2)(tx.ones(1, 4, 9)).shape
        tensorx.Size([1, 4, 4])
    """

    def forward(self, input: Any) -> Any:
        return F.max_pool1d(input, *self._window())


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of (N, C, H, W) or (C, H, W); RuntimeError for other inputs.

    With ``return_indices`` also its place in the plane. See :func:`tensorx.nn.functional.max_pool2d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.MaxPool2d((3, 2), stride=(2, 1))(tx.ones(1, 4, 9, 9)).shape
        tensorx.Size([1, 4, 4, 8])
    """

    def forward(self, input: Any) -> Any:
        return F.max_pool2d(input, *self._window())


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W); RuntimeError for other inputs.

    With ``return_indices`` also its place in the volume. See :func:`tensorx.nn.functional.max_pool3d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.MaxPool3d(2)(tx.ones(1, 1, 4, 6, 8)).shape
        tensorx.Size([1, 1, 2, 3, 4])
    """

    def forward(self, input: Any) -> Any:
        return F.max_pool3d(input, *self._window())


class _AvgPoolNd(Module):
    """What the average poolings share: repr."""

    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


def _single(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of (N, C, L) or (C, L); RuntimeError for other inputs.

    See :func:`tensorx.nn.functional.avg_pool1d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AvgPool1d(2)(tx.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[2., 3.]])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding = _single(kernel_size), _single(padding)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Any) -> Any:
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class _AvgPoolPlanes(_AvgPoolNd):
    """The settings of AvgPool2d and AvgPool3d."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = stride if stride is not None else kernel_size
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def _window(self) -> tuple[Any, ...]:
        at = self.kernel_size, self.stride, self.padding
        return *at, self.ceil_mode, self.count_include_pad, self.divisor_override


class AvgPool2d(_AvgPoolPlanes):
    """The mean of each window of (N, C, H, W) or (C, H, W); RuntimeError for other inputs.

    See :func:`tensorx.nn.functional.avg_pool2d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AvgPool2d(2)(tx.arange(16.0).reshape(1, 4, 4))
        tensor([[[ 2.5000,  4.5000],
                 [10.5000, 12.5000]]])
    """

    def forward(self, input: Any) -> Any:
        return F.avg_pool2d(input, *self._window())


class AvgPool3d(_AvgPoolPlanes):
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W); RuntimeError for other inputs.

    See :func:`tensorx.nn.functional.avg_pool3d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AvgPool3d(2)(tx.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[3.5000]]]])
    """

    def forward(self, input: Any) -> Any:
        return F.avg_pool3d(input, *self._window())


class _AdaptiveAvgPoolNd(Module):
    """What the adaptive average poolings share."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of windows that share (N, C, L) or (C, L) evenly among ``output_size`` results.

    RuntimeError for other inputs.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AdaptiveAvgPool1d(3)(tx.arange(5.0).reshape(1, 5))
        tensor([[0.5000, 2.0000, 3.5000]])
    """

    def forward(self, input: Any) -> Any:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of windows that share (N, C, H, W) or (C, H, W) evenly; a size of None keeps the input's.

    RuntimeError for other inputs.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AdaptiveAvgPool2d((1, None))(tx.arange(6.0).reshape(1, 2, 3))
        tensor([[[1.5000, 2.5000, 3.5000]]])
    """

    def forward(self, input: Any) -> Any:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of windows that share (N, C, D, H, W) or (C, D, H, W) evenly; a size of None keeps the input's.

    RuntimeError for other inputs.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AdaptiveAvgPool3d(1)(tx.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[3.5000]]]])
    """

    def forward(self, input: Any) -> Any:
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(Module):
    """What the adaptive maximum poolings share."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima of windows that share (N, C, L) or (C, L) evenly among ``output_size`` results.

    RuntimeError for other inputs.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AdaptiveMaxPool1d(3)(tx.arange(5.0).reshape(1, 5))
        tensor([[1., 3., 4.]])
    """

    def forward(self, input: Any) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of windows that share (N, C, H, W) or (C, H, W) evenly; a size of None keeps the input's.

    RuntimeError for other inputs.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AdaptiveMaxPool2d((1, None))(tx.arange(6.0).reshape(1, 2, 3))
        tensor([[[3., 4., 5.]]])
    """

    def forward(self, input: Any) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of windows that share (N, C, D, H, W) or (C, D, H, W) evenly; a size of None keeps the input's.

    RuntimeError for other inputs.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.AdaptiveMaxPool3d(1)(tx.arange(8.0).reshape(1, 2, 2, 2))
        tensor([[[[7.]]]])
    """

    def forward(self, input: Any) -> Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _LPPoolNd(Module):
    """What the power-mean poolings share."""

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def extra_repr(self) -> str:
        names = ("norm_type", "kernel_size", "stride", "ceil_mode")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class LPPool1d(_LPPoolNd):
    """``(sum of x ** norm_type) ** (1 / norm_type)`` of each window of (N, C, L) or (C, L).

    RuntimeError for other inputs.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.LPPool1d(2, 2)(tx.tensor([[3.0, 4.0, 6.0, 8.0]]))
        tensor([[ 5., 10.]])
    """

    def forward(self, input: Any) -> Any:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """``(sum of x ** norm_type) ** (1 / norm_type)`` of each window of (N, C, H, W) or (C, H, W).

    RuntimeError for other inputs.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.LPPool2d(2, 2)(tx.ones(1, 2, 4))
        tensor([[[2., 2.]]])
    """

    def forward(self, input: Any) -> Any:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """``(sum of x ** norm_type) ** (1 / norm_type)`` of each window of (N, C, D, H, W) or (C, D, H, W).

    RuntimeError for other inputs.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.LPPool3d(1, 2)(tx.ones(1, 2, 2, 4))
        tensor([[[[8., 8.]]]])
    """

    def forward(self, input: Any) -> Any:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]
