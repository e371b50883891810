"""Composites that users know from NumPy: stacking in directions, diagonals as matrices, grids, repeats of elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx.errors import ShapeError
from tensorx.ops.families import composite, elementwise
from tensorx.ops.joining import cat
from tensorx.ops.layout import broadcast_shapes
from tensorx.tensor import Tensor, normalize_dim

PAIR = {"samples": lambda t: [((t((2, 3)), t((2, 3))),)]}


def _named(name: str, schema: str, ref: Any, samples: Any, doc: str, body: Any) -> Any:
    """A composite under another name."""
    return composite(f"{name}({schema}) -> Tensor", ref=ref, samples=samples, doc=doc, dtypes="if" if name == "fix" else "bifc")(body)


for _name in ("concat", "concatenate"):
    _named(_name, "Tensor[] tensors, int dim=0", lambda tensors, dim=0: np.concatenate(tensors, dim), lambda t: [((t((2, 3)), t((1, 3))),)], "Another name of cat.",
           lambda tensors, dim: cat(tensors, dim))
for _name in ("swapaxes", "swapdims"):
    _named(_name, "Tensor self, int dim0, int dim1", np.swapaxes, lambda t: [(t((2, 3, 4)), 0, 2)], "Another name of transpose.",
           lambda x, a, b: x.transpose(a, b))
_named("fix", "Tensor self", np.trunc, lambda t: [(t((3, 4)),)], "Another name of trunc.", lambda x: x.trunc())


@composite("broadcast_to(Tensor self, int[] size) -> Tensor", ref=np.broadcast_to, samples=lambda t: [(t((3, 1)), (2, 3, 4))], doc="Another name of expand.")
def broadcast_to(x: Any, size: Sequence[int]) -> Any:
    return x.expand(size)


@composite("_broadcast_all(Tensor[] tensors) -> Tensor[]", ref=lambda tensors: np.broadcast_arrays(*tensors), samples=lambda t: [((t((2, 1)), t((3,))),)],
           doc="All tensors expanded to their common shape.")
def broadcast_all(tensors: Sequence[Any]) -> Any:
    shape = broadcast_shapes("broadcast_tensors", *(t._shape for t in tensors))
    return tuple(t.expand(shape) for t in tensors)


@composite("hstack(Tensor[] tensors) -> Tensor", ref=np.hstack, doc="Tensors joined along the second dimension (the first, for vectors).", **PAIR)
def hstack(tensors: Sequence[Any]) -> Tensor:
    ready = tuple(t.reshape(1) if not t.dim() else t for t in tensors)
    return cat(ready, 0 if ready and ready[0].dim() == 1 else 1)  # type: ignore[no-any-return]


@composite("vstack(Tensor[] tensors) -> Tensor", ref=np.vstack, doc="Tensors (vectors as rows) joined along the first dimension.", **PAIR)
def vstack(tensors: Sequence[Any]) -> Tensor:
    return cat(tuple(t.reshape(1, -1) if t.dim() < 2 else t for t in tensors), 0)  # type: ignore[no-any-return]


def _np_diag_embed(x: Any, offset: int = 0) -> Any:
    n, i = x.shape[-1] + abs(offset), np.arange(x.shape[-1])
    out = np.zeros((*x.shape[:-1], n, n), x.dtype)
    out[..., i + max(-offset, 0), i + max(offset, 0)] = x
    return out


@composite("diag_embed(Tensor self, int offset=0) -> Tensor", ref=_np_diag_embed, samples=lambda t: [(t((2, 3)),), (t((3,)), -1)], doc="Matrices with the last dimension on a diagonal.")
def diag_embed(x: Any, offset: int) -> Any:
    n = x._shape[-1] + abs(offset)
    out = x.new_zeros((*x._shape[:-1], n, n))
    out.diagonal(offset, -2, -1).copy_(x)
    return out


@composite("diag(Tensor self, int diagonal=0) -> Tensor", ref=np.diag, samples=lambda t: [(t((3,)), 1), (t((3, 4)), -1)],
           doc="A vector as the diagonal of a matrix, or the diagonal of a matrix.")
def diag(x: Any, diagonal: int) -> Any:
    if x.dim() not in (1, 2):
        raise ShapeError(f"diag(): Supports 1D or 2D tensors. Got {x.dim()}D")
    return diag_embed(x, diagonal) if x.dim() == 1 else x.diagonal(diagonal).clone()


@composite("trace(Tensor self) -> Tensor", ref=np.trace, samples=lambda t: [(t((3, 4)),)], doc="Sum of a matrix's diagonal.")
def trace(x: Any) -> Any:
    if x.dim() != 2:
        raise ShapeError(f"trace: expected a matrix, but got tensor with dim {x.dim()}")
    return x.diagonal().sum()


@composite("unflatten(Tensor self, int dim, int[] sizes) -> Tensor", ref=lambda x, dim, sizes: x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1:]),
           samples=lambda t: [(t((2, 6)), 1, (2, -1))], doc="One dimension split into several.")
def unflatten(x: Any, dim: int, sizes: Sequence[int]) -> Any:
    d = normalize_dim(dim, x.dim(), "unflatten")
    return x.reshape((*x._shape[:d], *_inferred(sizes, x._shape[d]), *x._shape[d + 1:]))


def _inferred(sizes: Sequence[int], n: int) -> list[int]:
    known = math.prod(s for s in sizes if s != -1)
    found = [n // known if s == -1 and known else s for s in sizes]
    if math.prod(found) != n:
        raise ShapeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim ({n}) in the input tensor")
    return found


@composite("repeat_interleave(Tensor self, int repeats, int? dim=None) -> Tensor", ref=np.repeat, samples=lambda t: [(t((2, 3)), 2), (t((2, 3)), 2, 1)],
           doc="Each element (or slice of dim) repeated in place.")
def repeat_interleave(x: Any, repeats: int, dim: int | None) -> Any:
    if repeats < 0:
        raise ShapeError(f"repeat_interleave: argument 'repeats' must not be negative; got {repeats}")
    if dim is None:
        x, dim = x.reshape(-1), 0
    d = normalize_dim(dim, x.dim(), "repeat_interleave")
    wide = x.unsqueeze(d + 1).expand((*x._shape[:d + 1], repeats, *x._shape[d + 1:]))
    return wide.reshape((*x._shape[:d], x._shape[d] * repeats, *x._shape[d + 1:]))


def _flips(name: str, dim: int, least: int, ref: Any) -> None:
    def body(x: Any) -> Any:
        if x.dim() < least:
            raise ShapeError(f"Input must be >= {least}-d.")
        return x.flip(dim)
    _named(name, "Tensor self", ref, lambda t: [(t((2, 3)),)], f"The order along dimension {dim} reversed.", body)


_flips("fliplr", 1, 2, np.fliplr)
_flips("flipud", 0, 1, np.flipud)


rsub = elementwise("rsub(Tensor self, Tensor other) -> Tensor", lambda a, b: b - a, lambda g, out, a, b: (-g, g), ref=lambda a, b: b - a, dtypes="ifc",
                   doc="other - self.")


@composite("_grid(Tensor[] tensors, bool swapped) -> Tensor[]", ref=lambda tensors, swapped: np.meshgrid(*tensors, indexing="xy" if swapped else "ij"),
           samples=lambda t: [((t((2,)), t((3,))), False), ((t((2,)), t((3,))), True)], public="meshgrid", doc="Coordinates of a grid from vectors.")
def grid(tensors: Sequence[Any], swapped: bool) -> Any:
    if any(t.dim() > 1 for t in tensors):
        raise ShapeError("torch.meshgrid: Expected 0D or 1D tensor in the tensor list")
    found = [t.reshape(-1) for t in tensors]
    if swapped and len(found) > 1:
        found[:2] = found[1], found[0]
    shape = tuple(t._shape[0] for t in found)
    made = [t.reshape([-1 if i == d else 1 for i in range(len(found))]).expand(shape) for d, t in enumerate(found)]
    if swapped and len(made) > 1:
        made[:2] = made[1], made[0]
    return tuple(made)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """All tensors expanded to their common shape (views). ShapeError if there is none.

    >>> import tensorx
    >>> [t.shape for t in tensorx.broadcast_tensors(tensorx.ones(2, 1), tensorx.ones(3))]
    [tensorx.Size([2, 3]), tensorx.Size([2, 3])]
    """
    return broadcast_all(tensors)  # type: ignore[no-any-return]


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid from vectors. RuntimeError for an ``indexing`` other than 'ij' and 'xy'.

    >>> import tensorx
    >>> [g.tolist() for g in tensorx.meshgrid(tensorx.tensor([1, 2]), tensorx.tensor([3, 4]))]
    [[[1, 1], [2, 2]], [[3, 4], [3, 4]]]
    """
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing must be one of 'xy' or 'ij', but received: {indexing}")
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    return grid(tuple(given), indexing == "xy")  # type: ignore[no-any-return]


__all__ = ["broadcast_tensors", "broadcast_to", "diag", "diag_embed", "hstack", "meshgrid", "repeat_interleave", "rsub", "trace", "unflatten", "vstack"]
