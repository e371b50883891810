"""Deep copies of tensors, and their way back from a pickle."""

from __future__ import annotations

from typing import Any

from tensorx.devices import registry
from tensorx.dtypes import dtype as DType
from tensorx.storage import allocate
from tensorx.tensor import Array, Tensor, from_host, make


def deepcopy(t: Tensor, memo: dict[int, Any]) -> Tensor:
    """Tensors that share a storage share the copied one, as in PyTorch."""
    old = t._storage
    new = memo.get(id(old))
    if new is None:
        new = allocate(old.nbytes, old.device)
        if old.nbytes and t.device.type != "meta":
            registry.open(old.device).copy(new.handle(), 0, old.handle(), 0, old.nbytes)
        memo[id(old)] = new
    out = make(new, t._shape, t._strides, t._offset, t.dtype, type(t))
    out._rg = t._rg
    if t._grad is not None:
        out._grad = t._grad.__deepcopy__(memo)
    return out


def rebuild(
    cls: type[Tensor], host: Array, shape: tuple[int, ...], d: DType, device: registry.device, requires_grad: bool
) -> Tensor:
    """Unpickle: host values back to the device they were on."""
    out = from_host(host.reshape(shape), d, device)
    if cls is not Tensor:
        out.__class__ = cls
    out._rg = requires_grad
    return out
