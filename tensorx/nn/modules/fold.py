"""Layers of sliding windows (the file is named as PyTorch's, so that pickled names and imports fit)."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module


class Unfold(Module):
    """The windows of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel elements, windows).

    RuntimeError for other inputs. See :func:`tensorx.nn.functional.unfold`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Unfold((2, 3))(tx.ones(2, 5, 3, 4)).shape
        tensorx.Size([2, 30, 4])
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Any) -> Any:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        names = ("kernel_size", "dilation", "padding", "stride")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


class Fold(Module):
    """Images ``(N, C, *output_size)`` from columns (N, C * kernel elements, windows); overlapping windows add up.

    RuntimeError where the columns do not fit. See :func:`tensorx.nn.functional.fold`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Fold((4, 5), (2, 2))(tx.ones(1, 12, 12)).shape
        tensorx.Size([1, 3, 4, 5])
    """

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Any) -> Any:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        names = ("output_size", "kernel_size", "dilation", "padding", "stride")
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)
