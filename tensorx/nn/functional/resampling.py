"""Signals, images and volumes at another size."""

from __future__ import annotations

import math
from typing import Any

import tensorx as tx
from tensorx.ops.resampling import resized
from tensorx.warning import warn

#: Mode -> (spatial dimensions that it takes, the tables' name for it)
MODES = {
    "nearest": ((1, 2, 3), "nearest"),
    "nearest-exact": ((1, 2, 3), "nearest-exact"),
    "area": ((1, 2, 3), "area"),
    "linear": ((1,), "linear"),
    "bilinear": ((2,), "linear"),
    "bicubic": ((2,), "cubic"),
    "trilinear": ((3,), "linear"),
}


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """(N, C, L), (N, C, H, W) or (N, C, D, H, W) at another size.

    Args:
        input: tensor with the dimensions above.
        size: the spatial size of the result, a number for all dimensions or one for each; or
        scale_factor: how many times larger the result is, a number or one for each.
        mode: 'nearest' (PyTorch's and OpenCV's old rounding), 'nearest-exact', 'linear' (3-D input), 'bilinear',
            'bicubic' (4-D), 'trilinear' (5-D) or 'area' (means of even shares).
        align_corners: for the linear and cubic modes: the centres of the corner elements stay where they are.
        recompute_scale_factor: use the ratio of the sizes instead of ``scale_factor`` itself.
        antialias: widen the filter where the result is smaller (bilinear and bicubic).

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.interpolate(tx.tensor([[[0.0, 1.0]]]), size=4, mode="linear")
        tensor([[[0.0000, 0.2500, 0.7500, 1.0000]]])
    """
    rank = input.dim() - 2
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
            "trilinear"
        )
    if mode not in MODES or rank not in (1, 2, 3):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | "
            f"linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})"
        )
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    out, scales = _target(input, rank, size, scale_factor, recompute_scale_factor or mode == "area")
    if antialias and not (mode in ("bilinear", "bicubic") and rank == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    ranks, name = MODES[mode]
    if rank not in ranks:
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {ranks[0] + 2}D input")
    if name == "area":
        return getattr(tx, f"adaptive_avg_pool{rank}d")(input, out)
    if min(*input.shape[1:], *out) < 1:
        raise RuntimeError(
            f"interpolate: Input and output sizes should be greater than 0, but got input {tuple(input.shape)} and "
            f"output {out}"
        )
    return resized(input, out, name + ("-aa" if antialias else ""), bool(align_corners), scales)


def _each(rank: int, word: str, value: Any) -> list[Any]:
    if not isinstance(value, (tuple, list)):
        return [value] * rank
    if len(value) != rank:
        raise ValueError(
            f"Input and {word} must have the same number of spatial dimensions, but got input with {rank} spatial "
            f"dimensions and {word} {list(value)}. Hint: give the spatial dimensions alone"
        )
    return list(value)


def _target(
    input: Any, rank: int, size: Any, scale_factor: Any, recompute: bool
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """The result's size, and the factors that decide where its elements lie (None: the ratio of the sizes)."""
    if (size is None) == (scale_factor is None):
        missing = "either size or scale_factor should be defined"
        raise ValueError(missing if size is None else "only one of size or scale_factor should be defined")
    if size is not None:
        return tuple(int(n) for n in _each(rank, "output size", size)), (None,) * rank
    factors = [float(f) for f in _each(rank, "scale_factor", scale_factor)]
    out = tuple(math.floor(n * f) for n, f in zip(input.shape[2:], factors))
    return out, (None,) * rank if recompute else tuple(f if f > 0 else None for f in factors)


def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """:func:`interpolate` under its old name, with a warning.

    Example:
        >>> import tensorx as tx, warnings
        >>> warnings.simplefilter("ignore")
        >>> tx.nn.functional.upsample(tx.tensor([[[0.0, 1.0]]]), scale_factor=2)
        tensor([[[0., 0., 1., 1.]]])
    """
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """:func:`interpolate` in mode 'nearest', with a warning.

    Example:
        >>> import tensorx as tx, warnings
        >>> warnings.simplefilter("ignore")
        >>> tx.nn.functional.upsample_nearest(tx.tensor([[[0.0, 1.0]]]), size=4)
        tensor([[[0., 0., 1., 1.]]])
    """
    warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """:func:`interpolate` in mode 'bilinear' with ``align_corners``, with a warning.

    Example:
        >>> import tensorx as tx, warnings
        >>> warnings.simplefilter("ignore")
        >>> tx.nn.functional.upsample_bilinear(tx.tensor([[[[0.0, 1.0]]]]), size=(1, 3))
        tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """
    warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
