"""Fractional pooling, and putting pooled maxima back: beside `pooling`, which also names these classes."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module


def _tuple(value: Any, rank: int) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank


class _MaxUnpoolNd(Module):
    """What the unpoolings share: the settings of the pooling that they undo, and repr."""

    rank: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.padding = _tuple(kernel_size, self.rank), _tuple(padding, self.rank)
        self.stride = _tuple(stride if stride is not None else kernel_size, self.rank)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Zeros, with the elements of (N, C, L) or (C, L) at the places that MaxPool1d gave.

    RuntimeError for a place outside of the result. See :func:`tensorx.nn.functional.max_unpool1d`.

    Example:
        >>> import tensorx as tx
        >>> y, i = tx.nn.MaxPool1d(2, return_indices=True)(tx.tensor([[1.0, 3.0, 2.0, 4.0]]))
        >>> tx.nn.MaxUnpool1d(2)(y, i)
        tensor([[0., 3., 0., 4.]])
    """

    rank = 1

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Zeros, with the elements of (N, C, H, W) or (C, H, W) at the places that MaxPool2d gave.

    RuntimeError for a place outside of the result. See :func:`tensorx.nn.functional.max_unpool1d`.

    Example:
        >>> import tensorx as tx
        >>> y, i = tx.nn.MaxPool2d(2, return_indices=True)(tx.ones(1, 1, 5, 5))
        >>> tx.nn.MaxUnpool2d(2)(y, i, output_size=(5, 5)).shape
        tensorx.Size([1, 1, 5, 5])
    """

    rank = 2

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """Zeros, with the elements of (N, C, D, H, W) or (C, D, H, W) at the places that MaxPool3d gave.

    RuntimeError for a place outside of the result. See :func:`tensorx.nn.functional.max_unpool1d`.

    Example:
        >>> import tensorx as tx
        >>> y, i = tx.nn.MaxPool3d(2, return_indices=True)(tx.ones(1, 1, 4, 4, 4))
        >>> tx.nn.MaxUnpool3d(2)(y, i).shape
        tensorx.Size([1, 1, 4, 4, 4])
    """

    rank = 3

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class _FractionalMaxPoolNd(Module):
    """What the fractional poolings share. Of ``output_size`` and ``output_ratio`` (below 1) one must be given."""

    rank: int

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        if any(k <= 0 for k in _tuple(kernel_size, self.rank)):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size, self.return_indices = _tuple(kernel_size, self.rank), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = _tuple(output_size, self.rank) if output_size is not None else None
        self.output_ratio = _tuple(output_ratio, self.rank) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _settings(self) -> tuple[Any, ...]:
        return self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest element of each window of (N, C, H, W) or (C, H, W), windows lying at pseudo-random steps.

    RuntimeError for other inputs. See :func:`tensorx.nn.functional.fractional_max_pool2d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.FractionalMaxPool2d(3, output_ratio=(0.5, 0.5))(tx.ones(1, 2, 12, 12)).shape
        tensorx.Size([1, 2, 6, 6])
    """

    rank = 2

    def forward(self, input: Any) -> Any:
        return F.fractional_max_pool2d(input, *self._settings())


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W), windows lying at pseudo-random steps.

    RuntimeError for other inputs. See :func:`tensorx.nn.functional.fractional_max_pool3d`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.FractionalMaxPool3d(3, output_size=5)(tx.ones(1, 2, 12, 12, 12)).shape
        tensorx.Size([1, 2, 5, 5, 5])
    """

    rank = 3

    def forward(self, input: Any) -> Any:
        return F.fractional_max_pool3d(input, *self._settings())
