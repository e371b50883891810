"""Layers that resample (the file is named as PyTorch's, so that pickled names and imports fit)."""

from __future__ import annotations

from typing import Any

from tensorx.nn import functional as F

from .module import Module


class Upsample(Module):
    """(N, C, L), (N, C, H, W) or (N, C, D, H, W) at another size.

    The arguments are those of :func:`tensorx.nn.functional.interpolate`; ValueError unless one of ``size`` and
    ``scale_factor`` is given, NotImplementedError for a mode that does not take the input's dimensions.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.Upsample(scale_factor=2, mode="bilinear")(tx.ones(1, 3, 4, 5)).shape
        tensorx.Size([1, 3, 8, 10])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners, self.recompute_scale_factor = mode, align_corners, recompute_scale_factor

    def forward(self, input: Any) -> Any:
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """(N, C, H, W) at another size, by nearest elements; NotImplementedError for inputs that `interpolate` refuses.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.UpsamplingNearest2d(scale_factor=2)(tx.tensor([[[[1.0, 2.0]]]]))
        tensor([[[[1., 1., 2., 2.],
                  [1., 1., 2., 2.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """(N, C, H, W) at another size, bilinear with the corners aligned; NotImplementedError for other dimensions.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.UpsamplingBilinear2d(size=(1, 3))(tx.tensor([[[[0.0, 1.0]]]]))
        tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
