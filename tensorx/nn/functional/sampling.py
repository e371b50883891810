"""Images and volumes sampled at the places of a grid, and the grids of affine transforms."""

from __future__ import annotations

from typing import Any

import tensorx as tx
from tensorx.ops.grids import MODES, PADDINGS
from tensorx.warning import warn

_CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Any:
    """``input`` (N, C, H, W) at the places of ``grid`` (N, h, w, 2); or (N, C, D, H, W) at (N, d, h, w, 3).

    Args:
        input: images or volumes.
        grid: coordinates x, y[, z], the last dimension of ``input`` first, from -1 to 1.
        mode: 'bilinear' (trilinear for volumes), 'nearest' or 'bicubic' (images alone).
        padding_mode: what lies outside: 'zeros', 'border' (the nearest element inside) or 'reflection'.
        align_corners: whether -1 and 1 are the centres of the outermost elements, rather than their edges.

    Example:
        >>> import tensorx as tx
        >>> x = tx.arange(4.0).reshape(1, 1, 2, 2)
        >>> tx.nn.functional.grid_sample(x, tx.tensor([[[[0.0, 0.0], [1.0, -1.0]]]]), align_corners=True)
        tensor([[[[1.5000, 1.0000]]]])
    """
    if mode not in MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warn(_CHANGED)
    at = MODES.index(mode), PADDINGS.index(padding_mode)
    return tx.grid_sampler(input, grid, *at, bool(align_corners))


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """The grid of :func:`grid_sample` for affine transforms: ``theta`` (N, 2, 3) or (N, 3, 4) applied to places.

    Args:
        theta: one matrix for each image (or volume).
        size: the size (N, C, H, W) or (N, C, D, H, W) of the result of `grid_sample`.
        align_corners: as for `grid_sample`.

    Example:
        >>> import tensorx as tx
        >>> tx.nn.functional.affine_grid(tx.eye(2, 3).unsqueeze(0), (1, 1, 1, 2), align_corners=False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
    """
    if align_corners is None:
        warn(_CHANGED)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    rank = len(size) - 2
    if rank not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{tuple(size)}."
        )
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size {tuple(size)}. Got "
            f"{tuple(theta.shape)}."
        )
    if align_corners and min(size[-rank:]) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details.")
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    return tx.affine_grid_generator(theta, tuple(size), align_corners)
