"""Deep copies of tensors, and their way back from a pickle."""

from __future__ import annotations

from typing import Any

from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.storage import Storage, allocate
from tensorx.tensor import Tensor, make


def deepcopy(t: Tensor, memo: dict[int, Any]) -> Tensor:
    """Tensors that share a storage share the copied one, as in PyTorch."""
    old = t._storage
    new = memo.get(id(old))
    if new is None:
        new = allocate(old.length, old.device)
        if old.length and t.device.type != "meta":
            registry.open(old.device).copy(new.handle(), 0, old.handle(), 0, old.length)
        memo[id(old)] = new
    out = make(new, t._shape, t._strides, t._offset, t.dtype, type(t))
    out._rg = t._rg
    if t._grad is not None:
        out._grad = t._grad.__deepcopy__(memo)
    return out


def reduce(t: Tensor) -> tuple[Any, ...]:
    """How a pickle makes a tensor again: on its storage, which tensors in one pickle share as before."""
    marks = {k: t.__dict__[k] for k in ("_is_param", "_is_buffer", "persistent") if k in t.__dict__}
    strides = None if t.is_contiguous() else t._get_strides()
    return rebuild, (type(t), t._storage, t._shape, strides, t._offset, t.dtype, bool(t.requires_grad), marks)


def rebuild(
    cls: type[Tensor],
    storage: Storage,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    offset: int,
    d: DType,
    requires_grad: bool,
    marks: dict[str, Any],
) -> Tensor:
    """Unpickle: a leaf on a storage, on the device it was on."""
    out = make(storage, shape, strides, offset, d)
    if cls is not Tensor:
        out.__class__ = cls
    out.__dict__.update(marks)
    out._rg = requires_grad
    return out
