"""Joining and repeating tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx.ops.families import composite, row
from tensorx.ops.kinds.join import JOIN
from tensorx.tensor import Tensor, normalize_dim


def _cat_vjp(g: Tensor, tensors_meta: Any, dim: int) -> list[Any]:
    d = normalize_dim(dim, len(g._shape))
    sizes = [0 if m.shape == (0,) and len(g._shape) != 1 else m.shape[d] for m in tensors_meta]
    starts = np.cumsum([0, *sizes]).tolist()
    return [None if m.shape == (0,) else g.narrow(d, a, n) for a, n, m in zip(starts, sizes, tensors_meta, strict=False)]


cat = row("cat(Tensor[] tensors, int dim=0) -> Tensor", JOIN, None, _cat_vjp, ref=lambda tensors, dim=0: np.concatenate(tensors, dim),
          samples=lambda t: [((t((2, 3)), t((1, 3))),), ((t((2, 3)), t((2, 1))), 1), ((t((2, 3)),), -1)], doc="Tensors joined along a dimension.")


@composite("stack(Tensor[] tensors, int dim=0) -> Tensor", ref=lambda tensors, dim=0: np.stack(tensors, dim),
           samples=lambda t: [((t((2, 3)), t((2, 3))),), ((t((2, 3)), t((2, 3))), -1)], doc="Tensors joined along a new dimension.")
def stack(tensors: Sequence[Tensor], dim: int) -> Tensor:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]._shape
    for i, t in enumerate(tensors):
        if t._shape != first:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(t._shape)} at entry {i}")
    d = normalize_dim(dim, len(first) + 1, "stack")
    return cat(tuple(t.unsqueeze(d) for t in tensors), d)
