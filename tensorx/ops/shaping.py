"""Composites that users know from NumPy: stacking in directions, diagonals as matrices, grids, repeats of elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorx import dtypes
from tensorx.errors import DTypeError, ShapeError
from tensorx.ops.families import composite, elementwise
from tensorx.ops.joining import cat, stack
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


def _np_diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    n, i = x.shape[-1] + abs(offset), np.arange(x.shape[-1])
    out = np.zeros((*x.shape[:-1], n, n), x.dtype)
    out[..., i + max(-offset, 0), i + max(offset, 0)] = x
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


@composite("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", ref=_np_diag_embed,
           samples=lambda t: [(t((2, 3)),), (t((3,)), -1), (t((2, 3)), 1, 0, 2)], doc="Matrices, in the dimensions dim1 and dim2, with the last dimension on a diagonal.")
def diag_embed(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    first, second = (normalize_dim(d, x.dim() + 1, "diag_embed") for d in (dim1, dim2))
    if first == second:
        raise ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n = x._shape[-1] + abs(offset)
    shape = list(x._shape[:-1])
    for d in sorted((first, second)):
        shape.insert(d, n)
    out = x.new_zeros(tuple(shape))
    out.diagonal(offset, first, second).copy_(x)
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


def _along(x: Any, dim: int | None) -> tuple[Any, int]:
    """The tensor and dimension whose slices are repeated: all elements in order without ``dim``."""
    if dim is None:
        return x.reshape(-1), 0
    if not x.dim():
        raise IndexError(f"repeat_interleave: Dimension specified as {dim} but tensor has no dimensions")
    return x, normalize_dim(dim, x.dim(), "repeat_interleave")


@composite("repeat_interleave(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
           ref=lambda x, repeats, dim=None, output_size=None: np.repeat(x, repeats, dim), samples=lambda t: [(t((2, 3)), 2), (t((2, 3)), 2, 1)],
           doc="Each element (or slice of dim) repeated in place.")
def repeat_interleave(x: Any, repeats: int, dim: int | None, output_size: int | None) -> Any:
    if repeats < 0:
        raise ShapeError(f"repeat_interleave: argument 'repeats' must not be negative; got {repeats}")
    x, d = _along(x, dim)
    if output_size is not None and output_size != x._shape[d] * repeats:
        raise ShapeError(f"repeat_interleave: Invalid output_size, expected {x._shape[d] * repeats} but got {output_size}")
    wide = x.unsqueeze(d + 1).expand((*x._shape[:d + 1], repeats, *x._shape[d + 1:]))
    return wide.reshape((*x._shape[:d], x._shape[d] * repeats, *x._shape[d + 1:]))


@composite("repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
           ref=lambda x, repeats, dim=None, output_size=None: np.repeat(x, repeats, dim), doc="Each element (or slice of dim) repeated in place, each its own count.",
           samples=lambda t: [(t((3, 2)), t.index((3,), 4), 0), (t((2, 3)), t.index((6,), 3))])
def repeat_interleave_counts(x: Any, repeats: Any, dim: int | None, output_size: int | None) -> Any:
    x, d = _along(x, dim)
    if repeats.dim() > 1:
        raise ShapeError("repeat_interleave: repeats must be 0-dim or 1-dim tensor")
    if repeats.numel() == 1 and repeats._shape != (x._shape[d],):
        repeats = repeats.reshape(1).expand(x._shape[d])
    if repeats._shape != (x._shape[d],):
        raise ShapeError(f"repeat_interleave: repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.numel()} and "
                         f"input.size({d}) = {x._shape[d]}")
    return x.index_select(d, repeated_places(repeats, output_size=output_size))


@composite("repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor", dtypes="i", samples=lambda t: [(t.index((4,), 3),)],
           ref=lambda repeats, output_size=None: np.repeat(np.arange(len(repeats)), repeats).astype(repeats.dtype), doc="Each place i repeated repeats[i] times.")
def repeated_places(repeats: Any, output_size: int | None) -> Any:
    """The total is read back unless ``output_size`` gives it (then it is compared only where reading is free: on the cpu)."""
    from tensorx.ops import factories
    from tensorx.ops.searching import searchsorted
    if repeats.dim() != 1:
        raise ShapeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.dtype not in (dtypes.int32, dtypes.int64):
        raise DTypeError(f'"repeat_interleave" not implemented for \'{repeats.dtype.name}\'')
    if not repeats.numel():
        return repeats.clone()
    ends = repeats.cumsum(0)
    if output_size is None or repeats.device.type == "cpu":
        least, total = stack((repeats.amin().to(dtypes.int64), ends[-1])).tolist()
        if least < 0:
            raise ShapeError("repeat_interleave: repeats can not be negative")
        if output_size is not None and output_size != total:
            raise ShapeError(f"repeat_interleave: allocated size does not match required size: output_size is {output_size}, the repeats add up to {total}")
        output_size = total
    places = factories.arange(output_size, device=repeats.device)
    return searchsorted(ends, places, right=True).to(repeats.dtype)


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


rsub_alpha = elementwise("rsub.alpha(Tensor self, Tensor other, *, Scalar alpha) -> Tensor", lambda a, b, alpha: b - a * alpha,
                         lambda g, out, a, b, alpha: (-(g * alpha.conj()), g), ref=lambda a, b, alpha: b - a * alpha, dtypes="ifc", ulp=32.0,
                         doc="other - alpha * self.")


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
